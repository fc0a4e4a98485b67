/**
 * One copy of one volume, on one disk.
 *
 * After a crash it opens with everything that a FLUSH or FUA had acknowledged, or refuses with `replica.corrupt`.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { compareRecords } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { RangeSums } from '../integrity/range-sums.js';
import type { Extent, Payload, WriteOptions, ZeroOptions } from '../nbd/export.js';
import type { Chain } from './chain.js';
import type { LayerChecksum, SnapshotAsk } from './commands.js';
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
import { purgeStep } from './purge-layer.js';
import { snapshotInUse, staleEpoch, unaligned } from './replica-faults.js';
import { type ReplicaSpec, ReplicaState } from './replica-state.js';
import { SharedFlush } from './shared-flush.js';
import { WriteGate } from './write-gate.js';

/** Every change names the epoch of the connection it came on, and the lease, where it came on one. */
export type ChangeOptions = WriteOptions & { epoch: number; lease?: number };

export class Replica {
  readonly ranges: LayerRanges;
  private readonly intent: IntentMap;
  private readonly gate = new WriteGate();
  private readonly flushes = new SharedFlush(() => this.state.chain.head.flush());
  /** Set when the disk failed a flush: nobody knows what it holds then, so nothing is served any more. */
  private failure: Error | undefined;
  /** Grows when an engine begins anew with this copy: what came on an earlier connection counts no more. */
  private currentLease = 0;
  /** The epoch since which this very process has held the copy with nothing missing of what was acknowledged. */
  private heldSinceEpoch: number | undefined;

  private constructor(private readonly state: ReplicaState) {
    this.intent = state.intent;
    this.ranges = new LayerRanges(state);
  }

  /** Makes a new one; one that exists already is left as it is. */
  static create(diskPath: string, spec: ReplicaSpec): Promise<void> {
    return ReplicaState.create(diskPath, spec);
  }

  static async open(diskPath: string, replicaId: string): Promise<Replica> {
    return new Replica(await ReplicaState.open(diskPath, replicaId));
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

  layer(layerId: string): Layer | undefined {
    return this.state.layer(layerId);
  }

  /** The device as it read when the layer was frozen. */
  chainUpTo(layerId: string): Chain {
    return this.state.chainUpTo(layerId);
  }

  async read(offset: number, lengthBytes: number): Promise<Payload> {
    this.requireUsable();
    return this.state.chain.read(offset, lengthBytes);
  }

  /** What is in memory of it, at once; `undefined` when that is not all. */
  readNow(offset: number, lengthBytes: number): Payload | undefined {
    this.requireUsable();
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
    if (epoch > this.meta.epoch) await this.gate.alone(() => this.state.save({ epoch }));
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
    await this.state.save({ record, rebuildId: null });
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
      await this.state.reshape({ layers: withSnapshot(this.meta.layers, layer, sizeBytes), sizeBytes });
    });
  }

  /** Takes back a snapshot since which nothing was written here: not all copies have taken it. */
  async unfreeze(layerId: string): Promise<void> {
    await this.gate.alone(async () => {
      if (this.state.chain.head.map.heldBlocks > 0) throw snapshotInUse();
      await this.state.reshape({ layers: withoutFreeze(this.meta.layers, layerId) });
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
      await this.state.reshape({ layers: withRevert(this.meta.layers, layerId, headId) });
    });
  }

  async markRemoved(layerId: string): Promise<void> {
    if (!this.meta.layers.some(({ id }) => id === layerId)) return;
    await this.gate.alone(() => this.state.save({ layers: withRemoved(this.meta.layers, layerId) }));
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
      await this.state.reshape({ layers, sizeBytes, rebuildId, record: null });
    });
  }

  /**
   * One step of taking a removed layer out; see `purge-layer.ts`. Returns where to go on, `null` when nothing is left
   * to do for it now.
   */
  async purge(layerId: string, firstWindow: number): Promise<number | null> {
    const step = await purgeStep(this.meta.layers, layerId, firstWindow, (file) => this.state.layerIn(file));
    if (step.kind === 'more') return step.next;
    if (step.kind === 'nothing') return null;
    await this.gate.alone(async () => {
      // Computed from the tree as it is now: layers may have been added above meanwhile.
      await this.state.reshape({ layers: step.apply(this.meta.layers) });
    });
    return null;
  }

  /** Notes what a frozen layer's contents came to, and its ranges where they are kept. */
  async noteChecksum(
    layerId: string,
    checksum: LayerChecksum | undefined,
    sums?: RangeSums | undefined,
  ): Promise<void> {
    if (checksum !== undefined && sums !== undefined) await this.ranges.store(layerId, checksum, sums);
    await this.gate.alone(() =>
      this.state.save({
        layers: this.meta.layers.map((layer) => (layer.id === layerId ? { ...layer, checksum } : layer)),
      }),
    );
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
      await this.state.close();
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

  private requireUsable(): void {
    if (this.failure === undefined) return;
    throw new StorageFault('replica.corrupt', {
      publicMessage: `the copy can't be used: ${this.failure.message}`,
      cause: this.failure,
    });
  }
}
