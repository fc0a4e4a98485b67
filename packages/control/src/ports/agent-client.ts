import type {
  ChecksumReply,
  CreateReplica,
  OpenReplica,
  OpenReplicaReply,
  RemoveOrphan,
  ReplicaState,
  StartEngine,
  StartEngineReply,
} from '@holdfast/core/model/agent-protocol.js';
import type { CopyDescription } from '@holdfast/core/model/copy-description.js';
import type { RemovalClaim } from '@holdfast/core/model/copy-removal.js';
import type { EngineCommandName, EngineReply, EngineRequest } from '@holdfast/core/model/engine-commands.js';
import type { ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import type { StorageNode } from '@holdfast/core/model/node.js';

/** The address and credential of one agent, as it last registered them. */
export type AgentTarget = Pick<StorageNode, 'id' | 'name' | 'controlUrl'> & { controlSecret: string };

/**
 * Control calls to one node's agent. Every call may be repeated: the second does nothing more.
 *
 * @throws StorageFault `agent.unreachable` when there is no answer (the call may have taken effect),
 *   `engine.stale_epoch` when something newer has taken over, `replica.not_found`, or another code of the agent's.
 */
export interface AgentClient {
  createReplica(agent: AgentTarget, replica: CreateReplica): Promise<void>;
  /** Present state of a copy, as a delete then states it. */
  describeReplica(agent: AgentTarget, replicaId: ReplicaId): Promise<ReplicaState>;
  /** Description that the copy stores of itself and its volume. @throws StorageFault `replica.not_found`, also of an older agent */
  describeCopy(agent: AgentTarget, replicaId: ReplicaId): Promise<CopyDescription>;
  /**
   * Removes a copy if it is still in the expected state; without one, only a copy that never became a member, or can't be read.
   *
   * @throws StorageFault `agent.refused` when it has changed: plan again; `replica.only_current` if it names itself the only current
   * copy and the command gives no proof that its data is elsewhere or given up
   */
  deleteReplica(agent: AgentTarget, replicaId: ReplicaId, claim?: RemovalClaim): Promise<void>;
  /** Removes an orphan. @throws StorageFault `agent.refused` when it is another one than was reported */
  removeOrphan(agent: AgentTarget, replicaId: ReplicaId, orphan: RemoveOrphan): Promise<void>;
  /** Fences the copy at the epoch and returns its state. */
  openReplica(agent: AgentTarget, replicaId: ReplicaId, opening: OpenReplica): Promise<OpenReplicaReply>;
  /** Waits until it is done, which may take hours. */
  checksumReplica(agent: AgentTarget, replicaId: ReplicaId): Promise<ChecksumReply>;
  /** Starts the verification in the background, or queries one that was started; `undefined` while it runs. */
  checksumReplica(
    agent: AgentTarget,
    replicaId: ReplicaId,
    verification: string,
    bytesPerSecondMax?: number,
  ): Promise<ChecksumReply | undefined>;
  startEngine(agent: AgentTarget, volumeId: VolumeId, engine: StartEngine): Promise<StartEngineReply>;
  /** Flushes and stops. A stop for an epoch older than the running one does nothing. */
  stopEngine(agent: AgentTarget, volumeId: VolumeId, epoch: number): Promise<void>;
  /** Has the engine of an attached volume do something: one of the table of engine commands. */
  command<Name extends EngineCommandName>(
    agent: AgentTarget,
    volumeId: VolumeId,
    name: Name,
    ask: EngineRequest<Name>,
  ): Promise<EngineReply<Name>>;
}
