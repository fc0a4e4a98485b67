/**
 * Engine of one attached volume: one block device in front, several copies behind it.
 *
 * It keeps nothing on disk. When it dies, the copies' own records say which of them are current, and their
 * write-intent maps say where they may differ; the next engine resyncs those regions before it reads from more than
 * one copy.
 */
import type { Socket } from 'node:net';
import type { EngineReport } from '@holdfast/core/model/agent-protocol.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { within } from '../base/time.js';
import type { Negotiated } from '../nbd/handshake-frames.js';
import { type Ports, portsOf } from '../nbd/ports.js';
import { serveExport } from '../nbd/server.js';
import type { NbdServerConnection } from '../nbd/server-connection.js';
import type { PullTuning } from '../protocol/pull.js';
import { agreeOnLayers } from './agree-on-layers.js';
import { IntentClearing } from './clear-intent.js';
import { Copies } from './copies.js';
import { DropMarks } from './drop-marks.js';
import type { EngineDependencies, EngineSpec, RebuildSpec } from './engine-state.js';
import { Fill, type FillSpec } from './fill.js';
import { openCurrent } from './open-current.js';
import { RebuildRun } from './rebuild-run.js';
import { reopenLink } from './replica-link.js';
import { Resync } from './resync.js';
import { VolumeDevice } from './volume-device.js';
import { VolumeSnapshots } from './volume-snapshots.js';

/** Time limit of a clean stop, in milliseconds. Below the ten seconds in which an agent has to end. */
const STOP_MAX_MS = 6_000;
/** Minimum pause between two queries of a copy's written bytes, while they change. */
const STAT_PAUSE_MS = 2_000;
/** Number of finished rebuilds kept in the report. */
const REBUILDS_KEPT = 8;

export class Engine {
  readonly copies: Copies;
  readonly device: VolumeDevice;
  readonly snapshots: VolumeSnapshots;
  readonly drops: DropMarks;
  readonly ports: Ports;
  private readonly clearing: IntentClearing;
  private readonly sockets = new Set<Socket>();
  private rebuilds: RebuildRun[] = [];
  private resync: Resync | undefined;
  /**
   * Set during resync when a replica process restarted and may have lost acknowledged, unflushed writes. Flushes wait
   * for it; otherwise one could be acknowledged while a single replica holds the data.
   */
  private missing: Promise<void> | undefined;
  private fill: Fill | undefined;
  private isOpen = false;
  private writtenBytes = 0;
  private askedWrittenMs = 0;
  private timeoutMs: number;

  constructor(
    readonly spec: EngineSpec,
    readonly dependencies: EngineDependencies,
  ) {
    this.ports = portsOf(dependencies);
    this.timeoutMs = spec.replicaTimeoutMs;
    const { time } = this.ports;
    this.copies = new Copies({
      epoch: spec.epoch,
      found: spec.record,
      replicaTimeoutMs: () => this.timeoutMs,
      confirmRecord: dependencies.confirmRecord,
      onChange: dependencies.onChange,
      onDropped: ({ replicaId }, error) => {
        // For a corrupt copy no drop mark is made: its old data is not to be trusted either.
        if (!isFault(error, 'replica.corrupt')) {
          this.drops.note(replicaId, spec.epoch, this.copies.membership.complete);
        }
      },
      onStop: (error) => this.cutOff(error),
      reopen: (link) => reopenLink(link, spec.epoch, this.timeoutMs, this.ports.connectData),
      time,
    });
    this.device = new VolumeDevice(this.copies, spec.sizeBytes, () => this.missing, time);
    this.clearing = new IntentClearing(this.copies, this.device, spec.epoch, () => this.isProvenEqual);
    this.drops = new DropMarks(this.copies, this.device, spec.epoch, () => this.equal(), time);
    this.snapshots = new VolumeSnapshots(this);
  }

