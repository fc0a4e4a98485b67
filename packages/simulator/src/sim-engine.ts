/**
 * Simulated engine, as the control plane sees one: it writes to all its replicas, drops those that fail, shrinks the
 * record as the rules allow, and rebuilds one replica at a time. Its rules for which copies are current are the real ones
 * (docs/adr/0004-copy-records.md); its bytes are write numbers.
 */
import type { EngineReport, RebuildReport, StartEngine } from '@holdfast/core/model/agent-protocol.js';
import { type CopyRecord, copyRecord, mayShrinkAlone } from '@holdfast/core/model/copy-record.js';
import type { EngineRequest } from '@holdfast/core/model/engine-commands.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { NodeId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import { NO_BYTES, type RebuildMethod } from '@holdfast/core/model/rebuild.js';
import type { ReplicaMode } from '@holdfast/core/model/replica.js';
import type { SimCopy } from './sim-copy.js';
import { haveEqualLayers, SimLayers } from './sim-layers.js';

/** Access of an engine to its surroundings. */
export type EngineSurroundings = {
  /** The copy on that node, if the node is alive and can be reached from the engine's. */
  reach(replicaId: ReplicaId, nodeId: NodeId | undefined): SimCopy | undefined;
  /** Does this rebuild of the replica end in an error of its disk? */
  failsRebuild(replicaId: ReplicaId): boolean;
  /** Work to fill a copy of this size. */
  workOf(heldBytes: number): RebuildWork;
  /** Can it ask Postgres? */
  isConnected(): boolean;
  confirmRecord(volumeId: VolumeId, record: CopyRecord, grantId?: string): Promise<void>;
};

type SimRebuild = {
  request: EngineRequest<'start-rebuild'>;
  work: RebuildWork;
  stepsLeft: number;
  report: RebuildReport;
};

type SimFill = {
  request: EngineRequest<'fill'>;
  stepsLeft: number;
  report: NonNullable<EngineReport['fill']>;
};

/** Work of a rebuild: its reported bytes, and the ticks that they take. */
export type RebuildWork = { readonly bytes: number; readonly steps: number };

/** Where a world says nothing else: a virtual size, so that progress has numbers. */
export const ANY_REBUILD: RebuildWork = { bytes: 1_000_000, steps: 4 };

export class SimEngine {
  private readonly modes = new Map<ReplicaId, { mode: ReplicaMode; reason: string }>();
  /** Addresses of the copies, as they were sent to it. */
  private readonly places = new Map<ReplicaId, NodeId>();
  private readonly rebuilds: SimRebuild[] = [];
  readonly layers: SimLayers;
  private fill: SimFill | undefined;
  private record: CopyRecord;
  private state: EngineReport['state'] = 'running';
  private reason = '';
  private replicaTimeoutMs: number;
  /** Its last report, while it is unchanged. */
  private said: EngineReport | undefined;

  constructor(
    readonly volumeId: VolumeId,
    readonly start: StartEngine,
    private readonly surroundings: EngineSurroundings,
  ) {
    this.replicaTimeoutMs = start.replicaTimeoutMs;
    const members = start.replicas.map(({ replicaId }) => replicaId);
    for (const { replicaId, nodeId } of start.replicas) this.places.set(replicaId, nodeId);
    for (const member of members) this.setMode(member, 'RW');
    this.record = copyRecord(start.epoch, 1, members);
    this.layers = new SimLayers(
      start.sizeBytes,
      () => this.withMode('RW').flatMap((id) => this.reach(id) ?? []),
      () => this.rebuilds.some(({ report }) => report.state === 'running'),
      (replicaId, reason) => this.drop(replicaId, reason),
    );
  }

  get epoch(): number {
    return this.start.epoch;
  }

  /** Does it change something with time? */
  get isAtWork(): boolean {
    const isCopying = this.rebuilds.some(
      ({ report }) => report.state === 'running' && report.paused !== true,
    );
    const isAsking = this.state === 'waiting-record' && this.surroundings.isConnected();
    const isBusy = isCopying || this.layers.isAtWork || this.fill?.report.state === 'running' || isAsking;
    return isBusy && this.state !== 'stopped';
  }

