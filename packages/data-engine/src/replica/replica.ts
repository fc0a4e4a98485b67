/**
 * One copy of one volume, on one disk.
 *
 * After a crash it opens with everything that a FLUSH or FUA had acknowledged, or refuses with `replica.corrupt`.
 * Each change of the copy's files is one atomic replacement of its metadata: files that the metadata does not name are
 * leftovers and are removed at the next open.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { compareRecords } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { RangeSums } from '../integrity/range-sums.js';
import type { Extent, Payload, WriteOptions, ZeroOptions } from '../nbd/export.js';
import type { Chain } from './chain.js';
import type { LayerChecksum, SnapshotAsk } from './commands.js';
import type { CopyFiles, DiskStore } from './disk-store.js';
import { INTENT_FILE, IntentMap, type RegionRun } from './intent-map.js';
import { Layer, layerFiles, sumsFile } from './layer.js';
import { LayerStore } from './layer-store.js';
import {
  type Adoption,
  chainUpTo,
  newHead,
  withAdopted,
  withoutFreeze,
  withRemoved,
  withRevert,
  withSnapshot,
} from './layer-tree.js';
import { loadMetadata, type ReplicaMetadata, saveMetadata } from './metadata.js';
import { openDiskStore } from './open-disk-store.js';
import { purgeStep } from './purge-layer.js';
import { snapshotInUse, staleEpoch, unaligned } from './replica-faults.js';
import { SharedFlush } from './shared-flush.js';
import { loadRangeSums, storeRangeSums } from './stored-range-sums.js';
import { WriteGate } from './write-gate.js';

export type ReplicaSpec = Pick<
  ReplicaMetadata,
  'replicaId' | 'volumeId' | 'diskId' | 'sizeBytes' | 'secret' | 'record'
>;

/** Every change names the epoch of the connection it came on, and the lease, where it came on one. */
export type ChangeOptions = WriteOptions & { epoch: number; lease?: number };

export class Replica {
  private readonly gate = new WriteGate();
  private readonly flushes = new SharedFlush(() => this.store.chain.head.flush());
  /** Set when the disk failed a flush: nobody knows what it holds then, so nothing is served any more. */
  private failure: Error | undefined;
  private saving: Promise<void> = Promise.resolve();
  private summing: Promise<unknown> = Promise.resolve();
  /** Grows when an engine begins anew with this copy: what came on an earlier connection counts no more. */
  private currentLease = 0;
  /** The epoch since which this very process has held the copy with nothing missing of what was acknowledged. */
  private heldSinceEpoch: number | undefined;

  private constructor(
    private readonly disk: DiskStore,
    private readonly files: CopyFiles,
    private meta: ReplicaMetadata,
    private readonly store: LayerStore,
    private readonly intent: IntentMap,
  ) {}

  /** Makes a new one; one that exists already is left as it is. */
  static async create(diskPath: string, spec: ReplicaSpec): Promise<void> {
    const head = newHead(null, spec.sizeBytes);
    const disk = await openDiskStore(diskPath);
    try {
      await disk.create(spec.replicaId, async (files) => {
        const layer = await Layer.create(files, head.file, spec.sizeBytes);
        await layer.close();
        const intent = await IntentMap.create(files, spec.sizeBytes);
        await intent.close();
        await saveMetadata(files, { ...spec, epoch: 0, rebuildId: null, layers: [head] });
      });
    } finally {
      await disk.close();
    }
  }

  static async open(diskPath: string, replicaId: string): Promise<Replica> {
    const opened: { close(): Promise<void> }[] = [];
    const take = <T extends { close(): Promise<void> }>(one: T): T => {
      opened.unshift(one);
      return one;
    };
    try {
      const disk = take(await openDiskStore(diskPath));
      const files = take(await disk.open(replicaId));
      const meta = await loadMetadata(files);
      await files.keepOnly(filesOf(meta));
      const intent = take(await IntentMap.open(files, meta.sizeBytes));
      return new Replica(disk, files, meta, await LayerStore.open(files, meta.layers), intent);
    } catch (error) {
      for (const one of opened) await one.close();
      throw error;
    }
  }

  get metadata(): ReplicaMetadata {
    return this.meta;
  }

  get sizeBytes(): number {
    return this.meta.sizeBytes;
  }

  get diskKind(): DiskStore['kind'] {
    return this.disk.kind;
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
    return Math.min(this.meta.sizeBytes, this.store.chain.heldBytes);
  }

  get device(): Chain {
    return this.store.chain;
  }

  intentRegions(): RegionRun[] {
    return this.intent.runs();
  }

  layer(layerId: string): Layer | undefined {
    const found = this.meta.layers.find(({ id }) => id === layerId);
    return found && this.store.layerIn(found.file);
  }

  /** The device as it read when the layer was frozen. */
  chainUpTo(layerId: string): Chain {
    return this.store.chainOf(chainUpTo(this.meta.layers, layerId));
  }