  /**
   * Opens the current copies at the attachment's epoch and writes the attachment's first record to all of them; only
   * then may the engine serve. A `stop` meanwhile makes it fail.
   *
   * @throws StorageFault `engine.stale_epoch` when a copy knows a newer engine, `engine.no_replica` when fewer than
   *   half of the record's members can be reached.
   */
  async open(): Promise<void> {
    const links = await openCurrent(this.spec, this.dependencies);
    const { stopReason } = this.copies;
    if (stopReason !== undefined) {
      for (const { client } of links) client.close();
      throw stopReason;
    }
    for (const link of links) this.copies.add(link);
    this.writtenBytes = Math.max(...links.map(({ opened }) => opened.writtenBytes));
    const stored = this.copies.withMode('RW').flatMap(({ opened }) => opened.record ?? []);
    this.copies.membership.beginWith(stored);
    await this.copies.membership.establish();
    for (const link of await agreeOnLayers(this.copies.withMode('RW'), this.spec.epoch)) {
      this.copies.fail(link, new Error('it does not say, or has not, the snapshots of the other copies'));
    }
    await this.copies.membership.recordDurable();
    this.copies.requireServing();
    // Copies only grow. Where all are larger than asked for, the request was lost with a newer database, and its bytes stay.
    this.device.begin(Math.min(...links.map(({ client }) => client.sizeBytes)));
    this.isOpen = true;
    this.beginResync();
    // Completes an expansion that was interrupted, or requested while no engine ran.
    if (this.device.sizeBytes < this.spec.sizeBytes)
      // Ignored: the volume keeps its older size, which the report states, and the worker requests the expansion again.
      void this.snapshots.expand(this.spec.sizeBytes).catch(() => undefined);
    const here = new Set(links.map(({ replicaId }) => replicaId));
    // Marks the drop of members that were current but can't be reached: they may come back.
    for (const member of this.spec.record.members) {
      if (!here.has(member)) this.drops.note(member, this.spec.record.epoch, this.spec.record.durable);
    }
  }

  /** Silence after which a copy is dropped, in milliseconds. */
  get replicaTimeoutMs(): number {
    return this.timeoutMs;
  }

  /** Applies to pending silence too; reads check at once whether their lease still holds. */
  setReplicaTimeout(timeoutMs: number): void {
    if (timeoutMs === this.timeoutMs) return;
    this.timeoutMs = timeoutMs;
    this.copies.lease.changed();
    this.dependencies.onChange();
  }

  serve(socket: Socket, negotiated: Negotiated, rest: Buffer): NbdServerConnection {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    return serveExport(socket, negotiated, rest, this.device);
  }

  /** Resolves when resync is done, rejects when the engine stops first. */
  async equal(): Promise<void> {
    await this.resync?.finished;
    this.copies.requireServing();
  }

  /** @throws StorageFault `engine.busy` while another one runs, `rebuild.finished` when the copy is current. */
  startRebuild(spec: RebuildSpec): void {
    this.copies.requireServing();
    if (this.rebuilds.some(({ rebuildId }) => rebuildId === spec.rebuildId)) return;
    if (this.isRebuilding) {
      throw new StorageFault('engine.busy', { publicMessage: 'another rebuild of this volume is running' });
    }
    this.snapshots.requireNotBusy();
    if (this.copies.find(spec.target.replicaId)?.mode === 'RW') {
      throw new StorageFault('rebuild.finished', { publicMessage: 'the copy is up to date' });
    }
    const run = new RebuildRun(this, spec);
    this.rebuilds = [...this.rebuilds.slice(-REBUILDS_KEPT + 1), run];
    run.start();
    this.dependencies.onChange();
  }

  /** Starts filling the volume from a snapshot of another volume. Idempotent: the same id twice is one fill. */
  startFill(spec: FillSpec): void {
    this.copies.requireServing();
    if (this.fill?.fillId === spec.fillId && this.fill.report().state !== 'failed') return;
    if (this.fill?.report().state === 'running') {
      throw new StorageFault('engine.busy', { publicMessage: 'the volume is being filled already' });
    }
    this.fill = new Fill(this, spec);
    this.fill.start(this.dependencies.onChange);
  }

  get isRebuilding(): boolean {
    return this.rebuilds.some(({ isRunning }) => isRunning);
  }

  get hasClients(): boolean {
    return this.sockets.size > 0;
  }

  tuneRebuild(rebuildId: string, tuning: PullTuning): void {
    this.rebuilds.find((run) => run.rebuildId === rebuildId)?.tune(tuning);
  }

  async cancelRebuild(rebuildId: string): Promise<void> {
    await this.rebuilds.find((run) => run.rebuildId === rebuildId)?.cancel();
  }

  /** @throws StorageFault `replica.last_healthy_copy`: the last current copy is never dropped on request. */
  async dropReplica(replicaId: string, reason: string): Promise<void> {
    const link = this.copies.find(replicaId);
    if (link === undefined || link.mode === 'ERR') return;
    const current = this.copies.withMode('RW');
    if (current.length === 1 && current[0] === link) {
      throw new StorageFault('replica.last_healthy_copy', { publicMessage: 'it is the last current copy' });
    }
    this.copies.fail(link, new Error(reason));
    await this.copies.membership.recordDurable();
  }

