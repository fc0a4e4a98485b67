/**
 * The copies on this node: which there are, which host process holds each open, and which secret admits a caller.
 *
 * The disks are the truth. A copy whose host has died is opened again at the next call about it.
 */
import type {
  ChecksumReply,
  CreateReplica,
  OpenReplica,
  OpenReplicaReply,
  RemoveOrphan,
  ReplicaReport,
  ReplicaState,
} from '@holdfast/core/model/agent-protocol.js';
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import type { CopyDescription } from '@holdfast/core/model/copy-description.js';
import { type RemovalClaim, requireRemovable } from '@holdfast/core/model/copy-removal.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { ExportInfo } from '@holdfast/data-engine/nbd/handshake-frames.js';
import type { CommandName } from '@holdfast/data-engine/protocol/commands.js';
import type { ReplicaExportName } from '@holdfast/data-engine/protocol/export-names.js';
import { loadMetadata, type ReplicaMetadata } from '@holdfast/data-engine/replica/metadata.js';
import { Replica } from '@holdfast/data-engine/replica/replica.js';
import { asDiskRefusal } from '@holdfast/data-engine/replica-server/disk-refusals.js';
import { removeIf } from '@holdfast/data-engine/replica-server/removal.js';
import { type CopyUse, holderProof } from '@holdfast/identity/copy-secret.js';
import type { Logger } from 'pino';
import { admitsTo, copyUse } from './copy-access.js';
import { copyDescription } from './copy-description.js';
import type { Disk } from './disks/disk.js';
import type { Host, HostPool } from './hosts/host-pool.js';
import type { AgentMethods, ReplicaHostMethods } from './hosts/host-protocol.js';
import { within } from './within.js';

export type ReplicaHost = Host<ReplicaHostMethods, AgentMethods>;

/**
 * Time that engines elsewhere get to release copies. Together with a clean stop of this node's engines it stays below the ten seconds
 * that an agent has to stop.
 */
const CLOSE_GRACE_MS = 2_500;

/** Longest wait for one disk's scan when the agent starts; copies found later are reported later. */
const SCAN_MS_MAX = 30_000;
/** The same in a heartbeat, for which the control plane waits: the scan of a returned disk continues in the background. */
const SCAN_IN_HEARTBEAT_MS_MAX = 500;
/** Longest wait of an engine's start for a copy beside which it could run. A disk that is well needs milliseconds. */
const OPEN_MS_MAX = 2_000;
/** Pause between two looks for copies whose files have vanished: a listing of each disk. */
const LOST_LOOK_MS = 15_000;

type Known = {
  disk: Disk;
  metadata: ReplicaMetadata;
  /** As last reported by its host, or by the store while no host has it open. */
  writtenBytes: number;
  record: ReplicaReport['record'];
  /** Made once for this node: a node has thousands of copies, and a heartbeat every two seconds. */
  proof?: { readonly nodeId: string; readonly text: string };
};

export class Replicas {
  private readonly known = new Map<string, Known>();
  /** Copies that are on a disk and can't be read. */
  private readonly unreadable = new Map<string, { disk: Disk; fault: StorageFault }>();
  private readonly scanned = new Set<Disk>();
  /** Disks that have been looked through to their end. */
  private readonly listed = new Set<Disk>();
  private lookedForLostMs = performance.now();
  /** Copies that are open, and the host of each. */
  private readonly open = new Map<string, ReplicaHost>();
  /**
   * The last change of each copy. Changes of one copy run one after the other, so that two creates at once make one.
   */
  private readonly changing = new Map<string, Promise<unknown>>();

  constructor(
    private readonly disks: readonly Disk[],
    private readonly pool: HostPool<ReplicaHostMethods, AgentMethods>,
    private readonly log: Logger,
    private readonly lostLookMs = LOST_LOOK_MS,
    /** Waited for before a copy of the disk is opened. */
    private readonly beforeOpen: (disk: Disk) => Promise<void> = async () => undefined,
  ) {}

  /**
   * Finds the copies on the disks, also on a disk that has been put back since. One that can't be read is left alone
   * and not reported; a call about it is answered with the fault.
   */
  async scan(limitMs = SCAN_MS_MAX): Promise<void> {
    for (const disk of this.disks) {
      if (this.scanned.has(disk) || (await disk.problem()) !== undefined) continue;
      this.scanned.add(disk);
      const scanning = this.scanDisk(disk).catch((error: unknown) => {
        // To be scanned again: a disk that hangs, or disappears meanwhile, must not keep the others from being scanned.
        this.scanned.delete(disk);
        this.listed.delete(disk);
        this.log.error({ err: error, disk: disk.path }, 'this disk can not be looked through');
      });
      await within(limitMs, scanning, () => undefined);
    }
  }

