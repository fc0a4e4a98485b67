/**
 * Replica: one copy of one volume, on one disk.
 *
 * After a crash it opens with everything that a FLUSH or FUA had acknowledged, or refuses with `replica.corrupt`.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { compareRecords } from '@holdfast/core/model/copy-record.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { isOutOfSpace } from '../base/system-error.js';
import type { DiskStore } from '../disk/disk-store.js';
import type { OpenDisk } from '../disk/open-disk-store.js';
import type { Chain } from '../layers/chain.js';
import type { Layer } from '../layers/layer.js';
import {
  type Adoption,
  withAdopted,
  withoutFreeze,
  withRemoved,
  withRevert,
  withSnapshot,
} from '../layers/layer-tree.js';
import { familyOf, purgeStep } from '../layers/purge-layer.js';
import type { RangeSums } from '../layers/range-sums.js';
import type { Extent, Payload, WriteOptions, ZeroOptions } from '../nbd/export.js';
import { alignDown, alignUp } from '../protocol/blocks.js';
import type { IntentMarker } from '../protocol/commands.js';
import type { LayerChecksum, SnapshotAsk } from '../protocol/layers.js';
import { isPurgeable } from '../protocol/layers.js';
import { snapshotInUse, staleEpoch, stateChanged, unaligned } from '../protocol/replica-faults.js';
import { type HeadChange, type Opening, type Term } from '../protocol/term.js';
import { CopyFence } from './copy-fence.js';
import type { IntentMap, RegionRun } from './intent-map.js';
import { LayerRanges } from './layer-ranges.js';
import type { ReplicaMetadata } from './metadata.js';
import { ReadWriteOverlap } from './read-write-overlap.js';
import { RecentChanges } from './recent-changes.js';
import { type ReplicaSpec, ReplicaState } from './replica-state.js';
import { WriteGate } from './write-gate.js';

/** Options of a change: the epoch of its connection, and the lease, if the connection has one. */
export type ChangeOptions = WriteOptions & { epoch: number; lease?: number };

