/** Where the copies of a drained node go in a what-if. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { anExisting, aSimulationView, simulate, TEN } from '@holdfast/testkit/simulation-builder.js';
import { expect, test } from '@jest/globals';
import type { SimulationRequest } from './simulation.js';

const DRAIN = { drain: [{ node: 'a', policy: 'block-for-eviction' }] };
const NEW = { volumes: [{ sizeBytes: 8 * GIB, numberOfReplicas: 1, count: 2 }] };

/** Node a holds the one copy of a volume of 4 GiB, and b and c hold nothing. */
function ask(request: SimulationRequest) {
  const held = { ...TEN, storageScheduledBytes: 4 * GIB };
  const nodes = { a: { disks: { 'a-d': held } }, b: { disks: { 'b-d': TEN } }, c: { disks: { 'c-d': TEN } } };
  const copy = aReplicaOn('a-d', { sizeBytes: 4 * GIB });
  return simulate(request, aSimulationView(nodes, [anExisting('v', [copy], { numberOfReplicas: 1 })]));
}

test('a drain leaves less room for new volumes, by the copies that move', () => {
  const result = ask({ ...DRAIN, ...NEW, settings: { 'storage-over-provisioning-percentage': 100 } });
  expect(result.sentence).toBe('1 of 2 new volumes fit.');
});

test('a drain shows how full the nodes are once its copies have moved', () => {
  const { shown } = ask(DRAIN).nodes;
  const booked = shown.map(({ nodeName, after }) => [nodeName, (after?.scheduledBytes ?? 0) / GIB]);
  expect(Object.fromEntries(booked)).toEqual({ a: 0, b: 4, c: 0 });
});
