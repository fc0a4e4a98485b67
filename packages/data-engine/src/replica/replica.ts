/**
 * One copy of one volume, on one disk.
 *
 * After a crash it opens with everything that a FLUSH or FUA had acknowledged, or refuses with `replica.corrupt`.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { compareRecords } from '@holdfast/core/model/copy-record.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { RangeSums } from '../integrity/range-sums.js';
import type { Extent, Payload, WriteOptions, ZeroOptions } from '../nbd/export.js';
import { alignDown, alignUp } from './blocks.js';
import type { Chain } from './chain.js';
import type { IntentMarker, LayerChecksum, SnapshotAsk } from './commands.js';
import { CopyFence, type HeadChange, type Opening, type Term } from './copy-fence.js';
import type { DiskStore } from './disk-store.js';
import type { IntentMap, RegionRun } from './intent-map.js';
import type { Layer } from './layer.js';
import { LayerRanges } from './layer-ranges.js';
import {
  type Adoption,
  withAdopted,
  withoutFreeze,
  withRemoved,
  withRevert,
  withSnapshot,
} from './layer-tree.js';
import type { ReplicaMetadata } from './metadata.js';
import type { OpenDisk } from './open-disk-store.js';
import { familyOf, isPurgeable, purgeStep } from './purge-layer.js';
import { ReadWriteOverlap } from './read-write-overlap.js';
import { RecentChanges } from './recent-changes.js';
import { snapshotInUse, staleEpoch, stateChanged, unaligned } from './replica-faults.js';
import { type ReplicaSpec, ReplicaState } from './replica-state.js';
import { isOutOfSpace } from './system-error.js';
import { WriteGate } from './write-gate.js';

/** Every change names the epoch of the connection it came on, and the lease, where it came on one. */
export type ChangeOptions = WriteOptions & { epoch: number; lease?: number };

/**
 * What an engine has found out of a copy, and at which moment of it (`marker`), when all copies were equal in the regions.
 * Without a marker it is all of the copy, now.
 */
export type SettleAsk = Term & {
  marker?: IntentMarker | undefined;
  regions?: readonly RegionRun[] | undefined;
};

export class Replica {
  readonly ranges: LayerRanges;
  private readonly intent: IntentMap;
  private readonly gate = new WriteGate();
  private readonly recent = new RecentChanges();
  private readonly overlap = new ReadWriteOverlap();
  /** Set when the disk failed a flush: what it holds then is not known, so nothing is served until the copy is opened anew. */
  private failure: Error | undefined;
  /** Called when the disk has failed to store something: only opening the copy anew tells what it holds. */
  onFailed: () => void = () => undefined;
  private readonly fencing = new CopyFence(() => this.meta);
  /** How many changes had ended when the last flush that succeeded began. */
  private flushedChanges = 0;
  /** The epoch since which this very process has held the copy with nothing missing of what was acknowledged. */
  private heldSinceEpoch: number | undefined;

  private constructor(private readonly state: ReplicaState) {
    this.intent = state.intent;
    this.ranges = new LayerRanges(state);
    state.onFailed = () => this.onFailed();
  }

  /** Makes a new one; one that exists already is left as it is. */
  static create(diskPath: string, spec: ReplicaSpec, openDisk?: OpenDisk): Promise<void> {
    return ReplicaState.create(diskPath, spec, openDisk);
  }

  static async open(diskPath: string, replicaId: string, openDisk?: OpenDisk): Promise<Replica> {
    return new Replica(await ReplicaState.open(diskPath, replicaId, openDisk));
  }

  private get meta(): ReplicaMetadata {
    return this.state.meta;
  }

  get metadata(): ReplicaMetadata {
    return this.meta;
  }

  get sizeBytes(): number {
    return this.meta.sizeBytes;
  }

  /** True once the disk has failed to store something: only opening the copy anew tells what is there. */
  get hasFailed(): boolean {
    return this.failure !== undefined || this.state.hasFailed;
  }

  get diskKind(): DiskStore['kind'] {
    return this.state.diskKind;
  }

  /** False when regions may differ from the other copies. */
  get isClean(): boolean {
    return this.intent.isEmpty;
  }

