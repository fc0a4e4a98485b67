/** The index at the bounds that it sets itself: more selectors, kinds of requests and views than it remembers. */
import { NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, aRequest, outcomeOf } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import type { FleetView } from '../../model/views.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { placeReplica } from '../placement/place-replica.js';
import { buildFleetIndex } from './fleet-index.js';

const outcome = (request: PlacementRequest, view: FleetView) => {
  const text = outcomeOf(placeReplica(request, view, NOON));
  return view.disks.some(({ id }) => id === text) ? text : 'none';
};

test('more selectors than are remembered: each still finds its own disk', () => {
  const view = aFleet({
    n1: { tags: ['t1'], disks: { d1: { tags: ['u1'] } } },
    n2: { tags: ['t2'], disks: { d2: { tags: ['u2'] } } },
  });
  const index = buildFleetIndex(view);
  const place = (node: string, disk: string) => {
    const placement = index.place(aRequest({ nodeSelector: [node], diskSelector: [disk] }), NOON);
    return placement.kind === 'placed' ? placement.diskId : 'none';
  };
  // The first numbers are theirs, and given to others once the index has started over.
  expect(place('t1', 'u1')).toBe('d1');
  for (let at = 0; at < 10_000; at += 1) {
    expect(place(`t${at}`, `u${at % 3}`)).toBe(at === 1 ? 'd1' : at === 2 ? 'd2' : 'none');
    if (at % 7 > 0) continue;
    expect([place('t1', 'u1'), place('t2', 'u2'), place('t1', 'u2')]).toEqual(['d1', 'd2', 'none']);
  }
});

test.each([1, 0.5])('more kinds of disks asked for than a group keeps views of, α = %d', (alpha) => {
  const tags = Array.from({ length: 12 }, (_, at) => `tag${at}`);
  const nodes = Array.from({ length: 9 }, (_, n) => {
    const disks = tags.map((tag, d) => [
      `n${n}-d${d}`,
      { bytes: 4000, storageScheduledBytes: ((n * n * 7 + d * 13) % 23) * 130, tags: [tag, `half${d % 2}`] },
    ]);
    return [`n${n}`, { disks: Object.fromEntries(disks) }];
  });
  const view = aFleet(Object.fromEntries(nodes), { 'balance-alpha': alpha });
  const index = buildFleetIndex(view);
  for (const tag of [...tags, 'half0', 'half1']) {
    for (const sizeBytes of [100, 1000, 1500, 3000, 3900]) {
      const request = aRequest({ diskSelector: [tag], sizeBytes });
      const placement = index.place(request, NOON);
      expect(placement.kind === 'placed' ? placement.diskId : 'none').toBe(outcome(request, view));
    }
  }
});

test.each([250, 300])(
  '%d nodes that are each unlike the rest of their group, where the ratio counts',
  (count) => {
    // One disk of each node is too full for the larger requests: beyond 256 such nodes each stands for itself.
    const nodes = Array.from({ length: count }, (_, n) => [
      `n${n}`,
      {
        disks: {
          [`n${n}-ok`]: { bytes: 4000, storageScheduledBytes: (n * 37) % 1500 },
          [`n${n}-full`]: { bytes: 4000, storageScheduledBytes: 3900 },
        },
      },
    ]);
    const view = aFleet(Object.fromEntries(nodes), { 'balance-alpha': 0.4 });
    const index = buildFleetIndex(view);
    for (const sizeBytes of [50, 500, 2400, 3999]) {
      const request = aRequest({ sizeBytes, replicas: [aReplicaOn('n1-ok'), aReplicaOn('n5-ok')] });
      const placement = index.place(request, NOON);
      expect(placement.kind === 'placed' ? placement.diskId : 'none').toBe(outcome(request, view));
    }
  },
);

test('a disk that the index does not have is not booked', () => {
  const view = aFleet({ n1: {} });
  const [disk] = view.disks;
  const index = buildFleetIndex({ ...view, disks: [] });
  expect(() => disk && index.book(disk.id, { sizeBytes: 1, writtenBytes: 0 })).toThrow('does not have');
});
