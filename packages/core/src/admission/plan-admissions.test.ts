import { GIB } from '@holdfast/core/model/bytes.js';
import {
  asId,
  type ClusterId,
  type NodeId,
  type RebuildId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import { A_SPEC, aRebuild, NOON } from '@holdfast/testkit/builders.js';
import { aNode } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { SettingName } from '../model/setting.js';
import type { AdmissionView, RebuildQuota } from '../model/views.js';
import { effectiveSettings } from '../settings/effective.js';
import { type Admissions, planAdmissions } from './plan-admissions.js';

type Limits = Partial<Record<SettingName, number | string>>;

const TARGET = 'concurrent-replica-rebuild-per-node-limit';
const SOURCE = 'concurrent-rebuild-source-per-node-limit';
const CLUSTER = 'concurrent-rebuild-per-cluster-limit';

function rebuild(id: string, from: string, to: string, part: Partial<Rebuild> = {}): Rebuild {
  return aRebuild({
    clusterId: asId<ClusterId>('cluster'),
    volumeId: asId<VolumeId>(`volume-of-${id}`),
    id: asId<RebuildId>(id),
    sourceNodeIds: [asId<NodeId>(from)],
    targetNodeId: asId<NodeId>(to),
    ...part,
  });
}

function view(queued: Rebuild[], running: Rebuild[], limits: Limits): AdmissionView {
  return {
    clusterId: asId<ClusterId>('cluster'),
    settings: effectiveSettings(limits),
    nodes: ['n1', 'n2', 'n3'].map((name) => aNode(name)),
    queued,
    running,
    ending: [],
    blocked: [],
    quotas: [],
    rebuilt: [...queued, ...running].map(({ volumeId }) => ({ volumeId, nodeIds: [], spec: A_SPEC })),
    tasks: { admitted: [], waiting: [], candidates: [] },
  };
}

function admittedIn({ rebuilds }: Admissions): string[] {
  return rebuilds.map(({ rebuildId }) => rebuildId);
}

describe('planAdmissions', () => {
  test.each<{
    name: string;
    queued: Rebuild[];
    running?: Rebuild[];
    ending?: Rebuild[];
    limits: Limits;
    admit: string[];
    waits?: string;
  }>([
    {
      name: 'a copy that only moves waits behind all that are missing',
      queued: [rebuild('b', 'n1', 'n3', { relocates: true, healthyCopies: 1 }), rebuild('c', 'n2', 'n3')],
      limits: { [TARGET]: 1 },
      admit: ['c'],
      waits: `n3 receives 1 rebuild (${TARGET} is 1)`,
    },
    {
      name: 'the target node is full',
      queued: [rebuild('b', 'n1', 'n3')],
      running: [rebuild('a', 'n2', 'n3')],
      limits: { [TARGET]: 1 },
      admit: [],
      waits: `n3 receives 1 rebuild (${TARGET} is 1)`,
    },
    {
      name: 'the source node is full',
      queued: [rebuild('b', 'n1', 'n3')],
      running: [rebuild('a', 'n1', 'n2')],
      limits: { [SOURCE]: 1 },
      admit: [],
      waits: `n1 sends 1 rebuild (${SOURCE} is 1)`,
    },
    {
      name: 'the cluster is full',
      queued: [rebuild('b', 'n2', 'n3')],
      running: [rebuild('a', 'n1', 'n2')],
      limits: { [CLUSTER]: 1 },
      admit: [],
      waits: `the cluster runs 1 rebuild (${CLUSTER} is 1)`,
    },
    {
      name: 'one that the engine has not stopped yet holds its place',
      queued: [rebuild('b', 'n1', 'n3')],
      ending: [rebuild('a', 'n2', 'n3', { state: 'cancelled' })],
      limits: { [TARGET]: 1 },
      admit: [],
      waits: `n3 receives 1 rebuild (${TARGET} is 1)`,
    },
    {
      name: '0 stops what is new',
      queued: [rebuild('a', 'n1', 'n2')],
      limits: { [TARGET]: 0 },
      admit: [],
      waits: `no rebuild may start: ${TARGET} is 0`,
    },
    {
      name: 'what was admitted just now counts too',
      queued: [rebuild('a', 'n1', 'n3'), rebuild('b', 'n2', 'n3')],
      limits: { [TARGET]: 1 },
      admit: ['a'],
      waits: `n3 receives 1 rebuild (${TARGET} is 1)`,
    },
    {
      name: 'one that waits does not hold up one behind it',
      queued: [rebuild('b', 'n1', 'n3'), rebuild('c', 'n1', 'n2')],
      running: [rebuild('a', 'n1', 'n3')],
      limits: { [TARGET]: 1 },
      admit: ['c'],
      waits: `n3 receives 1 rebuild (${TARGET} is 1)`,
    },
  ])('$name', ({ queued, running = [], ending = [], limits, admit, waits }) => {
    const plan = planAdmissions({ ...view(queued, running, limits), ending }, NOON);
    expect(admittedIn(plan)).toEqual(admit);
    expect(plan.waiting[0]?.waitingFor).toBe(waits);
  });

  test('fewest full copies first, then the oldest, then the smallest, then the id', () => {
    const later = new Date(NOON.getTime() + 1);
    const queued = [
      rebuild('f', 'n1', 'n3'),
      rebuild('e', 'n1', 'n3'),
      rebuild('d', 'n1', 'n3', { sizeBytes: GIB / 2 }),
      rebuild('c', 'n1', 'n3', { queuedAt: later, sizeBytes: 1 }),
      rebuild('b', 'n1', 'n3', { queuedAt: later, healthyCopies: 1 }),
    ];
    const plan = planAdmissions(view(queued, [], { [TARGET]: 0 }), NOON);
    expect(plan.waiting.map(({ rebuildId }) => rebuildId)).toEqual(['b', 'd', 'e', 'f', 'c']);
  });

  test('never passes a limit and never leaves a free place unused', () => {
    const node = fc.constantFrom('n1', 'n2', 'n3');
    const limits = fc.record({ target: fc.nat(3), source: fc.nat(3), cluster: fc.nat(6) });
    fc.assert(
      fc.property(fc.array(fc.tuple(node, node), { maxLength: 12 }), limits, (pairs, limit) => {
        const queued = pairs.map(([from, to], index) => rebuild(`r${index}`, from, to));
        const settings = { [TARGET]: limit.target, [SOURCE]: limit.source, [CLUSTER]: limit.cluster };
        const admit = admittedIn(planAdmissions(view(queued, [], settings), NOON));
        const running = queued.filter(({ id }) => admit.includes(id));
        for (const name of ['n1', 'n2', 'n3']) {
          expect(running.filter(({ targetNodeId }) => targetNodeId === name).length).toBeLessThanOrEqual(
            limit.target,
          );
          expect(running.filter(({ sourceNodeIds }) => sourceNodeIds[0] === name).length).toBeLessThanOrEqual(
            limit.source,
          );
        }
        expect(running.length).toBeLessThanOrEqual(limit.cluster);
        const rest = queued.filter(({ id }) => !admit.includes(id));
        expect(planAdmissions(view(rest, running, settings), NOON).rebuilds).toEqual([]);
      }),
    );
  });

  test.each([
    ['purge', 'VolumePurging'],
    ['revert', 'VolumeReverting'],
    ['expand', 'VolumeExpanding'],
    ['migrating', 'VolumeMigrating'],
    ['restoring', 'VolumeRestoring'],
    ['standby', 'VolumeStandby'],
  ] as const)('a volume that is blocked by %s waits, and says so; others go on', (reason, code) => {
    const queued = [rebuild('held', 'n1', 'n2'), rebuild('free', 'n1', 'n2')];
    const blocked = [{ volumeId: asId<VolumeId>('volume-of-held'), reason }];
    const plan = planAdmissions({ ...view(queued, [], {}), blocked }, NOON);
    expect(admittedIn(plan)).toEqual(['free']);
    expect(plan.waiting).toEqual([
      { rebuildId: 'held', reason: code, waitingFor: expect.stringMatching(/volume|snapshots/) },
    ]);
  });

  test.each<[string, Partial<Rebuild>, Limits]>([
    ['Paused', { paused: true }, {}],
    ['TargetNodeLimit', {}, { [TARGET]: 0 }],
    ['SourceNodeLimit', {}, { [SOURCE]: 0 }],
    ['ClusterLimit', {}, { [CLUSTER]: 0 }],
  ])('one that waits says why by the code %s', (code, part, limits) => {
    const { waiting } = planAdmissions(view([rebuild('r', 'n1', 'n2', part)], [], limits), NOON);
    expect(waiting).toMatchObject([{ reason: code }]);
  });

  test.each([
    {
      name: 'where a background task may run on every node of its copies',
      limit: 1,
      purging: [],
      want: true,
    },
    { name: 'not where one runs already', limit: 1, purging: ['n2'], want: false },
    { name: 'where their number has no limit', limit: 0, purging: ['n2'], want: true },
    { name: 'not where purges are switched off', limit: 1, purging: [], off: true, want: false },
  ])('a rebuild purges first $name', ({ limit, purging, off, want }) => {
    const nodeIds = ['n1', 'n2'].map((id) => asId<NodeId>(id));
    const busy = { volumeId: asId<VolumeId>('busy'), nodeIds: purging.map((id) => asId<NodeId>(id)) };
    const queued = [rebuild('r', 'n1', 'n2')];
    const base = view(queued, [], { 'snapshot-heavy-task-concurrent-limit': limit });
    const settings = { ...base.settings, 'disable-snapshot-purge': off === true };
    const rebuilt = queued.map(({ volumeId }) => ({ volumeId, nodeIds, spec: A_SPEC }));
    const tasks = { admitted: [busy], waiting: [], candidates: [] };
    const { rebuilds } = planAdmissions({ ...base, settings, rebuilt, tasks }, NOON);
    expect(rebuilds).toEqual([{ rebuildId: 'r', purgesFirst: want }]);
  });

  test('without a limit all begin at once', () => {
    const queued = Array.from({ length: 300 }, (_, index) => rebuild(`r${index}`, 'n1', 'n2'));
    const unlimited = { [TARGET]: 'unlimited', [SOURCE]: 'unlimited', [CLUSTER]: 'unlimited' };
    expect(planAdmissions(view(queued, [], unlimited), NOON).rebuilds).toHaveLength(queued.length);
  });

  test('a rebuild that purges takes the place of a background task until it copies', () => {
    const nodeIds = [asId<NodeId>('n1')];
    const purging = rebuild('p', 'n1', 'n2', { state: 'running', phase: 'preparing', purgesFirst: true });
    const waiting = [{ volumeId: asId<VolumeId>('w'), nodeIds, since: new Date(0) }];
    const tasksOf = (running: Rebuild) => {
      const base = view([], [running], { 'snapshot-heavy-task-concurrent-limit': 1 });
      const rebuilt = [{ volumeId: running.volumeId, nodeIds, spec: A_SPEC }];
      return planAdmissions({ ...base, rebuilt, tasks: { admitted: [], waiting, candidates: [] } }, NOON)
        .tasks;
    };
    expect(tasksOf(purging)).toEqual([]);
    expect(tasksOf({ ...purging, phase: 'copying' })).toEqual([{ kind: 'layers', volumeId: 'w' }]);
  });

  test('a purge of a volume whose rebuild begins now waits, also when it was first in its line', () => {
    const volumeId = asId<VolumeId>('volume-of-r');
    const waiting = [{ volumeId, nodeIds: [asId<NodeId>('n1')], since: new Date(0) }];
    const tasks = { admitted: [], waiting, candidates: [] };
    const plan = planAdmissions({ ...view([rebuild('r', 'n1', 'n2')], [], {}), tasks }, NOON);
    expect({ rebuilds: admittedIn(plan), tasks: plan.tasks }).toEqual({ rebuilds: ['r'], tasks: [] });
  });
});

describe('quotas of running rebuilds', () => {
  const quota = (part: Partial<RebuildQuota>): RebuildQuota => ({
    id: 'org',
    scope: 'organization',
    most: 1,
    elsewhere: 0,
    volumeIds: ['volume-of-a', 'volume-of-b'].map((id) => asId<VolumeId>(id)),
    ...part,
  });
  const [a, b, other] = [rebuild('a', 'n1', 'n3'), rebuild('b', 'n2', 'n3'), rebuild('c', 'n2', 'n1')];
  const LOOSE = { [TARGET]: 5, [SOURCE]: 5 };

  test.each<{ name: string; part: Partial<RebuildQuota>; admit: string[]; reason?: string; waits: string }>([
    {
      name: 'further ones wait for those here',
      part: {},
      admit: ['a', 'c'],
      waits: 'the organization runs 1 rebuild, and may run 1 at once: one of its owners may raise it',
    },
    {
      name: 'those in other clusters count',
      part: { scope: 'project', most: 2, elsewhere: 1 },
      admit: ['a', 'c'],
      waits: 'the project runs 2 rebuilds, and may run 2 at once: an admin of its organization may raise it',
    },
    {
      name: 'none may run',
      part: { scope: 'grant', most: 0, volumeIds: [asId<VolumeId>('volume-of-b')] },
      admit: ['a', 'c'],
      reason: 'QuotaZero',
      waits:
        "the organization, by its grant in this cluster, may run no rebuild: an admin of the cluster's organization may raise it",
    },
  ])('$name', ({ part, admit, reason = 'QuotaLimit', waits }) => {
    const plan = planAdmissions({ ...view([a, b, other], [], LOOSE), quotas: [quota(part)] }, NOON);
    expect(admittedIn(plan)).toEqual(admit);
    expect(plan.waiting).toEqual([{ rebuildId: 'b', reason, waitingFor: waits }]);
  });

  test('a volume on its last copy preempts one that counts in the same quota, and no other', () => {
    const urgent = { ...b, healthyCopies: 1 };
    const running = [a, other].map((one) => ({ ...one, state: 'running' as const, healthyCopies: 2 }));
    const plan = planAdmissions({ ...view([urgent], running, LOOSE), quotas: [quota({})] }, NOON);
    expect(plan.preempted).toEqual(['a']);
  });
});