  /**
   * True when this process has held the copy throughout the attachment that its record is of: then it also has what
   * was acknowledged and no flush has covered. A copy whose process died has only what was flushed.
   */
  get isKept(): boolean {
    const { record } = this.meta;
    return record !== null && this.heldSinceEpoch !== undefined && this.heldSinceEpoch <= record.epoch;
  }

  /** Data in layers that overlap is counted twice, so the sum is capped: it is for accounting of space. */
  get writtenBytes(): number {
    return Math.min(this.meta.sizeBytes, this.state.chain.heldBytes);
  }

  get device(): Chain {
    return this.state.chain;
  }

  intentRegions(): RegionRun[] {
    return this.intent.runs();
  }

  /** What another copy may not have durably, as far as this process knows; `undefined` when that is too much to say. */
  recentChanges(): [stretch: number, blocks: number][] | undefined {
    return this.recent.list();
  }

  /** A flush of the engine, which comes after all that it flushed before has ended on every copy. */
  async flushForEngine(lease: number): Promise<void> {
    if (lease === this.lease) this.recent.flushing();
    await this.flush();
  }

  /** Names this moment, for a later `settle`. */
  intentMarker(): IntentMarker {
    return this.intent.marker();
  }

  layer(layerId: string): Layer | undefined {
    return this.state.layer(layerId);
  }

  /** The device as it read when the layer was frozen. */
  chainUpTo(layerId: string): Chain {
    return this.state.chainUpTo(layerId);
  }

  async read(offset: number, lengthBytes: number): Promise<Payload> {
    this.requireUsable();
    return this.overlap.read(
      alignDown(offset),
      alignUp(offset + lengthBytes),
      () => this.state.chain.read(offset, lengthBytes),
      (disturbed) => disturbed.release?.(),
    );
  }

  /** What is in memory of it, at once; `undefined` when that is not all. */
  readNow(offset: number, lengthBytes: number): Payload | undefined {
    this.requireUsable();
    if (!this.overlap.isQuiet(alignDown(offset), alignUp(offset + lengthBytes))) return undefined;
    return this.state.chain.readNow(offset, lengthBytes);
  }

  write(offset: number, payload: Payload, lengthBytes: number, options: ChangeOptions): Promise<void> {
    return this.change(offset, lengthBytes, options, () =>
      this.state.chain.head.write(payload, offset, lengthBytes),
    );
  }

  writeZeroes(offset: number, lengthBytes: number, options: ChangeOptions & ZeroOptions): Promise<void> {
    return this.change(offset, lengthBytes, options, () => {
      // Over older layers zeros are data: the head has to hold them, or the older data would show through.
      const held = this.state.chain.layers.length > 1 || !options.mayPunch;
      return this.state.chain.head.zero(offset, lengthBytes, options.mayPunch, held);
    });
  }

  extents(offset: number, lengthBytes: number, extentsMax: number): Extent[] {
    return this.state.chain.extents(offset, lengthBytes, extentsMax);
  }

  async flush(): Promise<void> {
    this.requireUsable();
    const { changes } = this.intent.marker();
    try {
      await this.state.chain.head.flush();
      this.flushedChanges = Math.max(this.flushedChanges, changes);
    } catch (error) {
      // A full disk has refused before anything was lost, and may have space later.
      if (!isOutOfSpace(error)) this.failed(error);
      throw error;
    }
  }

  /**
   * Refuses everything below this epoch from now on, durably, and all but one grant of it. Changes of before have ended
   * when it returns. Compared inside the gate, so that of two fences at once the higher one stays.
   *
   * `afresh`: a copy that an engine had dropped may still have old writes and commands of it in its buffers; after a
   * rebuild they would go over newer data.
   *
   * @returns the lease that the engine's commands name from now on, and whether what had opened the copy before has to go
   */
  fence(epoch: number, opening: Opening = {}): Promise<{ lease: number; replaces: boolean }> {
    return this.gate.alone(async () => {
      this.requireUsable();
      this.fencing.requireMayOpen(epoch, opening);
      const { grantId } = opening;
      const isNewer = epoch > this.meta.epoch;
      if (isNewer) await this.state.save({ epoch, grantId: grantId ?? null });
      else if (grantId !== undefined && grantId !== this.meta.grantId) await this.state.save({ grantId });
      // One that is marked may lack what another process of it had and no flush had covered.
      if (this.isClean) this.heldSinceEpoch ??= epoch;
      const isAnew = this.fencing.renewFor(opening);
      if (isNewer || isAnew) this.recent.startOver();
      return { lease: this.lease, replaces: isNewer || isAnew };
    });
  }

