import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { Bug } from '@holdfast/core/model/faults.js';
import type { Extent, Payload } from '../nbd/export.js';
import { leaseBlocks } from './aligned-buffers.js';
import { alignDown, alignUp } from './blocks.js';
import type { Layer } from './layer.js';

/** A run of blocks that one layer answers for; `undefined` where no layer holds them and they read as zeros. */
type Segment = { first: number; count: number; owner: Layer | undefined };

type ReadLayer = (layer: Layer, buffer: Buffer, position: number) => Promise<void>;

const readCached: ReadLayer = (layer, buffer, position) => layer.readCached(buffer, position);
const readFromDisk: ReadLayer = (layer, buffer, position) => layer.readInto(buffer, position);

function payloadOf(blocks: Buffer, before: number, lengthBytes: number, release: () => void): Payload {
  const isAll = blocks.length === lengthBytes;
  return Object.assign([isAll ? blocks : blocks.subarray(before, before + lengthBytes)], { release });
}

/** The layers of a replica, oldest first, read as one device: the newest layer that holds a block has its data. */
export class Chain {
  constructor(readonly layers: readonly Layer[]) {}

  get head(): Layer {
    const head = this.layers.at(-1);
    if (head === undefined) throw new Bug('a chain without layers');
    return head;
  }

  get heldBytes(): number {
    return this.layers.reduce((sum, { map }) => sum + map.heldBlocks, 0) * BLOCK_BYTES;
  }

  /** As users read: through the page cache. The caller may release what it gets. */
  async read(offset: number, lengthBytes: number): Promise<Payload> {
    return this.readWith(readCached, offset, lengthBytes);
  }

  /** What `read` would get, when that is in memory: at once, or `undefined`. */
  readNow(offset: number, lengthBytes: number): Payload | undefined {
    const start = alignDown(offset);
    const blocksBytes = alignUp(offset + lengthBytes) - start;
    const { count, owner } = this.segmentAt(start / BLOCK_BYTES, blocksBytes / BLOCK_BYTES);
    // What several layers answer for is rarer than it is worth here.
    if (owner === undefined || count * BLOCK_BYTES < blocksBytes) return undefined;
    const { buffer, release } = leaseBlocks(blocksBytes);
    if (owner.readCachedNow(buffer, start)) return payloadOf(buffer, offset - start, lengthBytes, release);
    release();
    return undefined;
  }

  /** What the disk holds, whatever is in memory. The caller may release what it gets. */
  async readFromDisk(offset: number, lengthBytes: number): Promise<Payload> {
    return this.readWith(readFromDisk, offset, lengthBytes);
  }

  private async readWith(read: ReadLayer, offset: number, lengthBytes: number): Promise<Payload> {
    const start = alignDown(offset);
    const { buffer, release } = leaseBlocks(alignUp(offset + lengthBytes) - start);
    await this.readBlocks(read, buffer, start);
    return payloadOf(buffer, offset - start, lengthBytes, release);
  }

  /** Fills the buffer, whole blocks, with what is there from `start` on. */
  private async readBlocks(read: ReadLayer, buffer: Buffer, start: number): Promise<void> {
    const segments = [...this.segments(start, buffer.length)];
    const [only] = segments;
    if (segments.length === 1 && only?.owner !== undefined) return read(only.owner, buffer, start);
    await Promise.all(
      segments.map(({ first, count, owner }) => {
        const at = first * BLOCK_BYTES - start;
        const part = buffer.subarray(at, at + count * BLOCK_BYTES);
        return owner === undefined ? part.fill(0) : read(owner, part, first * BLOCK_BYTES);
      }),
    );
  }

  extents(offset: number, lengthBytes: number, extentsMax: number): Extent[] {
    const extents: Extent[] = [];
    for (const { first, count, owner } of this.segments(offset, lengthBytes)) {
      const start = Math.max(offset, first * BLOCK_BYTES);
      const end = Math.min(offset + lengthBytes, (first + count) * BLOCK_BYTES);
      if (!addExtent(extents, end - start, owner !== undefined, extentsMax)) break;
    }
    return extents;
  }

  private *segments(offset: number, lengthBytes: number): Generator<Segment> {
    const end = Math.ceil((offset + lengthBytes) / BLOCK_BYTES);
    for (let at = Math.floor(offset / BLOCK_BYTES); at < end; ) {
      const segment = this.segmentAt(at, end - at);
      yield segment;
      at += segment.count;
    }
  }

  private segmentAt(first: number, limit: number): Segment {
    let count = limit;
    for (let index = this.layers.length - 1; index >= 0; index -= 1) {
      const layer = this.layers[index];
      const run = layer?.map.runAt(first, count);
      if (run === undefined) break;
      // Where a newer layer holds nothing only for `run.count` blocks, an older one answers for no more than that.
      count = run.count;
      if (run.held) return { first, count, owner: layer };
    }
    return { first, count, owner: undefined };
  }
}

/** The blocks one layer holds itself. */
export function layerExtents(
  layer: Layer,
  offset: number,
  lengthBytes: number,
  extentsMax: number,
): Extent[] {
  const extents: Extent[] = [];
  const end = Math.ceil((offset + lengthBytes) / BLOCK_BYTES);
  for (let at = Math.floor(offset / BLOCK_BYTES); at < end; ) {
    const run = layer.map.runAt(at, end - at);
    const start = Math.max(offset, at * BLOCK_BYTES);
    const stop = Math.min(offset + lengthBytes, (at + run.count) * BLOCK_BYTES);
    if (!addExtent(extents, stop - start, run.held, extentsMax)) break;
    at += run.count;
  }
  return extents;
}

/** Appends to the last extent where the state is the same. False when the list is full. */
function addExtent(extents: Extent[], lengthBytes: number, allocated: boolean, extentsMax: number): boolean {
  const last = extents.at(-1);
  if (last?.allocated === allocated) last.lengthBytes += lengthBytes;
  else if (extents.length >= extentsMax) return false;
  else extents.push({ lengthBytes, allocated });
  return true;
}
