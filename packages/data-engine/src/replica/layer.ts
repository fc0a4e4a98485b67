/**
 * One layer of a replica: a sparse file with data, and a file with the map of the blocks it holds.
 *
 * A hole in the data file says nothing: it may be an acknowledged write of zeros over older data. Only the map does.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import type { Payload } from '../nbd/export.js';
import { leaseBlocks } from './aligned-buffers.js';
import { BlockMap, blocksOf } from './block-map.js';
import { alignDown, alignUp } from './blocks.js';
import { closeAll } from './close-all.js';
import type { CopyFile, CopyFiles, FileUse } from './disk-store.js';
import { MapFile, mapFileBytes } from './map-file.js';
import { corrupt } from './replica-faults.js';
import { SharedFlush } from './shared-flush.js';
import { isOutOfSpace } from './system-error.js';

export class Layer {
  /** Set when data was written that no flush has covered yet. */
  private dataDirty = false;
  /** A full disk refuses a page of the map before anything of it is written: nothing is lost, and there may be space later. */
  private readonly flushes = new SharedFlush(
    () => this.store(),
    (error) => !isOutOfSpace(error),
  );

  private constructor(
    private readonly data: CopyFile,
    private readonly mapFile: MapFile,
    readonly map: BlockMap,
  ) {}

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
   * What a process of before has written, and not synced, reads like the rest and is gone after a power cut: whoever opens
   * the files makes durable what it builds on.
   *
   * @throws StorageFault `replica.corrupt` when the two files are not what the metadata says
   */
  static async open(files: CopyFiles, file: string, sizeBytes: number): Promise<Layer> {
    const map = new BlockMap(blocksOf(sizeBytes));
    const data = await openPart(files, dataFile(file), sizeBytes, dataOf(map));
    const mapPart = await openPart(files, mapFileOf(file), mapFileBytes(map.pageCount), { kind: 'map' });
    await data.syncData();
    await mapPart.syncData();
    return new Layer(data, await MapFile.load(mapPart, map), map);
  }

  /** The bytes at any place, zeros where it holds none. The caller may release what it gets. */
  async read(offset: number, lengthBytes: number): Promise<Payload> {
    const start = alignDown(offset);
    const { buffer, release } = leaseBlocks(alignUp(offset + lengthBytes) - start);
    await this.data.readInto(buffer, start);
    this.blankUnheld(buffer, start / BLOCK_BYTES);
    return Object.assign([buffer.subarray(offset - start, offset - start + lengthBytes)], { release });
  }

  /** What the disk holds. */
  readInto(buffer: Buffer, position: number): Promise<void> {
    return this.data.readInto(buffer, position);
  }

  /** What users read, from memory where it is there. */
  readCached(buffer: Buffer, position: number): Promise<void> {
    return this.data.readCached(buffer, position);
  }

  /** False when it is not in memory. */
  readCachedNow(buffer: Buffer, position: number): boolean {
    return this.data.readCachedNow(buffer, position);
  }

  /** What a disk has where nothing was written may be what another volume left there. */
  private blankUnheld(buffer: Buffer, first: number): void {
    const count = buffer.length / BLOCK_BYTES;
    for (let at = 0; at < count; ) {
      const run = this.map.runAt(first + at, count - at);
      if (!run.held) buffer.fill(0, at * BLOCK_BYTES, (at + run.count) * BLOCK_BYTES);
      at += run.count;
    }
  }

  /** The bit follows the data: until then readers, and a flush that runs meanwhile, see what was there before. */
  async write(payload: Payload, position: number, lengthBytes: number): Promise<void> {
    try {
      await this.data.write(payload, position);
    } finally {
      // Set afterwards: a flush that began meanwhile does not cover this write, and must not count as if it did.
      this.dataDirty = true;
    }
    this.map.setRange(position / BLOCK_BYTES, lengthBytes / BLOCK_BYTES);
  }

  /** Makes a range read as zeros. `held: false` is for the lowest layer, where nothing lies beneath. */
  async zero(position: number, lengthBytes: number, mayPunch: boolean, held: boolean): Promise<void> {
    try {
      if (held || !mayPunch) await this.data.zero(position, lengthBytes, mayPunch);
      else await this.data.forget(position, lengthBytes);
    } finally {
      this.dataDirty = true;
    }
    if (held) this.map.setRange(position / BLOCK_BYTES, lengthBytes / BLOCK_BYTES);
    else this.map.clearRange(position / BLOCK_BYTES, lengthBytes / BLOCK_BYTES);
  }

  /** Gives the space of a range back that a newer layer answers for. */
  async forget(position: number, lengthBytes: number): Promise<void> {
    await this.zero(position, lengthBytes, true, false);
  }

  /** Everything written before is durable when this returns, whoever asks: users, snapshots, purges and rebuilds alike. */
  flush(): Promise<void> {
    return this.flushes.run();
  }

  /**
   * First the data, then the map. The map's pages are taken before the data is synced. A bit that a later write sets
   * meanwhile must not reach the disk before its data: after a power cut it would show a hole where the older layer still
   * has the block.
   */
  private async store(): Promise<void> {
    if (!this.dataDirty && !this.map.isDirty) return;
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
    }
  }

  get sizeBytes(): number {
    return this.map.blockCount * BLOCK_BYTES;
  }

  /**
   * Makes room at the end. The metadata still says the smaller size: until it says the larger one, a crash leaves
   * files that are cut back at the next open.
   */
  async grow(sizeBytes: number): Promise<void> {
    if (sizeBytes <= this.sizeBytes) return;
    await this.data.resize(sizeBytes);
    this.map.grow(blocksOf(sizeBytes));
    await this.mapFile.grow(this.map.pageCount);
    await this.data.syncData();
    await this.mapFile.syncData();
  }

  /** The state of both files in one text, which is another one after any change. */
  async changeTime(): Promise<string> {
    const times = await Promise.all([this.data.changeTime(), this.mapFile.changeTime()]);
    return times.join('-');
  }

  async close(): Promise<void> {
    await closeAll([this.data, this.mapFile]);
  }
}

/** The checksums of its ranges, where it has some. */
export function sumsFile(file: string): string {
  return `${file}.sums`;
}

/** The layer's map is what knows where its data is. */
function dataOf(map: BlockMap): FileUse {
  const holds = (position: number, lengthBytes: number) => {
    const count = lengthBytes / BLOCK_BYTES;
    const run = map.runAt(position / BLOCK_BYTES, count);
    return run.held || run.count < count;
  };
  return { kind: 'data', holds };
}

/** The files of a layer, by the name that the metadata has. */
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
  // Longer than the metadata says: growing was interrupted, and nothing at the end was ever promised to anybody.
  if (size > expectedBytes) {
    await part.resize(expectedBytes);
    return part;
  }
  await part.close();
  throw corrupt(`${name} has ${size} bytes instead of ${expectedBytes}`);
}
