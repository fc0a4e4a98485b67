/** Joins blobs that lie close to each other into reads: an answer that brings some bytes for nothing is cheaper than a further request. */
import type { BlobLocation } from '../model/format.js';

/** Bytes between two blobs that are read along. */
const GAP_BYTES = 256 * 1024;
/** Size of a read: large enough for S3's throughput, and small enough to hold several in memory. */
const READ_BYTES_MAX = 8 * 1024 * 1024;
/** What the blobs of a read come to at most, unless it is of one blob: well compressed ones would else take all memory. */
const CONTENT_BYTES_MAX = 32 * 1024 * 1024;

export type RangeRead<Item> = {
  readonly pack: string;
  readonly offset: number;
  readonly lengthBytes: number;
  readonly items: readonly Item[];
};

export function planRanges<Item extends { readonly at: BlobLocation }>(
  items: readonly Item[],
): RangeRead<Item>[] {
  const sorted = [...items].sort((a, b) =>
    a.at.pack === b.at.pack ? a.at.offset - b.at.offset : a.at.pack < b.at.pack ? -1 : 1,
  );
  const reads: { pack: string; offset: number; end: number; contentBytes: number; items: Item[] }[] = [];
  for (const item of sorted) {
    const { pack, offset, storedBytes, rawBytes } = item.at;
    const last = reads.at(-1);
    const end = offset + storedBytes;
    const isJoined =
      last?.pack === pack &&
      offset - last.end <= GAP_BYTES &&
      end - last.offset <= READ_BYTES_MAX &&
      last.contentBytes + rawBytes <= CONTENT_BYTES_MAX;
    if (isJoined) {
      last.end = Math.max(last.end, end);
      last.contentBytes += rawBytes;
      last.items.push(item);
    } else reads.push({ pack, offset, end, contentBytes: rawBytes, items: [item] });
  }
  return reads.map(({ end, contentBytes: _, ...read }) => ({ ...read, lengthBytes: end - read.offset }));
}
