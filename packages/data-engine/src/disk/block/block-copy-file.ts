/**
 * File of a copy on a block disk: its reads and writes go to the clusters that its map names; the first write to a
 * part allocates one.
 */
import { CLUSTER_BYTES } from '@holdfast/core/model/bytes.js';
import { Bug } from '@holdfast/core/model/faults.js';
import { type Payload, payloadLength, slicePayload } from '../../nbd/export.js';
import type { CopyFile, FileUse } from '../disk-store.js';
import type { BlockDisk } from './block-disk.js';
import type { StoredFile } from './catalog.js';
import { ClusterMap } from './cluster-map.js';
import type { CopySpace } from './copy-space.js';
import { clusterOffset } from './layout.js';
import { Ongoing } from './ongoing.js';

/** Callbacks of a file to the copy that it belongs to. */
export interface FileOwner {
  readonly disk: BlockDisk;
  readonly space: CopySpace;
  /** Makes every earlier write durable. */
  sync(): Promise<void>;
  /** Records a completed write that no sync started so far covers. */
  noteWritten(): void;
  /** Records that the catalog differs from the one on the disk. */
  noteChanged(): void;
  /** Records that a cluster was filled: its content must be durable before the map names it. */
  noteFilled(): void;
}

/** A run of bytes that are contiguous on the disk; `undefined` if it has no cluster. */
type Run = { at: number; lengthBytes: number; diskOffset: number | undefined };

export class BlockCopyFile implements CopyFile {
  private readonly ongoing = new Ongoing();
  private readonly taking = new Map<number, Promise<void>>();
  private freed: number[] = [];
  private use: FileUse | undefined;
  /**
   * False if the change count may have been read since its last increment, so that the next change has to raise it.
   */
  private isStamped: boolean;
  private stamping: Promise<void> | undefined;

  constructor(
    private readonly owner: FileOwner,
    private readonly stored: StoredFile,
    readonly map: ClusterMap,
    isNew: boolean,
  ) {
    this.isStamped = isNew;
  }

  get name(): string {
    return this.stored.name;
  }

  /** The file's entry for the catalog. */
  describe(): StoredFile {
    return { ...this.stored, directory: [...this.map.directory] };
  }

  open(use: FileUse): this {
    if (this.use !== undefined) throw new Bug(`${this.name} is open already`);
    this.use = use;
    return this;
  }

  readInto(buffer: Buffer, position: number): Promise<void> {
    return this.readRuns(buffer, position, (part, diskOffset) => this.device.readInto(part, diskOffset));
  }

  readStored(buffer: Buffer, position: number): Promise<void> {
    const { direct } = this.owner.disk;
    return this.readRuns(buffer, position, (part, diskOffset) => direct.readInto(part, diskOffset));
  }

  readCached(buffer: Buffer, position: number): Promise<void> {
    return this.readRuns(buffer, position, (part, diskOffset) => this.device.readCached(part, diskOffset));
  }

  readCachedNow(buffer: Buffer, position: number, isAlone = false): boolean {
    if (this.use === undefined) return false;
    return this.runs(position, buffer.length).every(({ at, lengthBytes, diskOffset }) => {
      const part = buffer.subarray(at - position, at - position + lengthBytes);
      if (diskOffset !== undefined) return this.device.readCachedNow(part, diskOffset, isAlone);
      part.fill(0);
      return true;
    });
  }

  write(payload: Payload, position: number, isAlone = false): Promise<void> {
    const lengthBytes = payloadLength(payload);
    return this.changing(async () => {
      await this.takeMissing(position, lengthBytes);
      await Promise.all(
        this.runs(position, lengthBytes).map(({ at, lengthBytes: length, diskOffset }) => {
          if (diskOffset === undefined) throw new Bug(`${this.name} has no cluster for ${at}`);
          return this.device.write(slicePayload(payload, at - position, length), diskOffset, isAlone);
        }),
      );
      if (position + lengthBytes > this.stored.sizeBytes) this.setSize(position + lengthBytes);
    });
  }

  zero(position: number, lengthBytes: number, mayPunch: boolean): Promise<void> {
    return this.changing(async () => {
      for (const { index, from, to } of partsOf(position, lengthBytes)) {
        const cluster = this.map.get(index);
        const isWhole =
          from === 0 && (to === CLUSTER_BYTES || index * CLUSTER_BYTES + to >= this.stored.sizeBytes);
        if (isWhole && mayPunch) this.free(index);
        else {
          if (cluster === undefined) await this.takeMissing(index * CLUSTER_BYTES, to);
          await this.blank(this.map.get(index), from, to);
        }
      }
    });
  }