  async read(offset: number, lengthBytes: number): Promise<Payload> {
    this.requireUsable();
    return this.store.chain.read(offset, lengthBytes);
  }

  /** What is in memory of it, at once; `undefined` when that is not all. */
  readNow(offset: number, lengthBytes: number): Payload | undefined {
    this.requireUsable();
    return this.store.chain.readNow(offset, lengthBytes);
  }

  write(offset: number, payload: Payload, lengthBytes: number, options: ChangeOptions): Promise<void> {
    return this.change(offset, lengthBytes, options, () =>
      this.store.chain.head.write(payload, offset, lengthBytes),
    );
  }

  writeZeroes(offset: number, lengthBytes: number, options: ChangeOptions & ZeroOptions): Promise<void> {
    return this.change(offset, lengthBytes, options, () => {
      // Over older layers zeros are data: the head has to hold them, or the older data would show through.
      const held = this.store.chain.layers.length > 1 || !options.mayPunch;
      return this.store.chain.head.zero(offset, lengthBytes, options.mayPunch, held);
    });
  }

  extents(offset: number, lengthBytes: number, extentsMax: number): Extent[] {
    return this.store.chain.extents(offset, lengthBytes, extentsMax);
  }

  async flush(): Promise<void> {
    this.requireUsable();
    try {
      await this.flushes.run();
    } catch (error) {
      this.failure ??= error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  }

  /** Refuses everything below this epoch from now on, durably. Writes of the old epoch have ended when it returns. */
  async fence(epoch: number): Promise<void> {
    if (epoch < this.meta.epoch) throw staleEpoch(epoch, this.meta.epoch);
    if (epoch > this.meta.epoch) await this.gate.alone(() => this.save({ epoch }));
    // One that is marked may lack what another process of it had and no flush had covered.
    if (this.isClean) this.heldSinceEpoch ??= epoch;
  }

  get lease(): number {
    return this.currentLease;
  }

  /**
   * Refuses all changes on connections from before, of the same epoch too. A copy that an engine had dropped may still
   * have old writes of it in its buffers; after a rebuild they would go over newer data.
   */
  async renewLease(): Promise<void> {
    await this.gate.alone(async () => {
      this.currentLease += 1;
    });
  }

  /** A record older than the stored one comes from an engine that something newer has replaced. */
  async storeRecord(record: CopyRecord): Promise<void> {
    const { record: stored } = this.meta;
    if (stored !== null && compareRecords(record, stored) < 0) throw staleEpoch(record.epoch, stored.epoch);
    // The end of a rebuild: it has all that the others have.
    if (this.meta.rebuildId !== null) this.heldSinceEpoch ??= record.epoch;
    await this.save({ record, rebuildId: null });
  }

  /**
   * Freezes the head under the given name and puts an empty one above it, larger where `sizeBytes` says so. Writes
   * wait meanwhile.
   */
  async snapshot(layer: SnapshotAsk, sizeBytes = this.meta.sizeBytes): Promise<void> {
    if (this.meta.layers.some(({ id }) => id === layer.id)) return;
    await this.gate.alone(async () => {
      await this.flush();
      await this.intent.grow(sizeBytes);
      await this.reshape({ layers: withSnapshot(this.meta.layers, layer, sizeBytes), sizeBytes });
    });
  }

  /** Takes back a snapshot since which nothing was written here: not all copies have taken it. */
  async unfreeze(layerId: string): Promise<void> {
    await this.gate.alone(async () => {
      if (this.store.chain.head.map.heldBlocks > 0) throw snapshotInUse();
      await this.reshape({ layers: withoutFreeze(this.meta.layers, layerId) });
    });
  }

  /**
   * Puts an empty head on a frozen layer: the device reads as it did when that was frozen.
   *
   * All of it is marked as perhaps different from the other copies first: if everything stops before they have
   * reverted too, they are made equal again.
   */
  async revert(layerId: string, headId: string): Promise<void> {
    await this.gate.alone(async () => {
      if (this.meta.layers.at(-1)?.id === headId) return;
      await this.intent.mark(0, this.meta.sizeBytes);
      await this.reshape({ layers: withRevert(this.meta.layers, layerId, headId) });
    });
  }

  async markRemoved(layerId: string): Promise<void> {
    if (!this.meta.layers.some(({ id }) => id === layerId)) return;
    await this.gate.alone(() => this.save({ layers: withRemoved(this.meta.layers, layerId) }));
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
  ): Promise<void> {
    await this.gate.alone(async () => {
      await this.flush();
      await this.intent.grow(sizeBytes);
      const layers = withAdopted(this.meta.layers, adopted, headParentId, sizeBytes);
      await this.reshape({ layers, sizeBytes, rebuildId, record: null });
    });
  }

  /**
   * One step of taking a removed layer out; see `purge-layer.ts`. Returns where to go on, `null` when nothing is left
   * to do for it now.
   */
  async purge(layerId: string, firstWindow: number): Promise<number | null> {
    const step = await purgeStep(this.meta.layers, layerId, firstWindow, (file) => this.store.require(file));
    if (step.kind === 'more') return step.next;
    if (step.kind === 'nothing') return null;
    await this.gate.alone(async () => {
      // Computed from the tree as it is now: layers may have been added above meanwhile.
      await this.reshape({ layers: step.apply(this.meta.layers) });
    });
    return null;
  }

  /** Notes what a frozen layer's contents came to, and its ranges where they are kept. */
  async noteChecksum(
    layerId: string,
    checksum: LayerChecksum | undefined,
    sums?: RangeSums | undefined,
  ): Promise<void> {
    const file = this.meta.layers.find(({ id }) => id === layerId)?.file;
    if (file !== undefined && checksum !== undefined && sums !== undefined) {
      await this.oneAtATime(() => storeRangeSums(this.files, sumsFile(file), checksum, sums));
    }
    await this.gate.alone(() =>
      this.save({
        layers: this.meta.layers.map((layer) => (layer.id === layerId ? { ...layer, checksum } : layer)),
      }),
    );
  }

  /** For whoever hashes a layer: on a disk where the ranges of layers have checksums of their own. */
  newRangeSums(sizeBytes: number): RangeSums | undefined {
    return this.diskKind === 'block' ? new RangeSums(sizeBytes) : undefined;
  }

  /** True when nothing is missing that hashing the layer would bring. */
  async hasRangeSums(layerId: string): Promise<boolean> {
    return this.diskKind === 'filesystem' || (await this.rangeSums(layerId, 0, 1)) !== undefined;
  }

  /** Checksums of some ranges of a frozen layer; `undefined` when there are none for its files as they are. */
  async rangeSums(layerId: string, first: number, count: number): Promise<Buffer | undefined> {
    const metadata = this.meta.layers.find(({ id }) => id === layerId);
    const layer = metadata && this.store.layerIn(metadata.file);
    if (metadata?.checksum === undefined || layer === undefined) return undefined;
    const { file, checksum } = metadata;
    if ((await layer.changeTime()) !== checksum.changeTime) return undefined;
    return this.oneAtATime(() => loadRangeSums(this.files, sumsFile(file), checksum, first, count));
  }

  /** The engine knows that all copies are equal and flushed: nothing has to be compared after a crash. */
  async settle(): Promise<void> {
    await this.gate.alone(async () => {
      await this.flush();
      await this.intent.clear();
      this.heldSinceEpoch ??= this.meta.epoch;
    });
  }

  /** Closes without a word about other copies; what was written is flushed if the disk lets us. */
  async close(): Promise<void> {
    await this.gate.alone(async () => {
      if (this.failure === undefined) await this.flush();
      this.failure ??= new Error('the copy is closed');
      await Promise.all([this.intent.close(), this.store.close()]);
      await this.files.close();
      await this.disk.close();
    });
  }

  private async change(
    offset: number,
    lengthBytes: number,
    { fua, epoch, lease = this.currentLease }: ChangeOptions,
    apply: () => Promise<void>,
  ): Promise<void> {
    if (offset % BLOCK_BYTES !== 0 || lengthBytes % BLOCK_BYTES !== 0) throw unaligned();
    const entering = this.gate.enter();
    if (entering !== undefined) await entering;
    try {
      this.requireUsable();
      // Checked behind the gate: a write that waited there while the copy was fenced belongs to the past.
      if (epoch !== this.meta.epoch) throw staleEpoch(epoch, this.meta.epoch);
      if (lease !== this.currentLease) throw staleEpoch(epoch, this.meta.epoch);
      const marking = this.intent.mark(offset, lengthBytes);
      if (marking !== undefined) await marking;
      await apply();
    } finally {
      this.gate.leave();
    }
    if (fua) await this.flush();
  }

  /** Makes the files be what the layers say. Nothing may be written meanwhile. */
  private async reshape(change: Pick<ReplicaMetadata, 'layers'> & Partial<ReplicaMetadata>): Promise<void> {
    await this.store.change(change.layers, () => this.save(change));
    await this.files.keepOnly(filesOf(this.meta));
  }

  private requireUsable(): void {
    if (this.failure === undefined) return;
    throw new StorageFault('replica.corrupt', {
      publicMessage: `the copy can't be used: ${this.failure.message}`,
      cause: this.failure,
    });
  }

  /** A file of checksums is opened by one at a time. */
  private oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.summing.then(work, work);
    this.summing = mine.catch(() => undefined);
    return mine;
  }

  /** One at a time, each on top of the one before: two at once could undo each other's change. */
  private save(change: Partial<ReplicaMetadata>): Promise<void> {
    const saved = this.saving.then(async () => {
      const next = { ...this.meta, ...change };
      await saveMetadata(this.files, next);
      this.meta = next;
    });
    this.saving = saved.catch(() => undefined);
    return saved;
  }
}

/** All files that the metadata knows of: others are leftovers. */
function filesOf({ layers }: ReplicaMetadata): ReadonlySet<string> {
  return new Set([INTENT_FILE, ...layers.flatMap(({ file }) => layerFiles(file))]);
}
