import { NOON } from '@holdfast/testkit/builders.js';
import { expect, test } from '@jest/globals';
import { asId, type DiskId, type NodeId } from '../model/ids.js';
import { clusterRisk, type RiskFacts, type RiskVolume } from './cluster-risk.js';

const N2 = asId<NodeId>('n2');
const SILENT = [{ id: N2, name: 'node-2', since: NOON }];

function aVolume(name: string, part: Partial<RiskVolume> = {}): RiskVolume {
  return {
    id: asId(name),
    name,
    robustness: 'degraded',
    atRest: undefined,
    attention: undefined,
    holderId: asId<NodeId>('n1'),
    nodeIds: [asId<NodeId>('n1'), N2],
    diskIds: [],
    isUnplaced: false,
    isBeingMade: false,
    rebuild: undefined,
    isHeld: false,
    waitingReason: undefined,
    ...part,
  };
}

function risk(volumes: RiskVolume[], part: Partial<RiskFacts> = {}) {
  const none = { unread: 0, silentNodes: [], failedDisks: [], rebuildStop: undefined };
  return clusterRisk({ volumesTotal: 10, volumes, ...none, ...part });
}

test('a cluster without a volume that is not healthy is safe', () => {
  expect(risk([])).toMatchObject({ verdict: 'safe', volumes: { total: 10, healthy: 10 }, causes: [] });
});