  forget(position: number, lengthBytes: number): Promise<void> {
    return this.changing(async () => {
      const first = Math.ceil(position / CLUSTER_BYTES);
      const end = position + lengthBytes;
      const isTail = end >= this.stored.sizeBytes;
      const last = isTail ? Math.ceil(end / CLUSTER_BYTES) : Math.floor(end / CLUSTER_BYTES);
      for (const { part } of [...this.map.mapped(first, last)]) this.free(part);
    });
  }

  resize(sizeBytes: number): Promise<void> {
    return this.changing(async () => {
      const tail = sizeBytes % CLUSTER_BYTES;
      const last = tail === 0 ? undefined : this.map.get(Math.floor(sizeBytes / CLUSTER_BYTES));
      // Zeroes the cut-off part of the last cluster: if the file grows again, it has to read as zeros.
      if (sizeBytes < this.stored.sizeBytes && last !== undefined)
        await this.blank(last, tail, CLUSTER_BYTES);
      for (const { part } of [...this.map.mapped(Math.ceil(sizeBytes / CLUSTER_BYTES))]) this.free(part);
      this.setSize(sizeBytes);
    });
  }

  syncData(): Promise<void> {
    return this.owner.sync();
  }

  async sizeBytes(): Promise<number> {
    return this.stored.sizeBytes;
  }

  /** Map files keep no change count: they change together with the data that they describe. */
  async changeTime(): Promise<string> {
    this.isStamped = false;
    return String(this.stored.changes);
  }

  async close(): Promise<void> {
    this.use = undefined;
    await this.ongoing.ended();
  }

  /** Returns and clears the clusters that the file has released; they can be freed once the maps are durable. */
  takeFreed(): number[] {
    const { freed } = this;
    this.freed = [];
    return freed;
  }

  /** Puts them back, because the maps could not be made durable. */
  keepFreed(clusters: readonly number[]): void {
    this.freed.push(...clusters);
  }

  /** Resolves when no operation uses an earlier state of the map any more. */
  quiet(): Promise<void> {
    return this.ongoing.ended();
  }

  private readRuns(
    buffer: Buffer,
    position: number,
    read: (part: Buffer, diskOffset: number) => Promise<void>,
  ): Promise<void> {
    return this.during(async () => {
      const [only, ...more] = this.runs(position, buffer.length);
      if (more.length === 0 && only?.diskOffset !== undefined) return read(buffer, only.diskOffset);
      const runs = only === undefined ? [] : [only, ...more];
      await Promise.all(
        runs.map(({ at, lengthBytes, diskOffset }) => {
          const part = buffer.subarray(at - position, at - position + lengthBytes);
          return diskOffset === undefined ? part.fill(0) : read(part, diskOffset);
        }),
      );
    });
  }

  private during<T>(work: () => Promise<T>): Promise<T> {
    if (this.use === undefined) return Promise.reject(new Error(`${this.name} is closed`));
    return this.ongoing.during(work);
  }

  private get device() {
    return this.use?.kind === 'data' ? this.owner.disk.direct : this.owner.disk.plain;
  }

  /**
   * Every change of the file's bytes runs in here. The write is noted when it has ended, not when it begins: a sync
   * that began in between does not cover it, and must not clear the note. A failed change is noted too, as it may
   * have been done in part.
   */
  private changing(change: () => Promise<void>): Promise<void> {
    return this.during(async () => {
      const stamping = this.stampOnce();
      if (stamping !== undefined) await stamping;
      try {
        await change();
      } finally {
        this.owner.noteWritten();
      }
    });
  }

  /** Raises the file's change count durably before the first change after the count was read. */
  private stampOnce(): Promise<void> | undefined {
    if (this.isStamped || this.use?.kind === 'map') return undefined;
    this.stamping ??= this.stamp().finally(() => {
      this.stamping = undefined;
    });
    return this.stamping;
  }

  private async stamp(): Promise<void> {
    this.stored.changes += 1;
    this.owner.noteChanged();
    await this.owner.sync();
    this.isStamped = true;
  }

