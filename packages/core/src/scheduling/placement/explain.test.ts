import { GIB } from '@holdfast/core/model/bytes.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, aRequest, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { PlacementRequest } from '../framework/placement-request.js';
import { curesOf, describeRefusals } from './explain.js';
import { placeReplica } from './place-replica.js';

function refusalsOf(nodes: Record<string, NodePart>, request: Partial<PlacementRequest> = {}) {
  const placement = placeReplica(aRequest(request), aFleet(nodes), NOON);
  return placement.kind === 'refused' ? placement.refusals : [];
}

describe('a refusal in words', () => {
  test('an empty cluster', () => {
    expect(describeRefusals(refusalsOf({}))).toBe('the cluster has no node');
  });

  test('counts first, most frequent first, then each candidate, then what would cure it', () => {
    const nodes = {
      a: { cordoned: true },
      b: { disks: { 'b-1': { ready: false }, 'b-2': { ready: false } } },
      c: { disks: {} },
    };
    expect(describeRefusals(refusalsOf(nodes))).toBe(
      'disk not ready on 2 of 4 disks; node cordoned on 1 of 4 disks; node without disk on 1 of 4 disks. ' +
        'a/a-disk: NodeCordoned (node a is cordoned); b/b-1: DiskNotReady (disk b-1 is not ready); ' +
        'b/b-2: DiskNotReady (disk b-2 is not ready); c: NodeWithoutDisk (node c has no disk). ' +
        'To cure: add a disk to c; or repair disk b-1; or repair disk b-2; ' +
        'or uncordon a, or set disable-scheduling-on-cordoned-node to false.',
    );
  });

  test('a node that is in no tier gives that for each of its disks, whatever they are like', () => {
    const nodes = { a: { disks: { 'a-1': { ready: false }, 'a-2': {} } } };
    const replicas = [aReplicaOn('a-1')];
    const reasonsOf = (request: Partial<PlacementRequest>) =>
      refusalsOf(nodes, { replicas, ...request }).map(({ rejection }) => rejection.reason);
    expect(reasonsOf({})).toEqual(['NodeOccupied', 'NodeOccupied']);
    // In a tier the disks are asked.
    const soft = { nodeAntiAffinity: 'preferred', sizeBytes: 200 * GIB } as const;
    expect(reasonsOf(soft)).toEqual(['DiskNotReady', 'InsufficientProvisionableSpace']);
    expect(reasonsOf({ ...soft, nodeSelector: ['ssd'] })).toEqual(['NodeTagsMissing', 'NodeTagsMissing']);
  });

  test('names a dozen, and how many more there are', () => {
    const disks = Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`d${at}`, { ready: false }]));
    const text = describeRefusals(refusalsOf({ a: { disks } }));
    expect(text).toContain('disk not ready on 15 of 15 disks. a/d0: ');
    expect(text).toContain('a/d11: DiskNotReady (disk d11 is not ready); 3 more. To cure: ');
    expect(text).not.toContain('a/d12');
  });

  test('cures come once each, the most frequent first, then by their words', () => {
    const nodes = {
      a: { disks: { 'a-1': { ready: false } } },
      b: { cordoned: true, disks: { 'b-1': {}, 'b-2': {} } },
      c: { allowScheduling: false },
    };
    expect(curesOf(refusalsOf(nodes))).toEqual([
      'uncordon b, or set disable-scheduling-on-cordoned-node to false',
      'allow scheduling on c',
      'repair disk a-1',
    ]);
  });
});
