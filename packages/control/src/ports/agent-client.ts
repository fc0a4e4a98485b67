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
import type { EngineAsk, EngineCommandName, EngineReply } from '@holdfast/core/model/engine-commands.js';
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
  /** What there is of a copy now: what a delete then states. */
  describeReplica(agent: AgentTarget, replicaId: ReplicaId): Promise<ReplicaState>;
  /** What the copy stores of itself and of its volume. @throws StorageFault `replica.not_found`, also of an older agent */
  describeCopy(agent: AgentTarget, replicaId: ReplicaId): Promise<CopyDescription>;
  /**
   * Removes a copy that is still what is expected; without that, only one that never became a member, or can't be read.
   * @throws StorageFault `agent.refused` when it has changed: look again; `replica.only_current` where it says that nothing else is current,
   *   and nothing says that its data is elsewhere or given up
   */
  deleteReplica(agent: AgentTarget, replicaId: ReplicaId, claim?: RemovalClaim): Promise<void>;
  /** Removes an orphan. @throws StorageFault `agent.refused` when it is another one than was reported */
  removeOrphan(agent: AgentTarget, replicaId: ReplicaId, orphan: RemoveOrphan): Promise<void>;
  /** Fences the copy at the epoch and says what it holds. */
  openReplica(agent: AgentTarget, replicaId: ReplicaId, opening: OpenReplica): Promise<OpenReplicaReply>;
  /** Waits until it is done, which may take hours. */
  checksumReplica(agent: AgentTarget, replicaId: ReplicaId): Promise<ChecksumReply>;
  /** Starts it in the background, or asks about one that was started; `undefined` while it runs. */
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
    ask: EngineAsk<Name>,
  ): Promise<EngineReply<Name>>;
}
