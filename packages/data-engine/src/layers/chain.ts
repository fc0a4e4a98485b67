import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { Bug } from '@holdfast/core/model/faults.js';
import { leaseBlocks } from '../disk/aligned-buffers.js';
import { type Extent, type Payload, pooledPayload } from '../nbd/export.js';
import { alignDown, alignUp } from '../protocol/blocks.js';
import type { Layer } from './layer.js';

/** A run of blocks with the layer that holds them; `undefined` if no layer does, so that they read as zeros. */
type Segment = { first: number; count: number; owner: Layer | undefined };

type ReadLayer = (layer: Layer, buffer: Buffer, position: number) => Promise<void>;

const readCached: ReadLayer = (layer, buffer, position) => layer.readCached(buffer, position);
const readFromDisk: ReadLayer = (layer, buffer, position) => layer.readInto(buffer, position);

function payloadOf(blocks: Buffer, before: number, lengthBytes: number, release: () => void): Payload {
  const isAll = blocks.length === lengthBytes;
  return pooledPayload([isAll ? blocks : blocks.subarray(before, before + lengthBytes)], release);
}

/** Chain of layers, oldest first, read as one device: a block is read from the newest layer that holds it. */
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

  /** A number that differs after any change of what the layers hold. */
  get changes(): number {
    return this.layers.reduce((sum, { map }) => sum + map.changes, this.layers.length);
  }

  /** Reads through the page cache, for users. The caller may release the payload. */
  async read(offset: number, lengthBytes: number): Promise<Payload> {
    return this.readWith(readCached, offset, lengthBytes);
  }

  /** The same as `read`, without a thread; `undefined` if that is not possible. */
  readNow(offset: number, lengthBytes: number, isAlone: boolean): Payload | undefined {
    const start = alignDown(offset);
    const blocksBytes = alignUp(offset + lengthBytes) - start;
    const { count, owner } = this.segmentAt(start / BLOCK_BYTES, blocksBytes / BLOCK_BYTES);
    // A range that spans several layers is too rare for a fast path.
    if (owner === undefined || count * BLOCK_BYTES < blocksBytes) return undefined;
    const { buffer, release } = leaseBlocks(blocksBytes);
    if (owner.readCachedNow(buffer, start, isAlone))
      return payloadOf(buffer, offset - start, lengthBytes, release);
    release();
    return undefined;
  }

  /** Reads from the disk, whatever is cached. The caller may release the payload. */
  async readFromDisk(offset: number, lengthBytes: number): Promise<Payload> {
    return this.readWith(readFromDisk, offset, lengthBytes);
  }

  private async readWith(read: ReadLayer, offset: number, lengthBytes: number): Promise<Payload> {
    const start = alignDown(offset);
    const { buffer, release } = leaseBlocks(alignUp(offset + lengthBytes) - start);
    await this.readBlocks(read, buffer, start);
    return payloadOf(buffer, offset - start, lengthBytes, release);
  }

  /** Fills the buffer with the whole blocks from `start` on. */
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

  /** The extents that a layer holds, for readers that check what the disk gives for them. */
  extents(offset: number, lengthBytes: number, extentsMax: number): Extent[] {
    const extents: Extent[] = [];
    for (const { first, count, owner } of this.segments(offset, lengthBytes)) {
      const start = Math.max(offset, first * BLOCK_BYTES);
      const end = Math.min(offset + lengthBytes, (first + count) * BLOCK_BYTES);
      if (!addExtent(extents, end - start, owner !== undefined, extentsMax)) break;
    }
    return extents;
  }

  /** As `extents`, for users: what was trimmed over an older layer is a hole to them. */
  shownExtents(offset: number, lengthBytes: number, extentsMax: number): Extent[] {
    const extents: Extent[] = [];
    let at = offset;
    for (const { first, count, owner } of this.segments(offset, lengthBytes)) {
      for (const run of shownRuns(owner, first, count)) {
        const end = Math.min(offset + lengthBytes, (run.first + run.count) * BLOCK_BYTES);
        if (!addExtent(extents, end - at, run.isData, extentsMax)) return extents;
        at = end;
      }
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
      // The newer layer lacks the block only for `run.count` blocks, so an older one may answer for no more than
      // these.
      count = run.count;
      if (run.held) return { first, count, owner: layer };
    }
    return { first, count, owner: undefined };
  }
}

/** Runs of blocks of one layer, or of none, by whether they are data to a user. */
function* shownRuns(
  owner: Layer | undefined,
  first: number,
  count: number,
): Generator<{ first: number; count: number; isData: boolean }> {
  for (let at = first; at < first + count; ) {
    const run = owner?.zeroedRunAt(at, first + count - at) ?? { count, held: true };
    yield { first: at, count: run.count, isData: !run.held };
    at += run.count;
  }
}

/** The extents of the blocks that one layer holds itself. */
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

/** Appends an extent, merged with the last one if the state is the same. False when the list is full. */
function addExtent(extents: Extent[], lengthBytes: number, allocated: boolean, extentsMax: number): boolean {
  const last = extents.at(-1);
  if (last?.allocated === allocated) last.lengthBytes += lengthBytes;
  else if (extents.length >= extentsMax) return false;
  else extents.push({ lengthBytes, allocated });
  return true;
}