  get lease(): number {
    return this.fencing.lease;
  }

  get headId(): string | undefined {
    return this.meta.layers.at(-1)?.id;
  }

  /** @throws StorageFault `engine.stale_epoch` for a command of an engine that something newer has replaced */
  requireTerm(term: Term): void {
    this.fencing.require(term);
  }

  /** Refuses all changes on connections from before, of the same epoch too; see `fence`. */
  async renewLease(): Promise<void> {
    await this.gate.alone(async () => this.fencing.renewLease());
  }

  /**
   * A record older than the stored one comes from an engine that something newer has replaced. Compared when it is its
   * turn to be stored: what is older then is refused, whenever it was sent.
   */
  async storeRecord(record: CopyRecord, term?: Term): Promise<void> {
    let wasTarget = false;
    await this.state.update(({ record: stored, rebuildId, epoch }) => {
      this.requireUsable();
      this.fencing.require(term);
      if (term !== undefined && record.epoch !== epoch) throw staleEpoch(record.epoch, epoch);
      if (stored !== null && compareRecords(record, stored) < 0) throw staleEpoch(record.epoch, stored.epoch);
      wasTarget = rebuildId !== null;
      return { record, rebuildId: null };
    });
    // The end of a rebuild: it has all that the others have.
    if (wasTarget) this.heldSinceEpoch ??= record.epoch;
  }

  /**
   * Freezes the head under the given name and puts an empty one above it, larger where `sizeBytes` says so. Writes
   * wait meanwhile.
   */
  async snapshot(layer: SnapshotAsk, sizeBytes?: number, ask?: Term & HeadChange): Promise<void> {
    await this.reshapeAs(ask, async () => {
      if (this.meta.layers.some(({ id }) => id === layer.id)) return;
      if (this.fencing.isDone(ask)) return;
      const size = sizeBytes ?? this.meta.sizeBytes;
      await this.flush();
      await this.intent.grow(size);
      const layers = withSnapshot(this.meta.layers, layer, size, ask?.headId);
      await this.state.reshape({ layers, sizeBytes: size });
    });
  }

  /** Takes back a snapshot since which nothing was written here: not all copies have taken it. */
  async unfreeze(layerId: string, ask?: Term & HeadChange): Promise<void> {
    await this.reshapeAs(ask, async () => {
      if (this.fencing.isDone(ask)) return;
      // Taken back already, or never taken here: whatever the head holds belongs to no snapshot of that name.
      if (!this.meta.layers.some(({ id }) => id === layerId)) return;
      if (this.state.chain.head.map.heldBlocks > 0) throw snapshotInUse();
      await this.state.reshape({ layers: withoutFreeze(this.meta.layers, layerId, ask?.headId) });
    });
  }

  /**
   * Puts an empty head on a frozen layer: the device reads as it did when that was frozen.
   *
   * All of it is marked as perhaps different from the other copies first: if everything stops before they have
   * reverted too, they are made equal again.
   */
  async revert(
    layerId: string,
    headId: string,
    ask?: Term & Pick<HeadChange, 'expectedHeadId'> & { revertId?: string | undefined },
  ): Promise<void> {
    await this.reshapeAs(ask, async () => {
      if (this.fencing.isDone({ headId, expectedHeadId: ask?.expectedHeadId })) return;
      await this.intent.mark(0, this.meta.sizeBytes);
      this.intent.changedAll();
      const layers = withRevert(this.meta.layers, layerId, headId);
      await this.state.reshape({ layers, lastRevertId: ask?.revertId ?? null });
    });
  }

  async markRemoved(layerId: string, term?: Term): Promise<void> {
    await this.reshapeAs(term, async () => {
      if (!this.meta.layers.some(({ id }) => id === layerId)) return;
      await this.state.save({ layers: withRemoved(this.meta.layers, layerId) });
    });
  }