  /** Allocates clusters for all parts of the range that have none. */
  private async takeMissing(position: number, lengthBytes: number): Promise<void> {
    const missing: number[] = [];
    const taken: Promise<void>[] = [];
    for (const { index } of partsOf(position, lengthBytes)) {
      if (this.map.get(index) !== undefined) continue;
      const taking = this.taking.get(index);
      if (taking === undefined) missing.push(index);
      else taken.push(taking);
    }
    if (missing.length > 0) taken.push(this.take(missing));
    if (taken.length > 0) await Promise.all(taken);
  }

  private take(parts: readonly number[]): Promise<void> {
    const taking = this.takeClusters(parts).finally(() => {
      for (const part of parts) this.taking.delete(part);
    });
    for (const part of parts) this.taking.set(part, taking);
    return taking;
  }

  /**
   * Allocates clusters. A new one is zeroed, durably before the map names it, in a file whose unwritten bytes read as
   * zeros, and where the file holds zeros that no cluster stores yet.
   */
  private async takeClusters(parts: readonly number[]): Promise<void> {
    const { space } = this.owner;
    for (const part of parts) await this.describePart(part);
    const clusters = await space.data(parts.length);
    const blank = clusters.filter((_, at) => this.mustBeBlank(parts[at] ?? 0));
    try {
      await Promise.all(blank.map((cluster) => this.blank(cluster, 0, CLUSTER_BYTES)));
    } catch (error) {
      await space.give(clusters);
      throw error;
    }
    if (blank.length > 0) this.owner.noteFilled();
    for (const [at, cluster] of clusters.entries()) this.map.set(parts[at] ?? 0, cluster);
  }

  private mustBeBlank(index: number): boolean {
    return this.use?.kind !== 'data' || this.use.holds(index * CLUSTER_BYTES, CLUSTER_BYTES);
  }

  /** Allocates space for the map page of this part now: a flush must not find the disk full. */
  private async describePart(index: number): Promise<void> {
    const entry = ClusterMap.directoryIndex(index);
    if (this.map.directory.has(entry)) return;
    const [cluster] = await this.owner.space.descriptions(1);
    if (cluster === undefined) throw new Bug('no cluster was given');
    const { disk, space } = this.owner;
    const written = disk.plain.write([this.map.emptyCluster(entry)], clusterOffset(disk.layout, cluster));
    await written.catch(async (error: unknown) => {
      await space.give([cluster]);
      throw error;
    });
    // A concurrent write has already allocated it.
    if (this.map.directory.has(entry)) return space.give([cluster]);
    this.map.directory.set(entry, cluster);
    this.owner.noteFilled();
    this.owner.noteChanged();
  }

  private blank(cluster: number | undefined, from: number, to: number): Promise<void> {
    if (cluster === undefined) throw new Bug(`${this.name} has no cluster to blank`);
    return this.device.zero(clusterOffset(this.owner.disk.layout, cluster) + from, to - from, false);
  }

  private free(index: number): void {
    const cluster = this.map.get(index);
    if (cluster === undefined) return;
    this.map.clear(index);
    this.freed.push(cluster);
  }

  private setSize(sizeBytes: number): void {
    if (sizeBytes === this.stored.sizeBytes) return;
    this.stored.sizeBytes = sizeBytes;
    this.owner.noteChanged();
  }

  private runs(position: number, lengthBytes: number): Run[] {
    const runs: Run[] = [];
    for (const { index, from, to } of partsOf(position, lengthBytes)) {
      const cluster = this.map.get(index);
      const diskOffset =
        cluster === undefined ? undefined : clusterOffset(this.owner.disk.layout, cluster) + from;
      const last = runs.at(-1);
      const expected = last?.diskOffset === undefined ? undefined : last.diskOffset + last.lengthBytes;
      if (last !== undefined && expected === diskOffset) last.lengthBytes += to - from;
      else runs.push({ at: index * CLUSTER_BYTES + from, lengthBytes: to - from, diskOffset });
    }
    return runs;
  }
}

/** Splits a range at cluster boundaries: for each piece the part of the file, and the range within it. */
function* partsOf(
  position: number,
  lengthBytes: number,
): Generator<{ index: number; from: number; to: number }> {
  const end = position + lengthBytes;
  for (let at = position; at < end; ) {
    const index = Math.floor(at / CLUSTER_BYTES);
    const stop = Math.min(end, (index + 1) * CLUSTER_BYTES);
    yield { index, from: at - index * CLUSTER_BYTES, to: stop - index * CLUSTER_BYTES };
    at = stop;
  }
}
