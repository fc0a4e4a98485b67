import { NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, aRequest, type NodePart, outcomeOf } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { NodeDrain } from '../../model/node-drain.js';
import type { Replica } from '../../model/replica.js';
import type { SettingName } from '../../model/setting.js';
import type { SettingValue } from '../../settings/effective.js';
import type { AntiAffinity, PlacementRequest } from '../framework/placement-request.js';
import { placeReplica } from '../placement/place-replica.js';

const SOFT: AntiAffinity = 'preferred';
const HARD: AntiAffinity = 'required';

type Case = {
  name: string;
  /** Nodes in the order a, b, c; by default a1 and a2 in zone a, b1 in zone b. */
  nodes?: Record<string, NodePart>;
  replicas: Replica[];
  request?: Partial<PlacementRequest>;
  settings?: Partial<Record<SettingName, SettingValue>>;
  want: string;
};

const DRAIN: NodeDrain = { policy: 'block-for-eviction', requestedAt: NOON, wasCordoned: false };

const NODES: Record<string, NodePart> = { a1: { zone: 'a' }, a2: { zone: 'a' }, b1: { zone: 'b' } };

const ask = ({ nodes = NODES, replicas, request = {}, settings = {} }: Case) =>
  outcomeOf(placeReplica(aRequest({ replicas, ...request }), aFleet(nodes, settings), NOON));

describe('the anti-affinity tiers', () => {
  const a1 = aReplicaOn('a1-disk');
  const b1 = aReplicaOn('b1-disk');
  test.each<Case>([
    { name: 'an unused zone comes first', replicas: [a1], want: 'b1-disk' },
    {
      name: 'also when it has less space',
      nodes: { ...NODES, b1: { zone: 'b', disks: { 'b1-disk': { bytes: 2 ** 31 } } } },
      replicas: [a1],
      want: 'b1-disk',
    },
    { name: 'then an unused node in a used zone', replicas: [a1, b1], want: 'a2-disk' },
    {
      name: 'not when zones are hard',
      replicas: [a1, b1],
      request: { zoneAntiAffinity: HARD },
      want: 'NodeOccupied ZoneOccupied',
    },
    {
      name: 'hard zones make the node flag irrelevant',
      replicas: [a1, b1],
      request: { zoneAntiAffinity: HARD, nodeAntiAffinity: SOFT },
      want: 'NodeOccupied ZoneOccupied',
    },
    {
      name: 'a used node only when nodes are soft',
      replicas: [a1, aReplicaOn('a2-disk'), b1],
      want: 'NodeOccupied',
    },
    {
      name: 'a used node, on its free disk',
      nodes: { a1: { zone: 'a', disks: { 'a1-disk': {}, 'a1-other': { bytes: 2 ** 32 } } } },
      replicas: [a1],
      request: { nodeAntiAffinity: SOFT },
      want: 'a1-other',
    },
    {
      name: 'a tier is left when its disks are full, not only when it is empty',
      nodes: { ...NODES, b1: { zone: 'b', disks: { 'b1-disk': { storageAvailableBytes: 1 } } } },
      replicas: [a1],
      want: 'a2-disk',
    },
    {
      name: 'the used tier honours the node selector',
      nodes: { a1: { zone: 'a' } },
      replicas: [a1],
      request: { nodeAntiAffinity: SOFT, nodeSelector: ['fast'] },
      want: 'NodeTagsMissing',
    },
    {
      name: 'nodes without a zone share one',
      nodes: { a1: {}, a2: {}, b1: { zone: 'b' } },
      replicas: [a1],
      want: 'b1-disk',
    },
  ])('$name', (row) => {
    expect(ask(row)).toBe(row.want);
  });
});