  /**
   * Becomes the target of a rebuild: takes the given frozen layers under a new head, each empty or on top of what this
   * copy holds of it already.
   *
   * The metadata says that it is no member before the first old file goes: a crash in between leaves a copy that is
   * rebuilt again.
   */
  async prepare(
    rebuildId: string,
    adopted: readonly Adoption[],
    headParentId: string | null,
    sizeBytes: number,
    ask?: Term & HeadChange & { lastRevertId?: string | null | undefined },
  ): Promise<void> {
    await this.reshapeAs(ask, async () => {
      if (this.isPrepared(rebuildId, headParentId, ask)) return;
      await this.flush();
      await this.intent.grow(sizeBytes);
      const layers = withAdopted(this.meta.layers, adopted, headParentId, sizeBytes, ask?.headId);
      const { lastRevertId = null } = ask ?? {};
      await this.state.reshape({ layers, sizeBytes, rebuildId, record: null, lastRevertId });
    });
  }

  /**
   * True when that very `prepare` has been carried out: the copy may be filled already, so it is not to be done again.
   *
   * @throws StorageFault `replica.state_changed`, `engine.stale_epoch`
   */
  isPrepared(rebuildId: string, headParentId: string | null, ask?: Term & HeadChange): boolean {
    this.fencing.require(ask);
    // Each attempt of a rebuild stands on a snapshot of its own.
    const isSame = this.meta.rebuildId === rebuildId && this.meta.layers.at(-1)?.parentId === headParentId;
    if (ask?.headId === undefined && isSame) return true;
    if (!this.fencing.isDone(ask)) return false;
    // Promoted meanwhile: the copy serves, and the command is long past.
    if (this.meta.rebuildId !== rebuildId) throw stateChanged();
    return true;
  }

  /**
   * One step of taking a removed layer out; see `purge-layer.ts`. Returns where to go on, `null` when nothing is left
   * to do for it now.
   */
  async purge(layerId: string, firstWindow: number, term?: Term): Promise<number | null> {
    // What a rebuild fills is its target's alone until it has ended.
    if (this.meta.rebuildId !== null) return null;
    await this.giveUp(layerId, term);
    const { layers } = this.meta;
    const family = familyOf(layers, layerId);
    const requireSame = () => {
      if (familyOf(this.meta.layers, layerId) !== family) throw stateChanged();
    };
    const besideWrites = (work: () => Promise<void>) =>
      this.besideWrites(term, async () => {
        requireSame();
        await work();
      });
    try {
      const layerIn = (file: string) => this.state.layerIn(file);
      const step = await purgeStep(layers, layerId, firstWindow, layerIn, besideWrites);
      if (step.kind === 'more') return step.next;
      if (step.kind === 'nothing') return null;
      await this.reshapeAs(term, async () => {
        requireSame();
        // Computed from the tree as it is now: layers may have been added above meanwhile.
        await this.state.reshape({ layers: step.apply(this.meta.layers) });
      });
    } catch (error) {
      // Layers were frozen, reverted to or taken out meanwhile. The next purge begins anew with what is there then.
      if (!isFault(error, 'replica.state_changed')) throw error;
    }
    return null;
  }

  /** Marks a layer that a rebuild left: once a purge has begun, its file is not what was frozen, and nobody may revert to it. */
  private async giveUp(layerId: string, term: Term | undefined): Promise<void> {
    const layer = this.state.layerMetadata(layerId);
    if (layer === undefined || layer.removed || !isPurgeable(layer) || layerId === this.headId) return;
    await this.markRemoved(layerId, term);
  }

  /** Notes what a frozen layer's contents came to, and its ranges where they are kept. */
  async noteChecksum(
    layerId: string,
    checksum: LayerChecksum | undefined,
    sums?: RangeSums | undefined,
    term?: Term,
  ): Promise<void> {
    if (checksum !== undefined && sums !== undefined) await this.ranges.store(layerId, checksum, sums);
    await this.reshapeAs(term, async () => {
      // A purge may have put other files in their place since they were hashed.
      const changeTime = checksum && (await this.layer(layerId)?.changeTime());
      if (changeTime !== checksum?.changeTime) return;
      await this.state.save({
        layers: this.meta.layers.map((layer) => (layer.id === layerId ? { ...layer, checksum } : layer)),
      });
    });
  }

