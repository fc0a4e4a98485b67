/**
 * One layer of a replica: a sparse data file, and a file with the map of the blocks it holds.
 *
 * A hole in the data file proves nothing: it may be an acknowledged write of zeros over older data. Only the map
 * counts.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { allEnded } from '../base/all-ended.js';
import { closeAll } from '../base/close-all.js';
import { SharedFlush } from '../base/shared-flush.js';
import { leaseBlocks } from '../disk/aligned-buffers.js';
import type { CopyFile, CopyFiles, FileUse } from '../disk/disk-store.js';
import {
  type NbdWrite,
  type Payload,
  pooledPayload,
  tellWhenEnded,
  type WriteListener,
} from '../nbd/export.js';
import { alignDown, alignUp } from '../protocol/blocks.js';
import { corrupt } from '../protocol/replica-faults.js';
import { BlockMap, type BlockRun, blocksOf, pagesOf } from './block-map.js';
import { MapFile, mapFileBytes } from './map-file.js';
import { blocksIn, type Run, type Stretch, stretchesOf } from './stretches.js';

export class Layer {
  /** Held blocks that are known to be zeros: trimmed over older data. Empty after a restart, which is only less precise. */
  private readonly zeroed: BlockMap;
  /** True while written data is not covered by a flush. */
  private dataDirty = false;
  /**
   * Not final: a page of the map that is not written stays dirty, so nothing is lost and a retry may succeed. A sync that has failed
   * fails again, in the file itself.
   */
  private readonly flushes = new SharedFlush(
    () => this.store(),
    () => false,
  );

  private constructor(
    private readonly data: CopyFile,
    private readonly mapFile: MapFile,
    readonly map: BlockMap,
  ) {
    this.zeroed = new BlockMap(map.blockCount);
  }

  static async create(files: CopyFiles, file: string, sizeBytes: number): Promise<Layer> {
    const map = new BlockMap(blocksOf(sizeBytes));
    const data = await files.createFile(dataFile(file), sizeBytes, dataOf(map));
    try {
      const mapFile = await MapFile.create(files, mapFileOf(file), map.pageCount);
      const layer = new Layer(data, mapFile, map);
      try {
        await data.syncData();
        await mapFile.syncData();
        return layer;
      } catch (error) {
        await mapFile.close();
        throw error;
      }
    } catch (error) {
      await data.close();
      throw error;
    }
  }

  /**
   * Opens the files and syncs them: data that an earlier process wrote without a sync reads normally, but would be
   * gone after a power cut.
   *
   * @param isOld the copy has format 3, whose maps may have blank marks
   * @throws StorageFault `replica.corrupt` when the two files do not match the metadata
   */
  static async open(files: CopyFiles, file: string, sizeBytes: number, isOld = false): Promise<Layer> {
    const map = new BlockMap(blocksOf(sizeBytes));
    const data = await openPart(files, dataFile(file), sizeBytes, dataOf(map));
    const mapPart = await openPart(files, mapFileOf(file), mapFileBytes(map.pageCount), { kind: 'map' });
    await data.syncData();
    await mapPart.syncData();
    return new Layer(data, await MapFile.load(mapPart, map, isOld), map);
  }

  /** The bytes of any range, with zeros where the layer holds no block. The caller may release the payload. */
  async read(offset: number, lengthBytes: number): Promise<Payload> {
    const start = alignDown(offset);
    const { buffer, release } = leaseBlocks(alignUp(offset + lengthBytes) - start);
    await this.data.readInto(buffer, start);
    this.blankUnheld(buffer, start / BLOCK_BYTES);
    return pooledPayload([buffer.subarray(offset - start, offset - start + lengthBytes)], release);
  }

  /** Reads from the disk. */
  readInto(buffer: Buffer, position: number): Promise<void> {
    return this.data.readInto(buffer, position);
  }

  /**
   * Reads runs of blocks from the disk, in as few calls as is best for it. Of the bytes between them in the buffer, any may change.
   *
   * @param runs in order
   * @param base the block that the buffer begins with
   */
  async readRuns(runs: readonly Run[], buffer: Buffer, base: number): Promise<void> {
    const at = (block: number) => (block - base) * BLOCK_BYTES;
    const read = ({ first, count }: Run) =>
      this.readInto(buffer.subarray(at(first), at(first + count)), first * BLOCK_BYTES);
    await allEnded(
      this.stretchesOf(runs).map((stretch) =>
        read(stretch).catch(async (error: unknown) => {
          if (stretch.runs.length === 1) throw error;
          // An unreadable disk where the layer holds nothing does not damage the layer.
          for (const run of stretch.runs) await read(run);
        }),
      ),
    );
  }

  /** The same with memory for the runs alone. The caller may release the payload, of a piece for each run. */
  async readPacked(runs: readonly Run[]): Promise<Payload> {
    const { buffer, release } = leaseBlocks(blocksIn(runs) * BLOCK_BYTES);
    let end = 0;
    const pieces = runs.map(({ count }) => {
      end += count * BLOCK_BYTES;
      return buffer.subarray(end - count * BLOCK_BYTES, end);
    });
    let done = 0;
    try {
      await allEnded(
        this.stretchesOf(runs).map((stretch) => {
          done += stretch.runs.length;
          return this.readStretch(stretch, pieces.slice(done - stretch.runs.length, done));
        }),
      );
    } catch (error) {
      release();
      throw error;
    }
    return pooledPayload(pieces, release);
  }

  private async readStretch({ first, count, runs }: Stretch, pieces: readonly Buffer[]): Promise<void> {
    const [only] = pieces;
    if (only !== undefined && pieces.length === 1) return this.readInto(only, first * BLOCK_BYTES);
    const { buffer, release } = leaseBlocks(count * BLOCK_BYTES);
    try {
      await this.readRuns(runs, buffer, first);
      for (const [index, piece] of pieces.entries())
        buffer.copy(piece, 0, ((runs[index]?.first ?? first) - first) * BLOCK_BYTES);
    } finally {
      release();
    }
  }

  private stretchesOf(runs: readonly Run[]): Stretch[] {
    return stretchesOf(runs, Math.floor((this.data.gapBytesMax ?? 0) / BLOCK_BYTES));
  }

  /** Reads for users, from the page cache if possible. */
  readCached(buffer: Buffer, position: number): Promise<void> {
    return this.data.readCached(buffer, position);
  }

  /** False if some bytes are not cached, and the disk is not waited for. */
  readCachedNow(buffer: Buffer, position: number, isAlone: boolean): boolean {
    return this.data.readCachedNow(buffer, position, isAlone);
  }

  /** Zeroes blocks that the layer does not hold: on a block disk their content may be another volume's old data. */
  blankUnheld(buffer: Buffer, first: number): void {
    const count = buffer.length / BLOCK_BYTES;
    for (let at = 0; at < count; ) {
      const run = this.map.runAt(first + at, count - at);
      if (!run.held) buffer.fill(0, at * BLOCK_BYTES, (at + run.count) * BLOCK_BYTES);
      at += run.count;
    }
  }

  /** Sets the map's bit after the data is written: until then readers, and a concurrent flush, see the old block. */
  async write(payload: Payload, position: number, lengthBytes: number, isAlone = false): Promise<void> {
    let isWhole = false;
    try {
      await this.data.write(payload, position, isAlone);
      isWhole = true;
    } finally {
      this.wrote(position, lengthBytes, isWhole);
    }
  }

  /** The same without a promise. The listener receives its end, maybe before this returns. */
  beginWrite<Tag>(write: NbdWrite, listener: WriteListener<Tag>, tag: Tag): void {
    const { offset, lengthBytes, payload, alone = false } = write;
    if (this.data.beginWrite === undefined) {
      tellWhenEnded(this.write(payload, offset, lengthBytes, alone), listener, tag);
      return;
    }
    this.data.beginWrite(payload, offset, alone, (failure) => {
      this.wrote(offset, lengthBytes, failure === undefined);
      listener.written(tag, failure);
    });
  }

  /** The same without a thread, if it needs none; false otherwise. A failed one may have written a part. */
  writeNow(payload: Payload, position: number, lengthBytes: number): boolean {
    try {
      if (this.data.writeNow?.(payload, position) !== true) return false;
    } catch (error) {
      this.wrote(position, lengthBytes, false);
      throw error;
    }
    this.wrote(position, lengthBytes);
    return true;
  }

  /** Notes that a write has ended. A failed one may have written a part. */
  private wrote(position: number, lengthBytes: number, isWhole = true): void {
    // Set after the write: a flush that began meanwhile does not cover it, and must not clear the flag.
    this.dataDirty = true;
    const [first, count] = [position / BLOCK_BYTES, lengthBytes / BLOCK_BYTES];
    if (this.zeroed.heldBlocks > 0) this.zeroed.clearRange(first, count);
    if (isWhole) this.map.setRange(first, count);
  }

  /** Zeroes a range. `held: false` is for the lowest layer, where no older data could show through. */
  async zero(position: number, lengthBytes: number, mayPunch: boolean, held: boolean): Promise<void> {
    try {
      if (held || !mayPunch) await this.data.zero(position, lengthBytes, mayPunch);
      else await this.data.forget(position, lengthBytes);
    } finally {
      this.dataDirty = true;
    }
    const [first, count] = [position / BLOCK_BYTES, lengthBytes / BLOCK_BYTES];
    if (held) this.map.setRange(first, count);
    else this.map.clearRange(first, count);
    if (held && mayPunch) this.zeroed.setRange(first, count);
    else this.zeroed.clearRange(first, count);
  }

  /** The run of blocks at `first` that are all known to be zeros (`held`), or all not. */
  zeroedRunAt(first: number, limit: number): BlockRun {
    return this.zeroed.runAt(first, limit);
  }

  /** Frees the space of a range that a newer layer holds. */
  async forget(position: number, lengthBytes: number): Promise<void> {
    await this.zero(position, lengthBytes, true, false);
  }

  /** Makes every earlier write durable. Users, snapshots, purges and rebuilds all share this queue. */
  flush(): Promise<void> {
    return this.flushes.run();
  }

  /**
   * Data first, then the map. The map's pages are taken before the data is synced: a bit that a later write sets
   * meanwhile must not reach the disk before its data, or a power cut would leave a hole that hides the older layer's
   * block.
   */
  private async store(): Promise<void> {
    if (!this.dataDirty && !this.map.isDirty) return;
    const { dataDirty } = this;
    this.dataDirty = false;
    const pages = this.map.takeDirty();
    let isStored = false;
    try {
      await this.data.syncData();
      if (pages.length > 0) await this.mapFile.store(pages);
      isStored = true;
    } finally {
      this.map.giveBack(pages);
      if (!isStored) this.map.keepDirty(pages);
      // Asks the file again, which has not forgotten a sync that failed.
      if (!isStored) this.dataDirty ||= dataDirty;
    }
  }

  get sizeBytes(): number {
    return this.map.blockCount * BLOCK_BYTES;
  }

  /**
   * Extends the files. The metadata still names the smaller size: after a crash before its update, the next open
   * truncates them.
   */
  async grow(sizeBytes: number): Promise<void> {
    if (sizeBytes <= this.sizeBytes) return;
    const blocks = blocksOf(sizeBytes);
    await this.data.resize(sizeBytes);
    await this.mapFile.grow(pagesOf(blocks));
    await this.data.syncData();
    await this.mapFile.syncData();
    // Last: after a failure the next try has to extend the files again.
    this.map.grow(blocks);
    this.zeroed.grow(blocks);
  }

  /** The state of both files as one text, which differs after any change. */
  async changeTime(): Promise<string> {
    const times = await Promise.all([this.data.changeTime(), this.mapFile.changeTime()]);
    return times.join('-');
  }

  async close(): Promise<void> {
    await closeAll([this.data, this.mapFile]);
  }
}

