import crypto from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { ClusterMap } from './cluster-map.js';

const FILE = crypto.randomBytes(16);
const NOTHING = Buffer.alloc(4096);

/** The page that a map would write that has part 5 in this cluster, and was written so many times before. */
function pageOf(cluster: number, before: number, file = FILE): Buffer {
  const map = new ClusterMap(file);
  for (let round = 0; round <= before; round += 1) {
    map.set(5, round === before ? cluster : 0);
    const pages = map.takeDirty();
    if (round === before) return pages[0]?.block ?? NOTHING;
    map.wrote(pages);
  }
  return NOTHING;
}

function damaged(page: Buffer): Buffer {
  const copy = Buffer.from(page);
  copy.writeUInt8((copy[3000] ?? 0) ^ 1, 3000);
  return copy;
}

describe('of the two places of a page', () => {
  test.each<{ name: string; places: [Buffer, Buffer]; cluster: number | undefined }>([
    { name: 'the newer one holds', places: [pageOf(7, 0), pageOf(8, 1)], cluster: 8 },
    { name: 'the newer one holds, wherever it is', places: [pageOf(8, 1), pageOf(7, 0)], cluster: 8 },
    {
      name: 'the older one, when the newer is not whole',
      places: [pageOf(7, 0), damaged(pageOf(8, 1))],
      cluster: 7,
    },
    { name: 'none, when none is whole', places: [damaged(pageOf(7, 0)), NOTHING], cluster: undefined },
    {
      name: 'none of another file that had the space before',
      places: [pageOf(7, 0, crypto.randomBytes(16)), NOTHING],
      cluster: undefined,
    },
  ])('$name', ({ places, cluster }) => {
    const map = new ClusterMap(FILE);
    map.load(0, places);
    expect(map.get(5)).toBe(cluster);
  });

  test('a change goes to the one that does not hold, until it is known to be written', () => {
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
