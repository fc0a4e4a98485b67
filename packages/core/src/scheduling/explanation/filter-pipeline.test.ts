import { GIB } from '@holdfast/core/model/bytes.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, aRequest, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import { beginCycle } from '../framework/framework.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { HOLDFAST_PROFILE } from '../placement/profile.js';
import { REJECTIONS_SHOWN_MAX } from './explanation.js';
import { runFilterPipeline } from './filter-pipeline.js';

const FULL = { storageScheduledBytes: 100 * GIB };

function ask(nodes: Record<string, NodePart>, request: Partial<PlacementRequest> = {}) {
  return runFilterPipeline(beginCycle(aRequest(request), aFleet(nodes), HOLDFAST_PROFILE, NOON));
}

/** `rejected of asked`, and the reasons. */
function row({ filters }: ReturnType<typeof runFilterPipeline>, name: string): string {
  const found = filters.filter((filter) => filter.name === name);
  return found
    .map(({ rejected, asked, reasons }) =>
      [`${rejected} of ${asked}`, ...reasons.map(({ reason, count }) => `${reason} ${count}`)].join(', '),
    )
    .join('; ');
}

const outcomesOf = ({ tiers }: ReturnType<typeof runFilterPipeline>) =>
  tiers.map(({ nodes, candidates, outcome }) => `${outcome}: ${candidates} on ${nodes}`);

test('a tier ends without a node, without a disk, as the one that is taken, or is not needed', () => {
  const nodes = { a: { zone: 'east' }, b: { zone: 'west', disks: { 'b-1': FULL } }, c: { zone: 'east' } };
  const asked = ask(nodes, { replicas: [aReplicaOn('a-disk')] });
  expect(outcomesOf(asked)).toEqual(['no-disk: 0 on 1', 'won: 1 on 2', 'not-needed: 0 on 0']);
  expect(asked.candidates.map(({ id }) => id)).toEqual(['c-disk']);
  // Both nodes were tried, so both disks were asked.
  expect(row(asked, 'provisionable-space')).toBe('1 of 2, InsufficientProvisionableSpace 1');

  const east = ask({ a: nodes.a, c: nodes.c }, { replicas: [aReplicaOn('a-disk')] });
  expect(outcomesOf(east)).toEqual(['no-node: 0 on 0', 'won: 1 on 1', 'not-needed: 0 on 0']);
});

test('a node that only a tier that was not needed holds is refused for its zone', () => {
  const nodes = { a: { zone: 'east' }, b: { zone: 'west' }, c: { zone: 'east' } };
  const asked = ask(nodes, { replicas: [aReplicaOn('a-disk')] });
  expect(outcomesOf(asked)).toEqual(['won: 1 on 1', 'not-needed: 0 on 2', 'not-needed: 0 on 0']);
  expect(row(asked, 'node-anti-affinity')).toBe('1 of 3, NodeOccupied 1');
  expect(row(asked, 'zone-anti-affinity')).toBe('1 of 2, ZoneOccupied 1');
  expect(row(asked, 'disk-ready')).toBe('0 of 1');
});

test('a disk that holds a replica is refused last, when all else of it passed', () => {
  const nodes = { a: { disks: { 'a-1': {}, 'a-2': {}, 'a-3': FULL } } };
  const soft = { nodeAntiAffinity: 'preferred', replicas: [aReplicaOn('a-1')] } as const;
  expect(row(ask(nodes, soft), 'disk-anti-affinity')).toBe('1 of 2, DiskOccupied 1');
  const both = [aReplicaOn('a-1'), aReplicaOn('a-2')];
  const hard = ask(nodes, { ...soft, replicas: both, diskAntiAffinity: 'required' });
  expect(row(hard, 'disk-anti-affinity')).toBe('2 of 2, DiskOccupied 2');
  expect(outcomesOf(hard)).toEqual(['no-node: 0 on 0', 'no-node: 0 on 0', 'no-disk: 0 on 1']);
});

test('every rule has its row, also one that has nothing to say', () => {
  const { filters } = ask({ a: {} });
  expect(filters.filter(({ applies }) => !applies).map(({ name }) => name)).toEqual([
    'linked-clone-node',
    'required-node',
    'topology',
    'node-tags',
    'backing-image-node',
    'reuse-disk',
    'linked-clone-disk',
    'file-system-limit',
    'disk-tags',
    'backing-image-disk',
  ]);
  expect(filters.filter(({ applies }) => applies).map(({ name, asked }) => `${name} ${asked}`)).toEqual([
    'node-ready 1',
    'node-schedulable 1',
    'node-maintenance 1',
    'node-allow-scheduling 1',
    'engine-available 1',
    'node-anti-affinity 1',
    'zone-anti-affinity 1',
    'node-has-disk 1',
    'disk-ready 1',
    'disk-allow-scheduling 1',
    'disk-type 1',
    'free-space 1',
    'provisionable-space 1',
    'disk-anti-affinity 1',
  ]);
  expect(filters.filter(({ applies, asked }) => !applies && asked > 0)).toEqual([]);
});

test('the refused are listed by name, at most twenty of a rule, and counted all', () => {
  const nodes = Object.fromEntries(
    Array.from({ length: 25 }, (_, at) => [
      `n${99 - at}`,
      at < 3 ? { evictionRequested: true } : { cordoned: true },
    ]),
  );
  const { filters } = ask(nodes);
  const found = filters.find(({ name }) => name === 'node-schedulable');
  expect(found).toMatchObject({ asked: 25, rejected: 25 });
  expect(found?.reasons).toEqual([
    { reason: 'NodeCordoned', count: 22 },
    { reason: 'NodeEvicting', count: 3 },
  ]);
  expect(found?.rejections).toHaveLength(REJECTIONS_SHOWN_MAX);
  expect(found?.rejections[0]).toEqual({
    nodeId: 'n75',
    nodeName: 'n75',
    diskId: null,
    diskName: null,
    reason: 'NodeCordoned',
    message: 'node n75 is cordoned',
    numbers: null,
  });
});
