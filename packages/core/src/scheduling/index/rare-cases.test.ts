/** Cases that chance meets too seldom: the index must answer as the linear path does in these as well. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type NodeId } from '@holdfast/core/model/ids.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, aRequest, type DiskPart, outcomeOf } from '@holdfast/testkit/fleet-builder.js';
import { Chance } from '@holdfast/testkit/random-fleet.js';
import { expect, test } from '@jest/globals';
import type { FleetView } from '../../model/views.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { placeReplica } from '../placement/place-replica.js';
import { buildFleetIndex, type FleetIndex } from './fleet-index.js';

function both(index: FleetIndex, view: FleetView, request: PlacementRequest): [string, string] {
  const fast = index.place(request, NOON);
  return [outcomeOf(placeReplica(request, view, NOON)), fast.kind === 'placed' ? fast.diskId : 'none'];
}

test('on the tier of used nodes, too, the local node is preferred to one with more space', () => {
  const view = aFleet({
    a: { disks: { 'a-1': { bytes: 900 * GIB }, 'a-2': { bytes: 900 * GIB } } },
    b: { disks: { 'b-1': { bytes: 90 * GIB }, 'b-2': { bytes: 90 * GIB } } },
  });
  const justNow = new Date(NOON.getTime() - 1000);
  const request = aRequest({
    nodeAntiAffinity: 'preferred',
    localNodeId: asId<NodeId>('b'),
    replicas: [
      aReplicaOn('a-1'),
      // Its copy on the local node has failed, but may come back: the node is in use and holds none that lives.
      aReplicaOn('b-1', { healthyAt: undefined, failedAt: justNow, lastFailedAt: justNow }),
    ],
  });
  expect(both(buildFleetIndex(view), view, request)).toEqual(['b-2', 'b-2']);
});

test('a group whose fullest node has no disk for the replica is judged by its next one', () => {
  // Of 100 bytes each: what is usable. The first node's sum makes its group look best, and neither of its disks holds 80;
  // the second scores worse than the other group's only node, which has fewer bytes.
  const used = (usable: number): DiskPart => ({ bytes: 100, storageScheduledBytes: 100 - usable });
  const view = aFleet(
    {
      a1: { disks: { 'a1-x': used(75), 'a1-y': used(75) } },
      a2: { disks: { 'a2-x': used(90), 'a2-y': used(6) } },
      b: { disks: { 'b-x': used(95) } },
    },
    { 'balance-alpha': 0, 'storage-over-provisioning-percentage': 300 },
  );
  expect(both(buildFleetIndex(view), view, aRequest({ sizeBytes: 80 }))).toEqual(['b-x', 'b-x']);
});

test('with more selectors than are kept apart, and a ratio in the score', () => {
  const chance = new Chance(7);
  const kinds = ['a', 'b', 'c', 'd', 'a b', 'c d', 'a c', 'b d', 'a d', 'b c', 'a b c'];
  const nodes = Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => {
      const disks = kinds.map((kind, d): [string, DiskPart] => {
        const used = chance.below(80) * GIB;
        const bytes = (100 + 50 * (d % 3)) * GIB;
        return [`n${n}-${d}`, { bytes, storageScheduledBytes: used, tags: kind.split(' ') }];
      });
      return [`n${n}`, { disks: Object.fromEntries(disks) }];
    }),
  );
  const view = aFleet(nodes, { 'balance-alpha': 0.3 });
  const index = buildFleetIndex(view);
  for (let round = 0; round < 3; round += 1) {
    for (const kind of kinds) {
      for (const sizeBytes of [GIB, 10 * GIB, 40 * GIB]) {
        const request = aRequest({ sizeBytes, diskSelector: kind.split(' ') });
        const [linear, fast] = both(index, view, request);
        expect({ kind, sizeBytes, fast }).toEqual({ kind, sizeBytes, fast: linear });
      }
    }
  }
});
