import { expect, test } from '@jest/globals';
import type { ClusterOwners } from './cluster-owners.js';
import { CopySpace } from './copy-space.js';

/** An owner table with that many free clusters, which counts its calls. */
class CountedOwners {
  takes = 0;
  free: number;
  private next = 0;

  constructor(clusters: number) {
    this.free = clusters;
  }

  async take(_place: number, least: number, most: number): Promise<number[]> {
    this.takes += 1;
    if (this.free < least) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    const count = Math.min(most, this.free);
    this.free -= count;
    const first = this.next;
    this.next += count;
    return Array.from({ length: count }, (_, index) => first + index);
  }

  async give(clusters: readonly number[]): Promise<void> {
    this.free += clusters.length;
  }

  /** The cast: a copy's space uses nothing else. */
  get asOwners(): ClusterOwners {
    return this as unknown as ClusterOwners;
  }
}

test('a stream allocates ever less often, and never keeps more than a sixteenth of what it has used', async () => {
  const owners = new CountedOwners(100_000);
  const space = new CopySpace(owners.asOwners, 0);
  const taken: number[] = [];
  for (let mebibytes = 0; mebibytes < 1000; mebibytes += 1) {
    taken.push(...(await space.data(16)));
    const unused = 100_000 - owners.free - taken.length;
    // Half of one allocation may be left when the next one comes.
    expect(unused).toBeLessThanOrEqual(Math.max(16, Math.min(256, taken.length / 16) * 1.5));
  }
  expect(new Set(taken).size).toBe(16_000);
  expect(owners.takes).toBeLessThan(200);
  await space.close();
  expect(owners.free).toBe(100_000 - taken.length);
});

test('a copy with little in it allocates no more than a MiB ahead', async () => {
  const owners = new CountedOwners(1000);
  await new CopySpace(owners.asOwners, 0).data(1);
  expect(1000 - owners.free).toBe(16);
});

test('every free cluster is allocated before there is no space', async () => {
  const owners = new CountedOwners(1000);
  const space = new CopySpace(owners.asOwners, 0);
  const taken: number[] = [];
  const takeAll = async () => {
    for (;;) taken.push(...(await space.data(7)));
  };
  await expect(takeAll()).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(taken.length).toBe(1000 - (1000 % 7));
});
