/**
 * One copy of one volume, in one directory.
 *
 * After a crash it opens with everything that a FLUSH or FUA had acknowledged, or refuses with `replica.corrupt`.
 * Each change of the directory is one atomic replacement of its metadata: files that the metadata does not name are
 * leftovers and are removed at the next open.
 */
import crypto from 'node:crypto';
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { compareRecords } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { Extent, Payload, WriteOptions, ZeroOptions } from '../nbd/export.js';
import { Chain } from './chain.js';
import { syncDirectory } from './durable-file.js';
import { IntentMap, type RegionRun } from './intent-map.js';
import { Layer } from './layer.js';
import { mergeStep } from './merge-layer.js';
import { type LayerMetadata, loadMetadata, type ReplicaMetadata, saveMetadata } from './metadata.js';
import { LAYERS_MAX, staleEpoch, tooManyLayers, unaligned } from './replica-faults.js';
import { intentPath, makeReplicaDirectory, removeStrayFiles, replicaDirectory } from './replica-files.js';
import { SharedFlush } from './shared-flush.js';
import { WriteGate } from './write-gate.js';

export type ReplicaSpec = Pick<
  ReplicaMetadata,
  'replicaId' | 'volumeId' | 'diskId' | 'sizeBytes' | 'secret' | 'record'
>;

/** Every change names the epoch of the connection it came on. */
export type ChangeOptions = WriteOptions & { epoch: number };

export class Replica {
  private readonly gate = new WriteGate();
  private readonly flushes = new SharedFlush(() => this.chain.head.flush());
  /** Set when the disk failed a flush: nobody knows what it holds then, so nothing is served any more. */
  private failure: Error | undefined;
  private saving: Promise<void> = Promise.resolve();
  /** The first epoch at which this very process has opened the copy. */
  private heldSinceEpoch: number | undefined;

  private constructor(
    readonly directory: string,
    private meta: ReplicaMetadata,
    private chain: Chain,
    private readonly intent: IntentMap,
  ) {}

  /** Makes the directory; one that exists already is left as it is. */
  static async create(diskPath: string, spec: ReplicaSpec): Promise<void> {
    const head = newHead();
    await makeReplicaDirectory(diskPath, spec.replicaId, async (directory) => {
      const layer = await Layer.create(directory, head.file, spec.sizeBytes);
      await layer.close();
      const intent = await IntentMap.create(intentPath(directory), spec.sizeBytes);
      await intent.close();
      await saveMetadata(directory, { ...spec, epoch: 0, rebuildId: null, layers: [head] });
    });
  }

  static async open(diskPath: string, replicaId: string): Promise<Replica> {
    const directory = replicaDirectory(diskPath, replicaId);
    const meta = await loadMetadata(directory);
    await removeStrayFiles(directory, meta);
    const intent = await IntentMap.open(intentPath(directory), meta.sizeBytes);
    const layers: Layer[] = [];
    try {
      for (const { file } of meta.layers) layers.push(await Layer.open(directory, file, meta.sizeBytes));
    } catch (error) {
      await Promise.all([intent.close(), ...layers.map((layer) => layer.close())]);
      throw error;
    }
    return new Replica(directory, meta, new Chain(layers), intent);
  }

  get metadata(): ReplicaMetadata {
    return this.meta;
  }

  get sizeBytes(): number {
    return this.meta.sizeBytes;
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
    return Math.min(this.meta.sizeBytes, this.chain.heldBytes);
  }

  get device(): Chain {
    return this.chain;
  }

  intentRegions(): RegionRun[] {
    return this.intent.runs();
  }

  layer(layerId: string): Layer | undefined {
    return this.chain.layers[this.meta.layers.findIndex(({ id }) => id === layerId)];
  }

  async read(offset: number, lengthBytes: number): Promise<Payload> {
    this.requireUsable();
    return [await this.chain.read(offset, lengthBytes)];
  }

  write(offset: number, payload: Payload, lengthBytes: number, options: ChangeOptions): Promise<void> {
    return this.change(offset, lengthBytes, options, () =>
      this.chain.head.write(payload, offset, lengthBytes),
    );
  }

  writeZeroes(offset: number, lengthBytes: number, options: ChangeOptions & ZeroOptions): Promise<void> {
    return this.change(offset, lengthBytes, options, () => {
      // Over older layers zeros are data: the head has to hold them, or the older data would show through.
      const held = this.chain.layers.length > 1 || !options.mayPunch;
      return this.chain.head.zero(offset, lengthBytes, options.mayPunch, held);
    });
  }

  extents(offset: number, lengthBytes: number, extentsMax: number): Extent[] {
    return this.chain.extents(offset, lengthBytes, extentsMax);
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
    this.heldSinceEpoch ??= epoch;
  }

  /** A record older than the stored one comes from an engine that something newer has replaced. */
  async storeRecord(record: CopyRecord): Promise<void> {
    const { record: stored } = this.meta;
    if (stored !== null && compareRecords(record, stored) < 0) throw staleEpoch(record.epoch, stored.epoch);
    await this.save({ record, rebuildId: null });
  }