test('all volumes of a silent node are effects of one cause, served ones apart', () => {
  const hung = aVolume('a', { robustness: 'unknown', holderId: N2, attention: 'HolderUnreachable' });
  const unknown = aVolume('b', { robustness: 'unknown', holderId: undefined });
  const { causes, volumes } = risk([aVolume('c'), unknown, hung], { silentNodes: SILENT });
  expect(causes).toMatchObject([
    { kind: 'node', name: 'node-2', effects: { notServed: 1, faulted: 0, unknown: 1, degraded: 1 } },
  ]);
  expect(causes[0]?.examples.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect(volumes).toEqual({
    total: 10,
    healthy: 7,
    creating: 0,
    notServed: 1,
    faulted: 0,
    unknown: 1,
    degraded: 1,
  });
});

test.each<[string, Partial<RiskVolume>, object]>([
  ['it serves', { holderId: N2 }, { notServed: 1 }],
  ['no engine serves, with other copies', { atRest: { reachable: 2, wanted: 3 } }, { degraded: 1 }],
  ['no engine serves, without other copies', { atRest: { reachable: 0, wanted: 1 } }, { unknown: 1 }],
  ['no engine serves, with enough other copies', { atRest: { reachable: 3, wanted: 3 } }, { healthy: 10 }],
  ['another node serves', {}, { healthy: 10 }],
])('of a silent node, a volume that %s is told before it was judged', (_what, part, want) => {
  const { volumes } = risk([aVolume('a', { robustness: 'healthy', holderId: undefined, ...part })], {
    silentNodes: SILENT,
  });
  const none = { total: 10, healthy: 9, creating: 0, notServed: 0, faulted: 0, unknown: 0, degraded: 0 };
  expect(volumes).toEqual({ ...none, ...want });
});

test('a silent node without a volume is a cause all the same', () => {
  expect(risk([], { silentNodes: SILENT }).causes).toMatchObject([
    { kind: 'node', effects: { degraded: 0 } },
  ]);
});

test('a volume counts for its serving node before a node of a copy, then for a disk, then for its own copies', () => {
  const disk = { id: asId<DiskId>('d'), name: 'disk-1', since: undefined };
  const n3 = { id: asId<NodeId>('n3'), name: 'node-3', since: NOON };
  const { causes } = risk(
    [
      aVolume('of-serving-node', { holderId: n3.id }),
      aVolume('of-disk', { nodeIds: [], diskIds: [disk.id] }),
      aVolume('without-place', { nodeIds: [], isUnplaced: true }),
      aVolume('of-copies', { nodeIds: [] }),
    ],
    { silentNodes: [...SILENT, n3], failedDisks: [disk] },
  );
  expect(causes.map(({ kind, examples }) => [kind, examples.map(({ name }) => name).join()])).toEqual([
    ['node', 'of-serving-node'],
    ['disk', 'of-disk'],
    ['placement', 'without-place'],
    ['copies', 'of-copies'],
    ['node', ''],
  ]);
});

test.each<[string, Partial<RiskVolume>, string, string]>([
  ['a rebuild that runs', { rebuild: 'running' }, 'running', 'working'],
  ['a queued rebuild', { rebuild: 'queued' }, 'queued', 'working'],
  ['a paused rebuild', { rebuild: 'paused' }, 'paused', 'stuck'],
  ['rebuilds that are held', { rebuild: 'queued', isHeld: true }, 'paused', 'stuck'],
  ['a decision of a user', { attention: 'NoCopies', rebuild: 'running' }, 'user', 'stuck'],
  ['no full copy', { robustness: 'faulted' }, 'user', 'stuck'],
  ['a place or a return', {}, 'other', 'stuck'],
])('a volume that waits for %s', (_what, part, wait, verdict) => {
  const { waits, verdict: told } = risk([aVolume('a', part)]);
  expect(waits).toEqual({ user: 0, paused: 0, running: 0, queued: 0, other: 0, [wait]: 1 });
  expect(told).toBe(verdict);
});

test.each<[string, Partial<RiskVolume>, string, string]>([
  ['a queued rebuild', { rebuild: 'queued' }, 'paused', 'stuck'],
  ['the start of a rebuild', { waitingReason: 'ClusterLimit' }, 'paused', 'stuck'],
  ['something else', { waitingReason: 'NodeMaintenance' }, 'other', 'stuck'],
  ['a rebuild that runs', { rebuild: 'running' }, 'running', 'working'],
])('where a setting lets no rebuild start, a volume that waits for %s', (_what, part, wait, verdict) => {
  const rebuildStop = { reason: 'ClusterLimit', message: '', cures: [] } as const;
  const { waits, verdict: told } = risk([aVolume('a', part)], { rebuildStop });
  expect(waits).toEqual({ user: 0, paused: 0, running: 0, queued: 0, other: 0, [wait]: 1 });
  expect(told).toBe(verdict);
});

test('examples are the five worst, by name in the order of their numbers', () => {
  const many = Array.from({ length: 12 }, (_, index) => aVolume(`v${12 - index}`));
  const { causes } = risk([...many, aVolume('z', { robustness: 'faulted' })], { silentNodes: SILENT });
  expect(causes[0]?.examples.map(({ name }) => name)).toEqual(['z', 'v1', 'v2', 'v3', 'v4']);
});

test('volumes past those that were read count as unknown, and never as healthy', () => {
  const { volumes, verdict, waits } = risk([aVolume('a', { rebuild: 'running' })], { unread: 3 });
  expect(volumes).toMatchObject({ total: 10, healthy: 6, degraded: 1, unknown: 3 });
  expect({ verdict, other: waits.other }).toEqual({ verdict: 'stuck', other: 3 });
});

test.each<[string, Partial<RiskVolume>, object]>([
  [
    'whose nodes answer is no damage',
    {},
    { verdict: 'safe', volumes: { healthy: 9, creating: 1, unknown: 0 } },
  ],
  [
    'that a user attaches meanwhile is none',
    { attention: 'NoCopies' },
    { verdict: 'safe', volumes: { creating: 1 } },
  ],
  [
    'without a place is stuck',
    { isUnplaced: true },
    { verdict: 'stuck', volumes: { creating: 0, unknown: 1 } },
  ],
  [
    'on a silent node is stuck',
    { nodeIds: [N2] },
    { verdict: 'stuck', volumes: { creating: 0, unknown: 1 } },
  ],
])('a volume being created %s', (_what, part, want) => {
  const made = aVolume('a', {
    robustness: 'unknown',
    isBeingMade: true,
    holderId: undefined,
    nodeIds: [],
    ...part,
  });
  expect(risk([made], { silentNodes: SILENT })).toMatchObject(want);
});