  private async scanDisk(disk: Disk): Promise<void> {
    for (const replicaId of await disk.replicaIds()) {
      await this.learn(disk, replicaId).catch((error: unknown) => {
        this.unreadable.set(replicaId, { disk, fault: asFault(error) });
        this.log.error({ err: error, replicaId, disk: disk.path }, 'a copy on this disk is not readable');
      });
    }
    this.listed.add(disk);
  }

  /** Do the reports name every copy on the disk that can be read? */
  areListed(diskId: string): boolean {
    return [...this.listed].some((disk) => disk.diskId === diskId);
  }

  /**
   * Forgets copies whose files are not on their disk any more, so that they are not reported. One that a host has open is left to
   * its engine.
   */
  private async forgetLost(): Promise<void> {
    for (const disk of this.listed) {
      if ((await disk.problem()) !== undefined) continue;
      // Taken before the disk is read: a copy that is made meanwhile is not among them.
      const known = [...this.known].filter(([id, one]) => one.disk === disk && !this.open.has(id));
      const there = new Set(await disk.replicaIds());
      for (const [replicaId] of known) {
        if (there.has(replicaId) || this.open.has(replicaId) || this.changing.has(replicaId)) continue;
        this.known.delete(replicaId);
        this.log.error({ replicaId, disk: disk.path }, 'a copy is not on this disk any more');
      }
    }
  }

