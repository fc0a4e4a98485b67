/**
 * One file of a copy on a block disk: reads and writes go to the clusters that its map names, and a first write takes
 * one.
 */
import { Bug } from '@holdfast/core/model/faults.js';
import { type Payload, payloadLength } from '../nbd/export.js';
import type { CopyFile, FileUse } from '../replica/disk-store.js';
import type { BlockDisk } from './block-disk.js';
import type { StoredFile } from './catalog.js';
import { ClusterMap } from './cluster-map.js';
import type { CopySpace } from './copy-space.js';
import { CLUSTER_BYTES, clusterOffset } from './layout.js';
import { Ongoing } from './ongoing.js';
import { slicePayload } from './slice-payload.js';

/** The copy that a file belongs to. */
export interface FileOwner {
  readonly disk: BlockDisk;
  readonly space: CopySpace;
  /** Everything that was written is durable when this returns. */
  sync(): Promise<void>;
  /** Something has been written, and no sync that has begun until now covers it. */
  noteWritten(): void;
  /** The catalog says something else than what is on the disk. */
  noteChanged(): void;
  /** A cluster was filled whose contents must be durable before the map says where it is. */
  noteFilled(): void;
}

/** Bytes of the file that lie side by side on the disk; `undefined` where it has no cluster. */
type Run = { at: number; lengthBytes: number; diskOffset: number | undefined };

export class BlockCopyFile implements CopyFile {
  private readonly ongoing = new Ongoing();
  private readonly taking = new Map<number, Promise<void>>();
  private freed: number[] = [];
  private use: FileUse | undefined;
  /** False when somebody may have taken note of the state that the file is in. */
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

  /** As the catalog has it. */
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

  readCachedNow(buffer: Buffer, position: number): boolean {
    if (this.use === undefined) return false;
    return this.runs(position, buffer.length).every(({ at, lengthBytes, diskOffset }) => {
      const part = buffer.subarray(at - position, at - position + lengthBytes);
      if (diskOffset !== undefined) return this.device.readCachedNow(part, diskOffset);
      part.fill(0);
      return true;
    });
  }

  write(payload: Payload, position: number): Promise<void> {
    const lengthBytes = payloadLength(payload);
    return this.changing(async () => {
      await this.takeMissing(position, lengthBytes);
      await Promise.all(
        this.runs(position, lengthBytes).map(({ at, lengthBytes: length, diskOffset }) => {
          if (diskOffset === undefined) throw new Bug(`${this.name} has no cluster for ${at}`);
          return this.device.write(slicePayload(payload, at - position, length), diskOffset);
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
      // What is cut off now may be added again, and has to read as zeros then.
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

  /** Of a map nothing is noted: it changes with the data that it is about. */
  async changeTime(): Promise<string> {
    this.isStamped = false;
    return String(this.stored.changes);
  }

  async close(): Promise<void> {
    this.use = undefined;
    await this.ongoing.ended();
  }

  /** Clusters that it had, and that nothing names any more once the maps are durable. */
  takeFreed(): number[] {
    const { freed } = this;
    this.freed = [];
    return freed;
  }

  /** They could not be made durable. */
  keepFreed(clusters: readonly number[]): void {
    this.freed.push(...clusters);
  }

  /** Resolves when nobody uses any more what the map said until now. */
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
   * Every change of the file's bytes runs in here. That there is something to sync is noted when the change has ended, not
   * when it begins: a sync that began in between does not cover it, and must not take the note away. Also for a change that
   * fails, which may have been done in part.
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

  /** Before the first change since the state of the file was last asked for, the disk says that the file has changed. */
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

  /** Waits until each part of the range has a cluster. */
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
   * Where anything is held that reads as zeros, and in a file that reads as zeros where nothing was written, a new
   * cluster is blanked first, durably before the map names it.
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

  /** Makes sure that there is a place for the page with this part. A flush must not find the disk full. */
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
    // Somebody else's write may have been faster.
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

/** A range cut at clusters: which part of the file, and from where to where in it. */
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