/** Name of the file with the layer's range checksums, if it has one. */
export function sumsFile(file: string): string {
  return `${file}.sums`;
}

/** A data file whose layout is known by the layer's map. */
function dataOf(map: BlockMap): FileUse {
  const holds = (position: number, lengthBytes: number) => {
    const count = lengthBytes / BLOCK_BYTES;
    const run = map.runAt(position / BLOCK_BYTES, count);
    return run.held || run.count < count;
  };
  return { kind: 'data', holds };
}

/** Names of a layer's files, derived from the name in the metadata. */
export function layerFiles(file: string): string[] {
  return [dataFile(file), mapFileOf(file), sumsFile(file)];
}

function dataFile(file: string): string {
  return `${file}.img`;
}

function mapFileOf(file: string): string {
  return `${file}.map`;
}

async function openPart(
  files: CopyFiles,
  name: string,
  expectedBytes: number,
  use: FileUse,
): Promise<CopyFile> {
  let part: CopyFile;
  try {
    part = await files.openFile(name, use);
  } catch (error) {
    throw corrupt(`${name} can't be opened`, error);
  }
  const size = await part.sizeBytes();
  if (size === expectedBytes) return part;
  // Longer than the metadata says: an expansion was interrupted, and no write to the added range was acknowledged.
  if (size > expectedBytes) {
    await part.resize(expectedBytes);
    return part;
  }
  await part.close();
  throw corrupt(`${name} has ${size} bytes instead of ${expectedBytes}`);
}
