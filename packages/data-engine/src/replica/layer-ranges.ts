/**
 * Range checksums of frozen layers (docs/design/rebuild.md), kept on block disks only. Each is valid for one layer checksum
 * and one state of the layer's files.
 */

import { sumsFile } from '../layers/layer.js';
import { RangeSums } from '../layers/range-sums.js';
import { loadRangeSums, storeRangeSums } from '../layers/stored-range-sums.js';
import type { LayerChecksum } from '../protocol/layers.js';
import type { ReplicaState } from './replica-state.js';

export class LayerRanges {
  private running: Promise<unknown> = Promise.resolve();

  constructor(private readonly state: ReplicaState) {}

  /** Starts collecting range checksums while a layer is hashed; `undefined` if this disk keeps none. */
  start(sizeBytes: number): RangeSums | undefined {
    return this.areKept ? new RangeSums(sizeBytes) : undefined;
  }

  /** True if hashing the layer would add no range checksum. */
  async areComplete(layerId: string): Promise<boolean> {
    return !this.areKept || (await this.read(layerId, 0, 1)) !== undefined;
  }

  /** The checksums of some ranges; `undefined` if there are none for the current state of the layer's files. */
  async read(layerId: string, first: number, count: number): Promise<Buffer | undefined> {
    const metadata = this.state.layerMetadata(layerId);
    const layer = this.state.layer(layerId);
    if (metadata?.checksum === undefined || layer === undefined) return undefined;
    const { file, checksum } = metadata;
    if ((await layer.changeTime()) !== checksum.changeTime) return undefined;
    return this.oneAtATime(() => loadRangeSums(this.state.files, sumsFile(file), checksum, first, count));
  }

  async store(layerId: string, checksum: LayerChecksum, sums: RangeSums): Promise<void> {
    const file = this.state.layerMetadata(layerId)?.file;
    if (file === undefined) return;
    await this.oneAtATime(() => storeRangeSums(this.state.files, sumsFile(file), checksum, sums));
  }

  get areKept(): boolean {
    return this.state.diskKind === 'block';
  }

  /** Serialises access: a file of checksums is opened by one caller at a time. */
  private oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.running.then(work, work);
    this.running = mine.catch(() => undefined);
    return mine;
  }
}
