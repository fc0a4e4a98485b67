import type { AgentClient, AgentTarget } from '@holdfast/control/ports/agent-client.js';
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
import { type RemovalClaim, requireRemovable } from '@holdfast/core/model/copy-removal.js';
import {
  ENGINE_COMMANDS,
  type EngineCommandName,
  type EngineReply,
  type EngineRequest,
} from '@holdfast/core/model/engine-commands.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { DiskId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import { checksumOf, type SimCopy } from './sim-copy.js';
import { type EngineSurroundings, SimEngine } from './sim-engine.js';
import { runSimCommand } from './sim-engine-commands.js';
import type { SimNode } from './sim-node.js';

/** Control calls into simulated nodes. A node that is dead or cut off does not answer. */
export class SimAgentClient implements AgentClient {
  constructor(
    private readonly nodeOf: (target: AgentTarget) => SimNode | undefined,
    private readonly surroundingsOf: (node: SimNode) => EngineSurroundings,
    /** Told of every call that may change something of a volume. */
    private readonly onCall: (volumeId: VolumeId) => void,
    private readonly told: {
      /** Each copy just before it is removed as an orphan. */
      onOrphan(copy: SimCopy): void;
      /** Each disk before a copy on it is opened. */
      engage(node: SimNode, diskId: DiskId): Promise<void>;
    },
  ) {}

  async createReplica(agent: AgentTarget, replica: CreateReplica): Promise<void> {
    const node = this.reach(agent);
    const { replicaId, volumeId, diskId, sizeBytes, secret, volume, record } = replica;
    if (node.copies.has(replicaId)) return;
    if (node.disks.some(({ id, isGone }) => id === diskId && isGone)) throw diskGone();
    await this.told.engage(node, diskId);
    node.copies.set(replicaId, {
      replicaId,
      volumeId,
      nodeId: agent.id,
      diskId,
      sizeBytes,
      secret,
      volume,
      record: record ?? undefined,
      epoch: 0,
      rebuilding: false,
      isKnownDamaged: false,
      writes: new Set(),
      layers: [],
    });
  }

  async describeReplica(agent: AgentTarget, replicaId: ReplicaId): Promise<ReplicaState> {
    const node = this.reach(agent);
    const copy = node.copy(replicaId);
    if (copy === undefined && node.copies.has(replicaId)) throw diskGone();
    if (copy === undefined) return { state: 'absent' };
    return { state: 'present', record: copy.record ?? null };
  }

  async describeCopy(agent: AgentTarget, replicaId: ReplicaId): Promise<CopyDescription> {
    const { volumeId, diskId, sizeBytes, secret, epoch, grantId, rebuilding, volume } = this.copyOn(
      agent,
      replicaId,
    );
    const own = { volumeId, diskId, sizeBytes, secret, epoch, isRebuildTarget: rebuilding };
    return { ...own, grantId: grantId ?? null, volume: volume ?? null };
  }

  async deleteReplica(agent: AgentTarget, replicaId: ReplicaId, claim: RemovalClaim = {}): Promise<void> {
    requireRemovable(replicaId, await this.describeReplica(agent, replicaId), claim);
    this.reach(agent).copies.delete(replicaId);
  }

  async removeOrphan(agent: AgentTarget, replicaId: ReplicaId, orphan: RemoveOrphan): Promise<void> {
    const { copies } = this.reach(agent);
    const copy = copies.get(replicaId);
    if (copy === undefined) return;
    const isOfThere = copy.volumeId === orphan.volumeId && copy.diskId === orphan.diskId;
    const expected: ReplicaState = isOfThere
      ? { state: 'present', record: orphan.record }
      : { state: 'absent' };
    const found: ReplicaState = { state: 'present', record: copy.record ?? null };
    requireRemovable(replicaId, found, { expected, because: orphan.because });
    this.told.onOrphan(copy);
    copies.delete(replicaId);
  }