  get isServing(): boolean {
    return this.state === 'running' && this.withMode('RW').length > 0;
  }

  /** The copies that it reads from, if all of them still obey it; `undefined` once one belongs to another engine. */
  copiesInUse(): SimCopy[] | undefined {
    const copies = this.withMode('RW').flatMap((id) => this.reach(id) ?? []);
    const areIts = copies.every(
      ({ epoch, grantId }) => epoch === this.epoch && grantId === this.start.grantId,
    );
    return areIts && copies.length === this.withMode('RW').length ? copies : undefined;
  }

  /** Writes the new record to every member, as the first thing an engine does. */
  async open(): Promise<void> {
    this.makeEqual();
    await this.spreadRecord();
    if (this.withMode('RW').length === 0) {
      throw new StorageFault('engine.no_replica', { publicMessage: 'no copy could be opened' });
    }
  }

  /** True when the write was acknowledged to the user. */
  async write(number: number): Promise<boolean> {
    if (!this.isServing) return false;
    await this.dropUnreachable();
    if (!this.isServing) return false;
    for (const replicaId of [...this.withMode('RW'), ...this.withMode('WO')]) {
      this.reach(replicaId)?.writes.add(number);
    }
    return true;
  }

  async drop(replicaId: ReplicaId, reason: string): Promise<void> {
    const entry = this.modes.get(replicaId);
    if (entry === undefined || entry.mode === 'ERR') return;
    if (entry.mode === 'RW' && this.withMode('RW').length === 1) {
      throw new StorageFault('replica.last_healthy_copy', { publicMessage: 'it is the last copy' });
    }
    this.fail(replicaId, reason);
    await this.spreadRecord();
  }

  startRebuild(request: EngineRequest<'start-rebuild'>): void {
    if (this.rebuilds.some((rebuild) => rebuild.request.rebuildId === request.rebuildId)) return;
    if (this.rebuilds.some(({ report }) => report.state === 'running')) {
      throw new StorageFault('engine.busy', { publicMessage: 'another rebuild runs' });
    }
    if (this.layers.isBusy) throw new StorageFault('engine.busy', { publicMessage: 'the volume is purged' });
    const { replicaId } = request.target;
    if (this.modes.get(replicaId)?.mode === 'RW') return;
    this.places.set(replicaId, request.target.nodeId);
    const target = this.reach(replicaId);
    const method = target?.record === undefined ? 'full' : 'delta';
    const work = this.surroundings.workOf(this.writtenBytes());
    const rebuild = { request, work, stepsLeft: work.steps, report: newReport(request, method, work.bytes) };
    this.rebuilds.push(rebuild);
    if (target === undefined) {
      this.endRebuild(rebuild, { code: 'agent.unreachable', message: 'the target does not answer' });
      return;
    }
    if (target.epoch <= this.epoch) {
      target.epoch = this.epoch;
      target.grantId = this.start.grantId;
    }
    target.rebuilding = true;
    this.setMode(replicaId, 'WO');
  }

  setReplicaTimeout(timeoutMs: number): void {
    this.replicaTimeoutMs = timeoutMs;
  }

  startFill(request: EngineRequest<'fill'>): void {
    if (this.fill?.request.fillId === request.fillId && this.fill.report.state !== 'failed') return;
    const { steps } = this.surroundings.workOf(this.writtenBytes());
    const report = { fillId: request.fillId, state: 'running', bytes: 0, error: '' } as const;
    this.fill = { request, stepsLeft: steps, report };
  }

  /** Copies all of it at the end of its time, from the first source that can be reached then. */
  private fillTick(): void {
    if (this.fill?.report.state !== 'running') return;
    this.fill.stepsLeft -= 1;
    if (this.fill.stepsLeft > 0) return;
    const { request, report } = this.fill;
    const layer = request.sources
      .flatMap(({ replicaId, nodeId }) => this.surroundings.reach(replicaId, nodeId)?.layers ?? [])
      .find(({ id }) => id === request.snapshotId);
    for (const replicaId of this.withMode('RW')) {
      const copy = this.reach(replicaId);
      if (copy !== undefined && layer !== undefined) copy.writes = new Set(layer.writes);
    }
    this.fill.report =
      layer === undefined
        ? { ...report, state: 'failed', error: 'no source answers' }
        : { ...report, state: 'succeeded', bytes: layer.writes.size * 4096 };
  }