/**
 * Proof of an engine that all copies were equal in the regions at one point of this copy's life (`marker`). Without a
 * marker it covers the whole copy, now.
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
  /**
   * Set when the disk failed a flush: its content is then unknown, and nothing is served until the copy is reopened.
   */
  private failure: Error | undefined;
  /** Called when the disk has failed to store something: only reopening the copy shows what it holds. */
  onFailed: () => void = () => undefined;
  private readonly fencing = new CopyFence(() => this.meta);
  /** Number of changes that had ended when the last successful flush began. */
  private flushedChanges = 0;
  /** The epoch since which this process has held the copy with every acknowledged write. */
  private heldSinceEpoch: number | undefined;

  private constructor(private readonly state: ReplicaState) {
    this.intent = state.intent;
    this.ranges = new LayerRanges(state);
    state.onFailed = () => this.onFailed();
  }

  /** Creates a copy; an existing one is left as it is. */
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

  /** True after the disk has failed to store something: only reopening the copy shows what it holds. */
  get hasFailed(): boolean {
    return this.failure !== undefined || this.state.hasFailed;
  }

  get diskKind(): DiskStore['kind'] {
    return this.state.diskKind;
  }

  /** False while write-intent marks are set: regions may differ from the other copies. */
  get isClean(): boolean {
    return this.intent.isEmpty;
  }

  /**
   * True if this process has held the copy throughout the attachment that its record names: it then also has
   * acknowledged writes that no flush has covered. A copy whose process died has only what was flushed.
   */
  get isKept(): boolean {
    const { record } = this.meta;
    return record !== null && this.heldSinceEpoch !== undefined && this.heldSinceEpoch <= record.epoch;
  }

  /**
   * Allocated bytes, for space accounting. Blocks that several layers hold count more than once, so the sum is
   * capped.
   */
  get writtenBytes(): number {
    return Math.min(this.meta.sizeBytes, this.state.chain.heldBytes);
  }

  get device(): Chain {
    return this.state.chain;
  }

  intentRegions(): RegionRun[] {
    return this.intent.runs();
  }

  /**
   * Changes that another copy may not have durably, as far as this process knows; `undefined` if too many to list.
   */
  recentChanges(): [stretch: number, blocks: number][] | undefined {
    return this.recent.list();
  }

  /** Flushes for the engine, whose flushes are ordered: its previous one has ended on every copy. */
  async flushForEngine(lease: number): Promise<void> {
    if (lease === this.lease) this.recent.flushing();
    await this.flush();
  }

  /** A marker of this moment, for a later `settle`. */
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

  /** The cached content, without waiting; `undefined` if some bytes are not cached. */
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
      // Not final: a full disk refuses before anything is lost, and a retry may succeed.
      if (!isOutOfSpace(error)) this.failed(error);
      throw error;
    }
  }

  /**
   * Fences the copy: durably refuses lower epochs from now on, and all but one grant of this one. Earlier changes
   * have ended when it resolves. Compared inside the gate, so that of two concurrent fences the higher one wins.
   *
   * `afresh`: old writes and commands of the engine may still be buffered for a copy that it had dropped; after a
   * rebuild they would overwrite newer data.
   *
   * @returns the lease for the engine's commands, and whether the previous opener's connections have to be cut
   */
  fence(epoch: number, opening: Opening = {}): Promise<{ lease: number; replaces: boolean }> {
    return this.gate.alone(async () => {
      this.requireUsable();
      this.fencing.requireMayOpen(epoch, opening);
      const { grantId } = opening;
      const isNewer = epoch > this.meta.epoch;
      if (isNewer) await this.state.save({ epoch, grantId: grantId ?? null });
      else if (grantId !== undefined && grantId !== this.meta.grantId) await this.state.save({ grantId });
      // A marked copy may lack unflushed writes that an earlier process of it had acknowledged.
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

  /** @throws StorageFault `engine.stale_epoch` for a command of an engine that was replaced by a newer one */
  requireTerm(term: Term): void {
    this.fencing.require(term);
  }

  /** Refuses all changes on earlier connections, even of the same epoch; see `fence`. */
  async renewLease(): Promise<void> {
    await this.gate.alone(async () => this.fencing.renewLease());
  }

  /**
   * Stores a record, unless it is older than the stored one and so comes from a replaced engine. Compared at the
   * moment of storing, so that the order of arrival does not matter.
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
    // The end of a rebuild: the copy has everything that the others have.
    if (wasTarget) this.heldSinceEpoch ??= record.epoch;
  }

  /**
   * Freezes the head under the given name and puts an empty one above it, larger if `sizeBytes` says so. Writes wait
   * meanwhile.
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

  /** Rolls back a snapshot since which nothing was written here, because not all copies have taken it. */
  async unfreeze(layerId: string, ask?: Term & HeadChange): Promise<void> {
    await this.reshapeAs(ask, async () => {
      if (this.fencing.isDone(ask)) return;
      // Already rolled back, or never taken here: the head's content belongs to no snapshot of that name.
      if (!this.meta.layers.some(({ id }) => id === layerId)) return;
      if (this.state.chain.head.map.heldBlocks > 0) throw snapshotInUse();
      await this.state.reshape({ layers: withoutFreeze(this.meta.layers, layerId, ask?.headId) });
    });
  }

  /**
   * Puts an empty head on a frozen layer: the device reads as it did when that was frozen.
   *
   * First marks the whole write-intent map: if everything stops before the other copies have reverted too, a resync
   * makes them equal again.
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
   * Makes the copy a rebuild target: takes the given frozen layers under a new head, each empty or on top of what
   * this copy already holds of it.
   *
   * The metadata says that the copy is no member before the first old file is removed: after a crash in between it is
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
   * Idempotency: true if that very `prepare` has already run. The copy may be filled already, so it must not run
   * again.
   *
   * @throws StorageFault `replica.state_changed`, `engine.stale_epoch`
   */
  isPrepared(rebuildId: string, headParentId: string | null, ask?: Term & HeadChange): boolean {
    this.fencing.require(ask);
    // Each attempt of a rebuild has a snapshot of its own as the head's parent.
    const isSame = this.meta.rebuildId === rebuildId && this.meta.layers.at(-1)?.parentId === headParentId;
    if (ask?.headId === undefined && isSame) return true;
    if (!this.fencing.isDone(ask)) return false;
    // Promoted meanwhile: the copy is current, and the command is late.
    if (this.meta.rebuildId !== rebuildId) throw stateChanged();
    return true;
  }

  /**
   * One step of a purge; see `purge-layer.ts`. Returns where to continue, `null` when nothing is left to do for now.
   */
  async purge(layerId: string, firstWindow: number, term?: Term): Promise<number | null> {
    // Until a rebuild ends, only the rebuild may change its target's layers.
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
        // Computed from the current tree: layers may have been added above meanwhile.
        await this.state.reshape({ layers: step.apply(this.meta.layers) });
      });
    } catch (error) {
      // Layers were frozen, reverted to or removed meanwhile. The next purge starts over with the current ones.
      if (!isFault(error, 'replica.state_changed')) throw error;
    }
    return null;
  }

  /**
   * Marks a layer that a rebuild left as deleted: once a purge has begun, its file is not what was frozen, and a
   * revert to it must be refused.
   */
  private async giveUp(layerId: string, term: Term | undefined): Promise<void> {
    const layer = this.state.layerMetadata(layerId);
    if (layer === undefined || layer.removed || !isPurgeable(layer) || layerId === this.headId) return;
    await this.markRemoved(layerId, term);
  }

  /** Stores the checksum of a frozen layer's content, and of its ranges if this disk keeps them. */
  async noteChecksum(
    layerId: string,
    checksum: LayerChecksum | undefined,
    sums?: RangeSums | undefined,
    term?: Term,
  ): Promise<void> {
    if (checksum !== undefined && sums !== undefined) await this.ranges.store(layerId, checksum, sums);
    await this.reshapeAs(term, async () => {
      // A purge may have replaced the layer's files since they were hashed.
      const changeTime = checksum && (await this.layer(layerId)?.changeTime());
      if (changeTime !== checksum?.changeTime) return;
      await this.state.save({
        layers: this.meta.layers.map((layer) => (layer.id === layerId ? { ...layer, checksum } : layer)),
      });
    });
  }

  /**
   * Clears write-intent marks: the engine has proof that all copies are equal in these regions, so that a crash needs
   * no resync of them. Regions changed since the proof's marker stay marked, however late this comes. Without a proof
   * all marks are cleared.
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
    // A marker of another process proves nothing here: that process may have had more.
    if (marker.life === this.intent.marker().life) this.heldSinceEpoch ??= term.epoch;
  }

  /** Closes without a word about other copies; flushes first, if the disk allows it. */
  async close(): Promise<void> {
    await this.gate.alone(async () => {
      // Errors are ignored: the write-intent marks stay, and tell the next opener what may be missing.
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
      // Checked behind the gate: a write that queued there while the copy was fenced must be refused.
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

  /** Changes the copy as a whole: exclusively, and only if the caller's term is still valid when its turn comes. */
  private reshapeAs(term: Term | undefined, work: () => Promise<void>): Promise<void> {
    return this.gate.alone(async () => {
      this.requireUsable();
      this.fencing.require(term);
      try {
        await work();
      } catch (error) {
        // A disk that failed to store something fails everything from now on, until the copy is reopened.
        if (this.state.hasFailed) this.onFailed();
        throw error;
      }
    });
  }

  /** A bounded piece of work on frozen layers: concurrent with users' writes, exclusive with layer changes. */
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

  /** Stops serving, and tells connected engines at once rather than at their next request. */
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
