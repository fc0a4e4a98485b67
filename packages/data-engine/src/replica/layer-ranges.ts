/**
 * Checksums of the ranges of frozen layers (docs/adr/0101), on disks where they are kept: block disks. Each belongs to
 * a layer's checksum and to the state of its files, and counts for nothing beside another one.
 */
import { RangeSums } from '../integrity/range-sums.js';
import type { LayerChecksum } from './commands.js';
import { sumsFile } from './layer.js';
import type { ReplicaState } from './replica-state.js';
import { loadRangeSums, storeRangeSums } from './stored-range-sums.js';

export class LayerRanges {
  private running: Promise<unknown> = Promise.resolve();

  constructor(private readonly state: ReplicaState) {}

  /** For whoever hashes a layer; `undefined` where ranges have no checksums. */
  start(sizeBytes: number): RangeSums | undefined {
    return this.areKept ? new RangeSums(sizeBytes) : undefined;
  }

  /** True when nothing is missing that hashing the layer would bring. */
  async areComplete(layerId: string): Promise<boolean> {
    return !this.areKept || (await this.read(layerId, 0, 1)) !== undefined;
  }

  /** Those of some ranges; `undefined` when there are none for the layer's files as they are. */
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

  private get areKept(): boolean {
    return this.state.diskKind === 'block';
  }

  /** A file of checksums is opened by one at a time. */
  private oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.running.then(work, work);
    this.running = mine.catch(() => undefined);
    return mine;
  }
}
