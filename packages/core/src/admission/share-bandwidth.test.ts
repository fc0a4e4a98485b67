import { aRebuild, testId } from '@holdfast/testkit/builders.js';
import { expect, test } from '@jest/globals';
import { MIB } from '../model/bytes.js';
import { asId } from '../model/ids.js';
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

test.each<{ name: string; limit: number; running: Rebuild[]; want: (number | undefined)[] }>([
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
])('$name', ({ limit, running, want }) => {
  const settings = effectiveSettings({ 'replica-rebuilding-bandwidth-limit': limit });
  expect([...shareBandwidth(running, settings).values()]).toEqual(want);
});