  /** Freezes the head under the given name and puts an empty one above it. Writes wait meanwhile. */
  async snapshot(layer: Pick<LayerMetadata, 'id' | 'name' | 'origin'>): Promise<void> {
    if (this.meta.layers.some(({ id }) => id === layer.id)) return;
    if (this.meta.layers.length >= LAYERS_MAX) throw tooManyLayers();
    await this.gate.alone(async () => {
      await this.flush();
      const head = newHead();
      const next = await Layer.create(this.directory, head.file, this.meta.sizeBytes);
      await syncDirectory(this.directory);
      const frozen = this.meta.layers.map((old, index) =>
        index === this.meta.layers.length - 1 ? { ...layer, file: old.file } : old,
      );
      await this.save({ layers: [...frozen, head] });
      this.chain = new Chain([...this.chain.layers, next]);
    });
  }

  /**
   * Forgets everything the copy held and takes the given frozen layers, all empty, under a new head.
   *
   * The metadata says so before the first old file goes: a crash in between leaves a copy that is no member.
   */
  async startOver(rebuildId: string, frozen: readonly Omit<LayerMetadata, 'file'>[]): Promise<void> {
    if (frozen.length >= LAYERS_MAX) throw tooManyLayers();
    await this.gate.alone(async () => {
      const old = this.chain.layers;
      const layers = [...frozen.map((layer) => ({ ...layer, file: crypto.randomUUID() })), newHead()];
      const fresh: Layer[] = [];
      for (const { file } of layers)
        fresh.push(await Layer.create(this.directory, file, this.meta.sizeBytes));
      await syncDirectory(this.directory);
      await this.save({ layers, rebuildId, record: null });
      this.chain = new Chain(fresh);
      await Promise.all(old.map((layer) => layer.close()));
      await removeStrayFiles(this.directory, this.meta);
    });
  }

  /**
   * One step of merging a frozen layer into the system layer beneath it; see `merge-layer.ts`. Returns where to go
   * on, `null` when the two are one, under the newer one's name.
   */
  async mergeDown(layerId: string, firstWindow: number): Promise<number | null> {
    const { layers } = this.meta;
    const index = layers.findIndex(({ id }) => id === layerId);
    const beneath = layers[index - 1];
    const newer = this.chain.layers[index];
    const older = this.chain.layers[index - 1];
    if (beneath?.origin !== 'system' || index === layers.length - 1) return null;
    if (newer === undefined || older === undefined) return null;

    const next = await mergeStep({ older, newer, isLowest: index === 1 }, firstWindow);
    if (next !== undefined) return next;
    await older.flush();
    await this.gate.alone(async () => {
      // Looked up again: layers may have been added above meanwhile.
      const merged = this.meta.layers
        .filter((layer) => layer !== beneath)
        .map((layer) => (layer.id === layerId ? { ...layer, file: beneath.file } : layer));
      await this.save({ layers: merged });
      this.chain = new Chain(this.chain.layers.filter((layer) => layer !== newer));
      await newer.close();
      await removeStrayFiles(this.directory, this.meta);
    });
    return null;
  }

  /** The engine knows that all copies are equal and flushed: nothing has to be compared after a crash. */
  async settle(): Promise<void> {
    await this.gate.alone(async () => {
      await this.flush();
      await this.intent.clear();
    });
  }

  /** Closes without a word about other copies; what was written is flushed if the disk lets us. */
  async close(): Promise<void> {
    await this.gate.alone(async () => {
      if (this.failure === undefined) await this.flush();
      this.failure ??= new Error('the copy is closed');
      await Promise.all([this.intent.close(), ...this.chain.layers.map((layer) => layer.close())]);
    });
  }

  private async change(
    offset: number,
    lengthBytes: number,
    { fua, epoch }: ChangeOptions,
    apply: () => Promise<void>,
  ): Promise<void> {
    if (offset % BLOCK_BYTES !== 0 || lengthBytes % BLOCK_BYTES !== 0) throw unaligned();
    await this.gate.shared(async () => {
      this.requireUsable();
      // Checked behind the gate: a write that waited there while the copy was fenced belongs to the past.
      if (epoch !== this.meta.epoch) throw staleEpoch(epoch, this.meta.epoch);
      await this.intent.mark(offset, lengthBytes);
      await apply();
    });
    if (fua) await this.flush();
  }

  private requireUsable(): void {
    if (this.failure === undefined) return;
    throw new StorageFault('replica.corrupt', {
      publicMessage: `the copy can't be used: ${this.failure.message}`,
      cause: this.failure,
    });
  }

  /** One at a time, each on top of the one before: two at once could undo each other's change. */
  private save(change: Partial<ReplicaMetadata>): Promise<void> {
    const saved = this.saving.then(async () => {
      const next = { ...this.meta, ...change };
      await saveMetadata(this.directory, next);
      this.meta = next;
    });
    this.saving = saved.catch(() => undefined);
    return saved;
  }
}

function newHead(): LayerMetadata {
  return { id: crypto.randomUUID(), name: 'head', origin: 'system', file: crypto.randomUUID() };
}