describe('who holds a place', () => {
  const HARD_ZONES = { zoneAntiAffinity: HARD } as const;
  const NODES_A_B: Record<string, NodePart> = { a1: { zone: 'a' }, a2: { zone: 'a' } };
  const longAgo = new Date(NOON.getTime() - 600_000);
  const justNow = new Date(NOON.getTime() - 599_000);
  test.each<Case>([
    {
      name: 'a copy that was never healthy does',
      nodes: NODES_A_B,
      replicas: [aReplicaOn('a1-disk', { healthyAt: undefined })],
      want: 'NodeOccupied ZoneOccupied',
    },
    {
      name: 'a failed one that may come back does',
      nodes: NODES_A_B,
      replicas: [aReplicaOn('a1-disk', { failedAt: justNow })],
      want: 'NodeOccupied ZoneOccupied',
    },
    {
      name: 'until its wait is over',
      nodes: NODES_A_B,
      replicas: [aReplicaOn('a1-disk', { failedAt: longAgo })],
      want: 'a2-disk',
    },
    {
      name: 'one that is out of tries does not',
      nodes: NODES_A_B,
      replicas: [aReplicaOn('a1-disk', { failedAt: justNow, rebuildRetryCount: 5 })],
      want: 'a1-disk',
    },
    {
      name: 'one on a node that is down does: it will return there',
      nodes: { a1: { zone: 'a', ready: false }, a2: { zone: 'a' } },
      replicas: [aReplicaOn('a1-disk')],
      want: 'NodeNotReady ZoneOccupied',
    },
    {
      name: 'one that is being evicted lets its replacement share the zone',
      nodes: NODES_A_B,
      replicas: [aReplicaOn('a1-disk', { intent: 'evict' })],
      want: 'a2-disk',
    },
    {
      name: 'so does one whose disk is being emptied, on another disk',
      nodes: {
        a1: {
          zone: 'a',
          disks: { 'a1-disk': { evictionRequested: true, allowScheduling: false }, 'a1-new': {} },
        },
      },
      replicas: [aReplicaOn('a1-disk')],
      want: 'a1-new',
    },
    {
      name: 'one whose node is being emptied leaves the zone too',
      nodes: {
        a1: { zone: 'a', evictionRequested: true },
        a2: { zone: 'a', disks: { 'a2-disk': {}, 'a2-new': { bytes: 2 ** 32 } } },
      },
      replicas: [aReplicaOn('a1-disk'), aReplicaOn('a2-disk', { intent: 'evict' })],
      want: 'a2-new',
    },
    {
      name: 'one whose node is being emptied leaves its zone to an unused node',
      nodes: { a1: { zone: 'a', evictionRequested: true }, a2: { zone: 'a' } },
      replicas: [aReplicaOn('a1-disk')],
      want: 'a2-disk',
    },
    {
      name: 'one whose node is drained leaves its zone to an unused node',
      nodes: { a1: { zone: 'a', drain: DRAIN }, a2: { zone: 'a' } },
      replicas: [aReplicaOn('a1-disk')],
      want: 'a2-disk',
    },
    {
      name: 'one whose disk is being emptied leaves its zone to an unused node first',
      nodes: {
        a1: {
          zone: 'a',
          disks: { 'a1-disk': { evictionRequested: true, allowScheduling: false }, 'a1-new': {} },
        },
        a2: { zone: 'a', disks: { 'a2-disk': { bytes: 2 ** 32 } } },
      },
      replicas: [aReplicaOn('a1-disk')],
      want: 'a2-disk',
    },
    {
      name: 'an unused zone comes before the zone of a leaving copy',
      nodes: {
        a1: { zone: 'a', evictionRequested: true },
        a2: { zone: 'a' },
        b1: { zone: 'b', disks: { 'b1-disk': { bytes: 2 ** 32 } } },
      },
      replicas: [aReplicaOn('a1-disk')],
      want: 'b1-disk',
    },
    {
      name: 'a copy that stays keeps the zone from the replacement of one that leaves',
      nodes: { a1: { zone: 'a', evictionRequested: true }, a2: { zone: 'a' }, a3: { zone: 'a' } },
      replicas: [aReplicaOn('a1-disk'), aReplicaOn('a2-disk')],
      want: 'NodeEvicting NodeOccupied ZoneOccupied',
    },
    {
      name: 'one that is to be removed does not',
      nodes: NODES_A_B,
      replicas: [aReplicaOn('a1-disk', { intent: 'remove' })],
      want: 'a2-disk',
    },
  ])('$name', (row) => {
    expect(ask({ ...row, request: HARD_ZONES })).toBe(row.want);
  });
});

describe('disk anti-affinity', () => {
  const ONE_NODE: Record<string, NodePart> = { a1: { disks: { 'a1-x': {}, 'a1-y': {} } } };
  const on = (disk: string, id: string) => aReplicaOn(disk, { id: aReplicaOn(id).id });
  const ask2 = (replicas: Replica[], diskAntiAffinity: AntiAffinity) =>
    ask({
      name: '',
      nodes: ONE_NODE,
      replicas,
      request: { nodeAntiAffinity: SOFT, diskAntiAffinity },
      want: '',
    });

  test('a free disk comes first', () => {
    expect(ask2([on('a1-x', 'r1')], SOFT)).toBe('a1-y');
    expect(ask2([on('a1-x', 'r1')], HARD)).toBe('a1-y');
  });

  test('soft takes the disk with the fewest once all hold one', () => {
    expect(ask2([on('a1-x', 'r1'), on('a1-y', 'r2'), on('a1-x', 'r3')], SOFT)).toBe('a1-y');
  });

  test('hard refuses once all disks hold one', () => {
    expect(ask2([on('a1-x', 'r1'), on('a1-y', 'r2')], HARD)).toBe('DiskOccupied');
  });
});

test('best-effort locality prefers the attached node within the winning tier', () => {
  const nodes = { a1: {}, b1: { disks: { 'b1-disk': { bytes: 2 ** 33 } } } };
  const fleet = aFleet(nodes);
  const local = aRequest({ localNodeId: fleet.nodes[1]?.id });
  expect(outcomeOf(placeReplica(local, fleet, NOON))).toBe('b1-disk');
  expect(outcomeOf(placeReplica(aRequest(), fleet, NOON))).toBe('a1-disk');
});
