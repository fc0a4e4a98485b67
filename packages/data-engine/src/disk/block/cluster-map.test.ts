import crypto from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { ClusterMap, type StoredPage, sideInCluster } from './cluster-map.js';
import { SLOT_SIDE_BYTES } from './sealed-pair.js';

const FILE = crypto.randomUUID();
const SECTOR = 512;

const newest = (changes: number): 0 | 1 => (changes % 2 === 0 ? 1 : 0);
const flip = (block: Buffer) => block.writeUInt8((block[3000] ?? 0) ^ 1, 3000);
const blank = (block: Buffer) => block.fill(0);

describe('of the A/B slots of a page', () => {
  test.each<{ name: string; sides: [Buffer, Buffer]; cluster: number | undefined | 'damaged' }>([
    { name: 'none has anything at first', sides: sidesAfter(0), cluster: undefined },
    { name: 'the newer one holds', sides: sidesAfter(1), cluster: 1 },
    { name: 'the newer one holds, wherever it is', sides: sidesAfter(2), cluster: 2 },
    { name: 'the older one, when the newer was cut short', sides: cutShort(3, 4), cluster: 2 },
    { name: 'the older one, when the newer has just begun', sides: cutShort(3, 1), cluster: 2 },
    { name: 'none, when the first change was cut short', sides: cutShort(1, 4), cluster: undefined },
    {
      name: 'none is believed when a bit of the newer changed',
      sides: changed(sidesAfter(3), newest(3), flip),
      cluster: 'damaged',
    },
    {
      name: 'none is believed when the newer is gone',
      sides: changed(sidesAfter(3), newest(3), blank),
      cluster: 'damaged',
    },
    {
      name: 'none is believed when the first one is gone',
      sides: changed(sidesAfter(1), newest(1), blank),
      cluster: 'damaged',
    },
    {
      name: 'none is believed when the older is gone',
      sides: changed(sidesAfter(3), newest(2), blank),
      cluster: 'damaged',
    },
    {
      name: 'none is believed when the newer is as it was long ago',
      sides: [sidesAfter(0)[0], sidesAfter(4)[1]],
      cluster: 'damaged',
    },
    {
      name: 'none is believed of another file that had the space before',
      sides: sidesAfter(2, crypto.randomUUID()),
      cluster: 'damaged',
    },
    {
      name: 'none is believed on the side of the other',
      sides: [sidesAfter(2)[1], sidesAfter(2)[0]],
      cluster: 'damaged',
    },
  ])('$name', ({ sides, cluster }) => {
    const map = new ClusterMap(FILE);
    const isGood = map.load(0, sides);
    expect(isGood ? map.get(5) : 'damaged').toBe(cluster);
  });

  test('a change goes to the inactive slot, until it is known to be written', () => {
    const map = new ClusterMap(FILE);
    map.set(1, 1);
    const first = map.takeDirty();
    map.wrote(first);
    map.set(1, 2);
    const failed = map.takeDirty();
    map.failed(failed);
    const again = map.takeDirty();
    expect(failed[0]?.which).not.toBe(first[0]?.which);
    expect(again[0]?.which).toBe(failed[0]?.which);
  });
});

/** Both sides of a page in which part 5 was mapped to clusters 1, 2, 3, one after the other. */
function sidesAfter(changes: number, file = FILE): [Buffer, Buffer] {
  const map = new ClusterMap(file);
  const empty = map.emptyCluster(0);
  const at = (which: 0 | 1) =>
    Buffer.from(empty.subarray(sideInCluster(0, which)).subarray(0, SLOT_SIDE_BYTES));
  const sides: [Buffer, Buffer] = [at(0), at(1)];
  for (let cluster = 1; cluster <= changes; cluster += 1) {
    map.set(5, cluster);
    const pages = map.takeDirty();
    put(sides, pages);
    map.wrote(pages);
  }
  return sides;
}

function put(sides: [Buffer, Buffer], pages: readonly StoredPage[]): void {
  for (const { block, which } of pages) sides[which] = block;
}

/** The sides after that many changes, with the last one torn: only its first `sectors` sectors were written. */
function cutShort(changes: number, sectors: number): [Buffer, Buffer] {
  const [before, after] = [sidesAfter(changes - 1), sidesAfter(changes)];
  const which = before[0].equals(after[0]) ? 1 : 0;
  const half = Buffer.concat([
    after[which].subarray(0, sectors * SECTOR),
    before[which].subarray(sectors * SECTOR),
  ]);
  return which === 0 ? [half, before[1]] : [before[0], half];
}

function changed(
  [first, second]: [Buffer, Buffer],
  which: 0 | 1,
  change: (block: Buffer) => unknown,
): [Buffer, Buffer] {
  const sides: [Buffer, Buffer] = [Buffer.from(first), Buffer.from(second)];
  change(sides[which]);
  return sides;
}
