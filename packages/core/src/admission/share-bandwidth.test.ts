import { aRebuild, testId } from '@holdfast/testkit/builders.js';
import { expect, test } from '@jest/globals';
import { MIB } from '../model/bytes.js';
import { asId, type VolumeId } from '../model/ids.js';
import type { Rebuild } from '../model/rebuild.js';
import { effectiveSettings } from '../settings/effective.js';
import { shareBandwidth } from './share-bandwidth.js';

const rebuild = (number: number, node: number, part: Partial<Rebuild> = {}) =>
  aRebuild({
    clusterId: asId(testId(1)),
    volumeId: asId(testId(number)),
    id: asId(testId(200 + number)),
    targetNodeId: asId(testId(300 + node)),
    ...part,
  });

/** Volumes 1 to 3 are of the engine v1; from 4 on of v2. Those of 7 and 8 may be copied at 20 MiB/s, as they say. */
const specOf = (volumeId: VolumeId) => ({
  dataEngine: volumeId < testId(4) ? ('v1' as const) : ('v2' as const),
  replicaRebuildingBandwidthLimit: volumeId < testId(7) ? 0 : 20,
});

test.each<{ name: string; limit: unknown; running: Rebuild[]; want: (number | undefined)[] }>([
  { name: 'without limits it is unbounded', limit: 0, running: [rebuild(1, 1)], want: [undefined] },
  {
    name: 'rebuilds of one target node share its limit',
    limit: 90,
    running: [rebuild(1, 1), rebuild(2, 1), rebuild(3, 2)],
    want: [45 * MIB, 45 * MIB, 90 * MIB],
  },
  {
    name: 'a paused one leaves its share to the others',
    limit: 90,
    running: [rebuild(1, 1, { paused: true }), rebuild(2, 1)],
    want: [90 * MIB, 90 * MIB],
  },
  {
    name: 'its own limit counts where it is lower',
    limit: 90,
    running: [rebuild(1, 1, { bandwidthBytesPerSecond: 10 * MIB }), rebuild(2, 1)],
    want: [10 * MIB, 45 * MIB],
  },
  {
    name: 'a share is never so small that a rebuild looks stuck',
    limit: 1,
    running: [rebuild(1, 1), rebuild(2, 1)],
    want: [MIB, MIB],
  },
  {
    name: 'rebuilds of both engines share what the node may receive',
    limit: 90,
    running: [rebuild(1, 1), rebuild(4, 1)],
    want: [45 * MIB, 45 * MIB],
  },
  {
    name: 'with a map, those of one engine share what is its own',
    limit: { v1: 30, v2: 80 },
    running: [rebuild(1, 1), rebuild(4, 1), rebuild(5, 1)],
    want: [30 * MIB, 40 * MIB, 40 * MIB],
  },
  {
    name: 'an engine that the map leaves out is not limited',
    limit: '{"v2":"40"}',
    running: [rebuild(1, 1), rebuild(4, 1)],
    want: [undefined, 40 * MIB],
  },
  {
    name: 'what a volume says is in place of a share, and leaves the others theirs',
    limit: 40,
    running: [rebuild(1, 1), rebuild(7, 1), rebuild(2, 1)],
    want: [20 * MIB, 20 * MIB, 20 * MIB],
  },
  { name: 'a volume may say more than its cluster', limit: 10, running: [rebuild(7, 1)], want: [20 * MIB] },
  {
    name: 'a rebuild has no more than was said of it alone',
    limit: 0,
    running: [
      rebuild(7, 1, { bandwidthBytesPerSecond: 5 * MIB }),
      rebuild(8, 1, { bandwidthBytesPerSecond: 50 * MIB }),
    ],
    want: [5 * MIB, 20 * MIB],
  },
])('$name', ({ limit, running, want }) => {
  const settings = effectiveSettings({ 'replica-rebuilding-bandwidth-limit': limit });
  expect([...shareBandwidth(running, settings, specOf).values()]).toEqual(want);
});
