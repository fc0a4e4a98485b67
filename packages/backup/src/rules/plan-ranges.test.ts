import { expect, test } from '@jest/globals';
import { BLOB_KIND, type BlobLocation, CODEC } from '../model/format.js';
import { planRanges } from './plan-ranges.js';

const MIB = 1024 ** 2;
const blob = (pack: string, offset: number, storedBytes: number, rawBytes = MIB) => {
  const at: BlobLocation = { pack, offset, storedBytes, rawBytes, codec: CODEC.zstd, kind: BLOB_KIND.block };
  return { at };
};
const row = (count: number, storedBytes: number, rawBytes = MIB) =>
  Array.from({ length: count }, (_, index) => blob('p', index * storedBytes, storedBytes, rawBytes));
const sizes = (blobs: ReturnType<typeof row>) => planRanges(blobs).map(({ items }) => items.length);

test.each([
  { name: 'neighbours are read at once', blobs: row(5, 1000), want: [5] },
  {
    name: 'packs are read apart',
    blobs: [blob('b', 0, 10), blob('a', 0, 10), blob('b', 10, 10)],
    want: [1, 2],
  },
  {
    name: 'a small gap is read along, a large one is not',
    blobs: [blob('p', 0, 1), blob('p', 256 * 1024, 1), blob('p', MIB, 1)],
    want: [2, 1],
  },
  { name: 'a read has 8 MiB at most', blobs: row(10, MIB), want: [8, 2] },
  { name: 'what it comes to has 32 MiB at most', blobs: row(40, 1000), want: [32, 8] },
  { name: 'a blob that is larger is read alone', blobs: row(2, 1000, 40 * MIB), want: [1, 1] },
])('$name', ({ blobs, want }) => {
  expect(sizes(blobs)).toEqual(want);
});