  tuneRebuild(rebuildId: string, paused: boolean): void {
    const rebuild = this.rebuilds.find(({ request }) => request.rebuildId === rebuildId);
    if (rebuild?.report.state === 'running') rebuild.report = { ...rebuild.report, paused };
  }

  cancelRebuild(rebuildId: string): void {
    const rebuild = this.rebuilds.find(({ request }) => request.rebuildId === rebuildId);
    if (rebuild?.report.state !== 'running') return;
    this.endRebuild(rebuild, { code: 'rebuild.cancelled', message: 'it was cancelled' });
  }

  /** Lets time pass: fencing and lost replicas are noticed, a rebuild goes one step on. */
  async tick(): Promise<void> {
    if (this.state === 'stopped') return;
    await this.dropUnreachable();
    if (this.state === 'waiting-record') await this.spreadRecord();
    const rebuild = this.rebuilds.find(({ report }) => report.state === 'running');
    await this.layers.tick();
    this.fillTick();
    if (rebuild === undefined || rebuild.report.paused === true || !this.isServing) return;
    const target = this.reach(rebuild.request.target.replicaId);
    const [first] = this.withMode('RW');
    const source = first === undefined ? undefined : this.reach(first);
    if (target === undefined || source === undefined) return;
    rebuild.stepsLeft -= 1;
    const { bytes, steps } = rebuild.work;
    const compared = bytes * (1 - rebuild.stepsLeft / steps);
    const progress = { ...rebuild.report.bytes, compared, sent: compared };
    rebuild.report = { ...rebuild.report, phase: 'copying', bytes: progress };
    if (rebuild.stepsLeft > 0) return;
    if (this.surroundings.failsRebuild(target.replicaId)) {
      this.endRebuild(rebuild, { code: 'rebuild.failed', message: 'its disk gave an error' });
      return;
    }
    // The target's content from before its failure is not believed: it becomes exactly the source's.
    target.writes = new Set(source.writes);
    target.layers = source.layers;
    target.rebuilding = false;
    target.isKnownDamaged = false;
    this.setMode(target.replicaId, 'RW');
    rebuild.report = { ...rebuild.report, state: 'succeeded', phase: 'done' };
    await this.spreadRecord();
  }

  stop(): void {
    this.state = 'stopped';
    this.reason = 'it was stopped';
  }

  /** The same object while the report is unchanged: results computed from a report are kept with it. */
  report(): EngineReport {
    const writtenBytes = this.writtenBytes();
    if (this.said === undefined || !this.stillSays(this.said, writtenBytes))
      this.said = this.newReport(writtenBytes);
    return this.said;
  }

  private stillSays(said: EngineReport, writtenBytes: number): boolean {
    return (
      said.state === this.state &&
      said.reason === this.reason &&
      said.record === this.record &&
      said.writtenBytes === writtenBytes &&
      said.replicaTimeoutMs === this.replicaTimeoutMs &&
      said.fill === this.fill?.report &&
      said.rebuilds.length === this.rebuilds.length &&
      said.rebuilds.every((report, index) => report === this.rebuilds[index]?.report)
    );
  }

  private newReport(writtenBytes: number): EngineReport {
    return {
      volumeId: this.volumeId,
      epoch: this.epoch,
      grantId: this.start.grantId,
      state: this.state,
      reason: this.reason,
      record: this.record,
      replicas: [...this.modes].map(([replicaId, { mode, reason }]) => ({ replicaId, mode, reason })),
      writtenBytes,
      replicaTimeoutMs: this.replicaTimeoutMs,
      rebuilds: this.rebuilds.map(({ report }) => report),
      fill: this.fill?.report,
    };
  }

  private reach(replicaId: ReplicaId): SimCopy | undefined {
    return this.surroundings.reach(replicaId, this.places.get(replicaId));
  }