  /** Now and then, as the control plane waits for the report, and the disks are read for it. */
  private async lookForLost(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.lookedForLostMs < this.lostLookMs) return;
    this.lookedForLostMs = nowMs;
    const looking = this.forgetLost().catch((error: unknown) => {
      this.log.error({ err: error }, 'the disks can not be looked through for lost copies');
    });
    await within(SCAN_IN_HEARTBEAT_MS_MAX, looking, () => undefined);
  }

  create(spec: CreateReplica): Promise<void> {
    return this.oneAtATime(spec.replicaId, async () => {
      const existing = this.known.get(spec.replicaId);
      if (existing !== undefined) {
        if (existing.metadata.volumeId === spec.volumeId && existing.metadata.sizeBytes === spec.sizeBytes)
          return;
        throw new StorageFault('agent.refused', { publicMessage: 'another copy has this id' });
      }
      const disk = this.disks.find(({ diskId }) => diskId === spec.diskId);
      if (disk === undefined)
        throw new StorageFault('disk.not_found', { publicMessage: 'no such disk here' });
      await disk.requireUsable();
      try {
        await Replica.create(disk.path, spec);
      } catch (error) {
        throw asDiskRefusal(error);
      }
      await this.learn(disk, spec.replicaId);
    });
  }

  /** State of the copy at this moment, by its host or its disk. */
  describeState(replicaId: string): Promise<ReplicaState> {
    return this.oneAtATime(replicaId, () => this.stateOf(replicaId));
  }

  /**
   * The stored metadata of a copy: from its host while it is open, else from its disk.
   *
   * @throws StorageFault `replica.not_found`, `disk.not_ready`, or its damage
   */
  describeCopy(replicaId: string): Promise<CopyDescription> {
    return this.oneAtATime(replicaId, async () => {
      const known = this.known.get(replicaId);
      if (known === undefined) throw this.damageOf(replicaId) ?? notHere();
      const host = this.open.get(replicaId);
      if (host !== undefined) return copyDescription(await host.peer.call('metadata', { replicaId }));
      await known.disk.requireUsable();
      await this.learn(known.disk, replicaId);
      return copyDescription(this.known.get(replicaId)?.metadata ?? known.metadata);
    });
  }

  /**
   * Removes the copy if its state is still the expected one; without an expectation, if it never became a member of its
   * volume or can't be read.
   *
   * @throws StorageFault `agent.refused` when its state has changed; `replica.only_current`; `agent.unreachable` when its host is silent
   */
  remove(replicaId: string, claim: RemovalClaim = {}): Promise<void> {
    return this.oneAtATime(replicaId, () => this.removeIf(replicaId, claim));
  }

  /**
   * Removes an orphan, if it is still the copy that was reported.
   *
   * @throws StorageFault `agent.refused` when it is another one, or has been used since; `disk.not_ready`
   */
  removeOrphan(replicaId: string, { diskId, volumeId, record, because }: RemoveOrphan): Promise<void> {
    return this.oneAtATime(replicaId, async () => {
      const known = this.known.get(replicaId);
      if (known === undefined) return;
      await known.disk.requireUsable();
      const isOfThere = known.disk.diskId === diskId && known.metadata.volumeId === volumeId;
      // One of another volume, or on another disk, is in no state that was reported.
      const expected: ReplicaState = isOfThere ? { state: 'present', record } : { state: 'absent' };
      await this.removeIf(replicaId, { expected, because });
    });
  }

  private removeIf(replicaId: string, claim: RemovalClaim): Promise<void> {
    return removeIf((found) => requireRemovable(asId(replicaId), found, claim), {
      state: () => this.stateOf(replicaId),
      release: () => this.release(replicaId),
      discard: () => this.discard(replicaId),
    });
  }

  /**
   * State of a copy: from its host while it is open, else from its disk. The last report of either may be out of date.
   */
  private async stateOf(replicaId: string): Promise<ReplicaState> {
    const known = this.known.get(replicaId);
    if (known === undefined) return { state: this.unreadable.has(replicaId) ? 'unreadable' : 'absent' };
    const host = this.open.get(replicaId);
    const reports = host === undefined ? [] : await host.ask('state', () => host.peer.call('reports', null));
    if (reports === undefined) throw hostSilent();
    const open = reports.find((report) => report.replicaId === replicaId);
    if (open !== undefined) return { state: 'present', record: open.record };
    // A missing disk can't be read: the last known state of the copy stands.
    if (await known.disk.isAbsent()) return { state: 'present', record: known.record };
    try {
      await this.learn(known.disk, replicaId);
    } catch {
      return { state: 'unreadable' };
    }
    return { state: 'present', record: this.known.get(replicaId)?.record ?? null };
  }

  private async release(replicaId: string): Promise<void> {
    const host = this.open.get(replicaId);
    if (host === undefined) return;
    this.open.delete(replicaId);
    // Ignored: a host that does not answer has ended, or is ended with its last copy.
    await host.peer.call('close', { replicaId }).catch(() => undefined);
    this.pool.leave(replicaId);
  }

  private async discard(replicaId: string): Promise<void> {
    const known = this.known.get(replicaId) ?? this.unreadable.get(replicaId);
    if (known === undefined) return;
    // Asked first: while the disk hangs, this throws and the copy stays known.
    const isAbsent = await known.disk.isAbsent();
    await this.release(replicaId);
    // On a disk that is not there nothing can be removed; if the disk returns, the copy on it is an orphan.
    if (!isAbsent) await this.removeFrom(known.disk, replicaId);
    // Only now: the repeat of a removal that has failed would find no copy, and answer that it is gone.
    this.known.delete(replicaId);
    this.unreadable.delete(replicaId);
  }

  /** @throws StorageFault `disk.failed`, or the space that was lacking; the copy may be gone then, or be there whole */
  private async removeFrom(disk: Disk, replicaId: string): Promise<void> {
    try {
      await (await disk.store()).remove(replicaId);
    } catch (error) {
      throw asDiskRefusal(error);
    }
  }

  async openAt(replicaId: string, opening: OpenReplica): Promise<OpenReplicaReply> {
    // The cast: a host answers with what the command is declared to answer.
    return (await this.command(replicaId, 'open', opening)) as OpenReplicaReply;
  }

  async command(replicaId: string, name: CommandName, ask: unknown): Promise<unknown> {
    const host = await this.ensureOpen(replicaId);
    return host.peer.call('command', { replicaId, name, ask });
  }

  async checksum(replicaId: string, bytesPerSecondMax?: number): Promise<ChecksumReply> {
    const host = await this.ensureOpen(replicaId);
    return host.peer.call('checksum', { replicaId, bytesPerSecondMax });
  }

  /** The fault of a copy that is here and can't be read. */
  damageOf(replicaId: string): StorageFault | undefined {
    return this.unreadable.get(replicaId)?.fault;
  }

  /** Is the disk known to hold no copy? One that can't be looked through may hold some. */
  async isNoneOn(disk: Disk): Promise<boolean> {
    const holders = [...this.known.values(), ...this.unreadable.values()];
    if (holders.some((one) => one.disk === disk)) return false;
    if (await disk.isAbsent()) return true;
    return (await disk.replicaIds()).length === 0;
  }

  /** What the secret permits the caller. An unknown copy permits nothing. */
  useOf(replicaId: string, secret: string, caller: string | undefined): CopyUse | undefined {
    const known = this.known.get(replicaId);
    return known === undefined ? undefined : copyUse(known.metadata.secret, secret, caller);
  }

  describe(name: ReplicaExportName, caller: string | undefined): ExportInfo | undefined {
    const known = this.known.get(name.replicaId);
    if (known === undefined || !admitsTo(known.metadata.secret, name, caller)) return undefined;
    const readOnly = name.kind !== 'replica';
    return { sizeBytes: known.metadata.sizeBytes, readOnly, blockSizeMinBytes: readOnly ? 1 : BLOCK_BYTES };
  }

  /** The host that has the copy open. Data connections come only after the copy was opened at their epoch. */
  hostOf(replicaId: string): ReplicaHost | undefined {
    return this.open.get(replicaId);
  }

  hostLost(residents: ReadonlySet<string>): void {
    for (const replicaId of residents) this.open.delete(replicaId);
  }

  /** @param nodeId this node; left out before it has joined, and then the reports prove nothing */
  async reports(nodeId?: string): Promise<ReplicaReport[]> {
    await this.scan(SCAN_IN_HEARTBEAT_MS_MAX);
    await this.lookForLost();
    await Promise.all(this.pool.all.map((host) => this.refresh(host)));
    return [...this.known.values()].map((known) => ({
      replicaId: asId<ReplicaId>(known.metadata.replicaId),
      volumeId: asId<VolumeId>(known.metadata.volumeId),
      diskId: known.disk.diskId,
      writtenBytes: known.writtenBytes,
      record: known.record,
      proof: nodeId === undefined ? undefined : proofOf(known, nodeId),
    }));
  }

  /** Flushes and closes all copies, once engines elsewhere have released them or have had time to. */
  async close(): Promise<void> {
    const graceMs = CLOSE_GRACE_MS;
    await Promise.all(
      this.pool.all.map(({ peer }) => peer.call('close-all', { graceMs }).catch(() => undefined)),
    );
  }

  private async refresh(host: ReplicaHost): Promise<void> {
    // A host that is busy, stopped or gone reports next time; the last known values stand until then.
    const reports = await host.ask('reports', () => host.peer.call('reports', null)).catch(() => undefined);
    for (const { replicaId, writtenBytes, record } of reports ?? []) {
      const known = this.known.get(replicaId);
      if (known === undefined) continue;
      known.writtenBytes = writtenBytes;
      known.record = record;
    }
  }

  private async learn(disk: Disk, replicaId: string): Promise<void> {
    const store = await disk.store();
    const metadata = await loadMetadata({ readText: (name) => store.readText(replicaId, name) });
    const writtenBytes = Math.min(metadata.sizeBytes, await store.allocatedBytes(replicaId));
    this.known.set(replicaId, { disk, metadata, writtenBytes, record: metadata.record });
  }

  /** The host that has the copy open; opens it where none has. @throws StorageFault `replica.not_found` */
  async ensureOpen(replicaId: string): Promise<ReplicaHost> {
    return this.open.get(replicaId) ?? this.oneAtATime(replicaId, () => this.openInHost(replicaId));
  }

  /**
   * The host of the one of these copies that is on this node, opened if need be. `undefined` if none is here, or if its disk does
   * not let it be opened soon.
   */
  async hostOfAny(replicaIds: readonly string[]): Promise<ReplicaHost | undefined> {
    const here = replicaIds.find((replicaId) => this.known.has(replicaId));
    if (here === undefined) return undefined;
    const opening = this.ensureOpen(here).catch(() => undefined);
    return within(OPEN_MS_MAX, opening, () => undefined);
  }

  private async openInHost(replicaId: string): Promise<ReplicaHost> {
    const known = this.known.get(replicaId);
    if (known === undefined) throw this.damageOf(replicaId) ?? notHere();
    const there = this.open.get(replicaId);
    if (there !== undefined) return there;
    await known.disk.requireUsable();
    await this.beforeOpen(known.disk);
    const host = this.pool.assignHost(replicaId, known.disk.path);
    try {
      await host.peer.call('open', { diskPath: known.disk.path, replicaId });
    } catch (error) {
      this.pool.leave(replicaId);
      throw error;
    }
    this.open.set(replicaId, host);
    return host;
  }

  private async oneAtATime<T>(replicaId: string, work: () => Promise<T>): Promise<T> {
    const before = this.changing.get(replicaId) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.changing.set(replicaId, mine);
    try {
      return await mine;
    } finally {
      if (this.changing.get(replicaId) === mine) this.changing.delete(replicaId);
    }
  }
}

function notHere(): StorageFault {
  return new StorageFault('replica.not_found', { publicMessage: 'there is no such copy here' });
}

function hostSilent(): StorageFault {
  return new StorageFault('agent.unreachable', {
    publicMessage: 'the process that holds this copy does not answer',
  });
}

function asFault(error: unknown): StorageFault {
  if (isFault(error)) return error;
  const publicMessage = `the copy can't be read: ${error instanceof Error ? error.message : String(error)}`;
  return new StorageFault('replica.corrupt', { publicMessage, cause: error });
}

function proofOf(known: Known, nodeId: string): string {
  if (known.proof?.nodeId !== nodeId)
    known.proof = { nodeId, text: holderProof(known.metadata.secret, nodeId) };
  return known.proof.text;
}