  /** Periodic timer work, a few times a second; one timer serves every engine of the process. */
  tick(nowMs: number): void {
    if (this.copies.stopReason !== undefined) return;
    this.copies.tick(nowMs);
    if (!this.isOpen) return;
    this.clearing.tick(nowMs);
    this.device.tick(nowMs);
    // One more query after the last change began, because a copy may have answered while the change was in flight.
    const lastChangeMs = Math.max(this.device.lastChangeMs, this.snapshots.lastChangeMs);
    const mayHaveChanged = lastChangeMs + STAT_PAUSE_MS >= this.askedWrittenMs;
    if (nowMs - this.askedWrittenMs > STAT_PAUSE_MS && mayHaveChanged) {
      this.askedWrittenMs = nowMs;
      void this.askWritten();
    }
  }

  report(): EngineReport {
    const { membership, stopReason, all } = this.copies;
    const { epoch, dataGeneration, members } = membership.record;
    return {
      volumeId: this.spec.volumeId,
      epoch: this.spec.epoch,
      grantId: this.spec.grantId,
      state: this.stateNow(),
      reason: stopReason === undefined ? '' : `${stopReason.code}: ${stopReason.message}`.slice(0, 1024),
      record: { epoch, dataGeneration, members, durable: membership.complete },
      replicas: all.map(({ replicaId, mode, reason }) => ({
        replicaId,
        mode,
        reason: reason.slice(0, 1024),
      })),
      replicaTimeoutMs: this.timeoutMs,
      writtenBytes: this.writtenBytes,
      rebuilds: this.rebuilds.map((run) => run.report()),
      fill: this.fill?.report(),
    };
  }

  /**
   * True when write-intent marks may be cleared. Before resync ends, or while a drop is not marked, clearing them
   * would hide where copies differ; before `open` is done, neither is known.
   */
  private get isProvenEqual(): boolean {
    return (
      this.isOpen &&
      this.resync === undefined &&
      !this.drops.isPending &&
      this.copies.membership.isRecordDurable &&
      this.copies.stopReason === undefined
    );
  }

  private stateNow(): EngineReport['state'] {
    if (this.copies.stopReason !== undefined) return 'stopped';
    return this.copies.membership.waiting || !this.isOpen ? 'waiting-record' : 'running';
  }

  /**
   * Clean stop: flushes, clears the write-intent marks and disconnects from the copies, within `STOP_MAX_MS`. Nothing
   * is served afterwards.
   */
  async stop(): Promise<void> {
    this.resync?.cancel();
    for (const run of this.rebuilds) void run.cancel();
    // A write that waits for the control plane could block a clean stop for ever; after the time limit the copies
    // stay marked.
    await within(STOP_MAX_MS, this.release(), this.ports.time);
    this.copies.release(new StorageFault('engine.not_found', { publicMessage: 'the engine was stopped' }));
  }

  private async release(): Promise<void> {
    for (const run of this.rebuilds) await run.cancel();
    await this.fill?.cancel();
    if (this.resync === undefined) await this.drops.marked();
    await this.device.exclusive(async () => {
      if (this.copies.stopReason !== undefined || !this.isOpen) return;
      // Ignored: the marks of write-intent stay set on a copy that failed, and the next engine compares what they name.
      await this.device.flushCopies().catch(() => undefined);
      await this.clearing.clearAll().catch(() => undefined);
      await this.copies.membership.seal();
      // The last report of a volume that was written just now has to say so.
      await this.askWritten();
    });
  }

  /** Fences the engine: a newer one has taken over, so this one ends at once, and sends the copies nothing more. */
  fence(error: StorageFault): void {
    this.copies.stop(error);
  }

  private beginResync(): void {
    const current = this.copies.withMode('RW').map(({ opened }) => opened);
    if (current.every(({ clean }) => clean)) return;
    this.resync = new Resync(this);
    this.missing = this.resync.missing;
    void this.resync.finished.then(
      () => {
        this.resync = undefined;
        this.missing = undefined;
      },
      () => undefined,
    );
    void this.missing?.then(
      () => {
        this.missing = undefined;
      },
      () => undefined,
    );
    this.resync.start();
  }

  private async askWritten(): Promise<void> {
    const [link] = this.copies.withMode('RW');
    // An error is ignored, as this query is for the report only: the data connection finds a copy that does not
    // answer.
    const answer = await link?.control.command('stat', { epoch: this.spec.epoch }).catch(() => undefined);
    this.writtenBytes = answer?.writtenBytes ?? this.writtenBytes;
  }

  private cutOff(error: StorageFault): void {
    // With no copy left, users get errors on their open connections; a fenced engine must fall silent instead.
    if (error.code === 'engine.no_replica') return;
    for (const socket of this.sockets) socket.destroy();
  }
}