  private writtenBytes(): number {
    for (const [replicaId, { mode }] of this.modes) {
      const copy = mode === 'RW' ? this.reach(replicaId) : undefined;
      if (copy !== undefined) return copy.writes.size * 4096;
    }
    return 0;
  }

  /** Copies may differ in writes that were in flight at a crash; one of them decides. */
  private makeEqual(): void {
    const copies = this.withMode('RW').flatMap((id) => this.reach(id) ?? []);
    const chosen = copies[0];
    if (chosen === undefined) return;
    for (const copy of copies) {
      if (haveEqualLayers(copy, chosen)) continue;
      copy.writes = new Set(chosen.writes);
      copy.layers = chosen.layers;
    }
  }

  private async dropUnreachable(): Promise<void> {
    let isChanged = false;
    for (const [replicaId, { mode }] of [...this.modes]) {
      if (mode === 'ERR') continue;
      const copy = this.reach(replicaId);
      const isOther = copy?.epoch === this.epoch && copy.grantId !== this.start.grantId;
      if (copy !== undefined && (copy.epoch > this.epoch || isOther)) {
        this.state = 'stopped';
        this.reason = 'a newer attachment has taken over';
        return;
      }
      if (copy !== undefined) continue;
      this.fail(replicaId, 'it does not answer');
      isChanged = true;
    }
    if (isChanged) await this.spreadRecord();
  }

  private fail(replicaId: ReplicaId, reason: string): void {
    this.setMode(replicaId, 'ERR', reason);
    const rebuild = this.rebuilds.find(
      ({ request, report }) => request.target.replicaId === replicaId && report.state === 'running',
    );
    if (rebuild !== undefined) this.endRebuild(rebuild, { code: 'agent.unreachable', message: reason });
  }

  private endRebuild(rebuild: SimRebuild, error: { code: string; message: string }): void {
    rebuild.report = { ...rebuild.report, state: 'failed', error };
    this.setMode(rebuild.request.target.replicaId, 'ERR', error.message);
  }

  /**
   * Writes a record with the present members to all of them. When they are too few to go on alone, Postgres has to
   * record them first; until it has, I/O waits.
   */
  private async spreadRecord(): Promise<void> {
    const members = this.withMode('RW');
    if (members.length === 0) {
      this.state = 'stopped';
      this.reason = 'no copy is left';
      return;
    }
    const next = copyRecord(this.epoch, this.record.dataGeneration + 1, members);
    if (!mayShrinkAlone(this.record.members, members)) {
      const isConfirmed = await this.confirm(next);
      if (!isConfirmed) return;
    }
    this.state = 'running';
    this.record = next;
    for (const member of members) {
      const copy = this.reach(member);
      if (copy !== undefined) copy.record = next;
    }
  }

  private async confirm(record: CopyRecord): Promise<boolean> {
    this.state = 'waiting-record';
    try {
      await this.surroundings.confirmRecord(this.volumeId, record, this.start.grantId);
      return true;
    } catch (error) {
      if (!isFault(error)) throw error;
      if (error.code === 'engine.stale_epoch') {
        this.state = 'stopped';
        this.reason = error.message;
      }
      return false;
    }
  }

  private setMode(replicaId: ReplicaId, mode: ReplicaMode, reason = ''): void {
    this.modes.set(replicaId, { mode, reason });
    this.said = undefined;
  }

  private withMode(mode: ReplicaMode): ReplicaId[] {
    const found: ReplicaId[] = [];
    for (const [replicaId, entry] of this.modes) if (entry.mode === mode) found.push(replicaId);
    return found;
  }
}

/** @param method of its one layer: a former member gets what it missed */
function newReport(
  { rebuildId, target }: EngineRequest<'start-rebuild'>,
  method: RebuildMethod,
  totalBytes: number,
): RebuildReport {
  return {
    rebuildId,
    replicaId: target.replicaId,
    state: 'running',
    phase: 'preparing',
    bytes: { ...NO_BYTES, total: totalBytes },
    rateBytesPerSecond: 0,
    snapshots: [{ name: 'head', method, reason: '', bytesSent: 0 }],
    error: null,
  };
}