  /**
   * The engine knows that all copies are equal: nothing of these regions has to be compared after a crash. What was
   * changed since the engine found that out stays marked, however late this comes. Without a proof all is forgotten.
   */
  async settle(ask?: SettleAsk): Promise<void> {
    if (ask?.marker !== undefined) return this.settleProven(ask.marker, ask.regions ?? [], ask);
    await this.reshapeAs(ask, async () => {
      await this.flush();
      await this.intent.clear();
      this.heldSinceEpoch ??= this.meta.epoch;
    });
  }

  private async settleProven(marker: IntentMarker, regions: readonly RegionRun[], term: Term): Promise<void> {
    let stored: Promise<void> | undefined;
    await this.reshapeAs(term, async () => {
      if (this.intent.changedAfter(this.flushedChanges, regions, marker)) await this.flush();
      stored = this.intent.forget(regions, marker);
    });
    await stored;
    // Of another process it says nothing: that one may have had more.
    if (marker.life === this.intent.marker().life) this.heldSinceEpoch ??= term.epoch;
  }

  /** Closes without a word about other copies; what was written is flushed if the disk lets us. */
  async close(): Promise<void> {
    await this.gate.alone(async () => {
      // A disk that refuses it keeps what it had; whoever opens the copy next finds the marks of what may be missing.
      if (this.failure === undefined) await this.flush().catch(() => undefined);
      this.failure ??= new Error('the copy is closed');
      await this.state.close();
    });
  }

  private async change(
    offset: number,
    lengthBytes: number,
    options: ChangeOptions,
    apply: () => Promise<void>,
  ): Promise<void> {
    if (offset % BLOCK_BYTES !== 0 || lengthBytes % BLOCK_BYTES !== 0) throw unaligned();
    const entering = this.gate.enter();
    if (entering !== undefined) await entering;
    try {
      this.requireUsable();
      // Checked behind the gate: a write that waited there while the copy was fenced belongs to the past.
      this.fencing.requireConnection(options);
      const marking = this.intent.mark(offset, lengthBytes);
      if (marking !== undefined) await marking;
      try {
        await this.apply(offset, offset + lengthBytes, apply);
      } finally {
        this.intent.changed(offset, lengthBytes);
        this.recent.add(offset, lengthBytes);
      }
    } finally {
      this.gate.leave();
    }
    if (options.fua) await this.flush();
  }

  /** A change of the copy as a whole: alone, and only when whoever asked for it still may when its turn has come. */
  private reshapeAs(term: Term | undefined, work: () => Promise<void>): Promise<void> {
    return this.gate.alone(async () => {
      this.requireUsable();
      this.fencing.require(term);
      try {
        await work();
      } catch (error) {
        // A disk that has failed to store something here fails everything from now on, until the copy is opened anew.
        if (this.state.hasFailed) this.onFailed();
        throw error;
      }
    });
  }

  /** A bounded piece of work on frozen layers: users' writes go on, and no change of the layers does. */
  private async besideWrites(term: Term | undefined, work: () => Promise<void>): Promise<void> {
    const entering = this.gate.enter();
    if (entering !== undefined) await entering;
    try {
      this.requireUsable();
      this.fencing.require(term);
      await work();
    } finally {
      this.gate.leave();
    }
  }

  private async apply(start: number, end: number, apply: () => Promise<void>): Promise<void> {
    for (let reader = this.overlap.mayWrite(start, end); reader !== undefined; ) {
      await reader;
      reader = this.overlap.mayWrite(start, end);
    }
    const write = this.overlap.beginWrite(start, end);
    try {
      await apply();
    } finally {
      this.overlap.endWrite(write);
    }
  }

  /** From now on nothing is served, and who is connected is told so at once rather than at the next request. */
  private failed(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = error instanceof Error ? error : new Error(String(error));
    this.onFailed();
  }

  private requireUsable(): void {
    if (this.failure === undefined) return;
    throw new StorageFault('replica.corrupt', {
      publicMessage: `the copy can't be used: ${this.failure.message}`,
      cause: this.failure,
    });
  }
}