  async openReplica(
    agent: AgentTarget,
    replicaId: ReplicaId,
    { epoch, grantId, volume }: OpenReplica,
  ): Promise<OpenReplicaReply> {
    const copy = this.copyOn(agent, replicaId);
    await this.told.engage(this.reach(agent), copy.diskId);
    if (
      copy.epoch > epoch ||
      (copy.epoch === epoch && copy.grantId !== undefined && copy.grantId !== grantId)
    ) {
      const publicMessage = `the copy knows epoch ${copy.epoch}`;
      throw new StorageFault('engine.stale_epoch', { publicMessage, context: { newest: copy.epoch } });
    }
    this.onCall(copy.volumeId);
    if (epoch > copy.epoch && volume !== undefined) copy.volume = volume;
    copy.epoch = epoch;
    copy.grantId = grantId;
    // A copy that a rebuild left half written is no member of any record that counts.
    return { record: copy.record ?? null, clean: true, writtenBytes: copy.writes.size * 4096 };
  }

  async checksumReplica(
    agent: AgentTarget,
    replicaId: ReplicaId,
    _verification?: string,
  ): Promise<ChecksumReply> {
    const copy = this.copyOn(agent, replicaId);
    await this.told.engage(this.reach(agent), copy.diskId);
    const { record = null } = copy;
    return { checksum: checksumOf(copy), writtenBytes: copy.writes.size * 4096, record, clean: true };
  }

  async startEngine(agent: AgentTarget, volumeId: VolumeId, start: StartEngine): Promise<StartEngineReply> {
    const node = this.reach(agent);
    this.onCall(volumeId);
    const running = node.engines.get(volumeId);
    const isOther = running?.epoch === start.epoch && running.start.grantId !== start.grantId;
    if (running !== undefined && (running.epoch > start.epoch || isOther)) {
      const publicMessage = `epoch ${running.epoch} runs here`;
      throw new StorageFault('engine.stale_epoch', { publicMessage, context: { newest: running.epoch } });
    }
    let engine = running;
    if (engine === undefined || engine.epoch < start.epoch) {
      engine = new SimEngine(volumeId, start, this.surroundingsOf(node));
      node.engines.set(volumeId, engine);
      await engine.open();
    }
    const exportName = `${start.volumeName}-${start.attachmentSecret}`;
    return { endpoint: { host: `${node.name}.test`, port: 10809, exportName }, report: engine.report() };
  }

  async stopEngine(agent: AgentTarget, volumeId: VolumeId, epoch: number): Promise<void> {
    const { engines } = this.reach(agent);
    const running = engines.get(volumeId);
    if (running === undefined || running.epoch > epoch) return;
    this.onCall(volumeId);
    running.stop();
    engines.delete(volumeId);
  }

  async command<Name extends EngineCommandName>(
    agent: AgentTarget,
    volumeId: VolumeId,
    name: Name,
    ask: EngineRequest<Name>,
  ): Promise<EngineReply<Name>> {
    const { engines } = this.reach(agent);
    const { withoutEngine, ask: askSchema, reply, effect } = ENGINE_COMMANDS[name];
    if (withoutEngine === 'done' && !engines.has(volumeId)) return reply.parse(null);
    const engine = this.engineOn(agent, volumeId, ask.epoch);
    if (effect === 'changes') this.onCall(volumeId);
    // Both are checked as on their way through an agent.
    return reply.parse(await runSimCommand(engine, name, askSchema.parse(ask)));
  }

  private reach(agent: AgentTarget): SimNode {
    const node = this.nodeOf(agent);
    if (node?.isReachable === true) return node;
    throw new StorageFault('agent.unreachable', {
      publicMessage: `the agent on ${agent.name} does not answer`,
    });
  }

  private copyOn(agent: AgentTarget, replicaId: ReplicaId): SimCopy {
    const node = this.reach(agent);
    const copy = node.copy(replicaId);
    if (copy !== undefined) return copy;
    if (node.copies.has(replicaId)) throw diskGone();
    throw new StorageFault('replica.not_found', { publicMessage: `there is no replica ${replicaId}` });
  }

  private engineOn(agent: AgentTarget, volumeId: VolumeId, epoch: number): SimEngine {
    const engine = this.reach(agent).engines.get(volumeId);
    if (engine === undefined) {
      throw new StorageFault('engine.not_found', { publicMessage: `no engine serves ${volumeId}` });
    }
    if (engine.epoch !== epoch) {
      throw new StorageFault('engine.stale_epoch', { publicMessage: `epoch ${engine.epoch} runs here` });
    }
    return engine;
  }
}

function diskGone(): StorageFault {
  return new StorageFault('disk.not_ready', { publicMessage: 'the disk is not there' });
}
