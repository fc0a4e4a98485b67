/** Who stands still for whom: only for a volume on its last copy, only as many as it needs, and never for nothing. */
import { asId, type NodeId, type RebuildId } from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import { aRebuild, NOON } from '@holdfast/testkit/builders.js';
import { aNode } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import type { AdmissionView } from '../model/views.js';
import { effectiveSettings } from '../settings/effective.js';
import { type Admissions, planAdmissions } from './plan-admissions.js';

const TARGET = 'concurrent-replica-rebuild-per-node-limit';
const SOURCE = 'concurrent-rebuild-source-per-node-limit';

function rebuild(id: string, from: string, to: string, part: Partial<Rebuild> = {}): Rebuild {
  return aRebuild({
    id: asId<RebuildId>(id),
    volumeId: asId(`volume-of-${id}`),
    sourceNodeIds: [asId<NodeId>(from)],
    targetNodeId: asId<NodeId>(to),
    healthyCopies: 2,
    ...part,
  });
}

function running(id: string, from: string, to: string, part: Partial<Rebuild> = {}): Rebuild {
  return rebuild(id, from, to, { state: 'running', phase: 'copying', startedAt: NOON, ...part });
}

function plan(
  queued: Rebuild[],
  active: Rebuild[],
  limits: Record<string, number> = { [TARGET]: 1 },
): Admissions {
  const view: AdmissionView = {
    clusterId: asId('cluster'),
    settings: effectiveSettings(limits),
    nodes: ['n1', 'n2', 'n3'].map((name) => aNode(name)),
    queued,
    running: active,
    ending: [],
    blocked: [],
    rebuilt: [],
    tasks: { admitted: [], waiting: [], candidates: [] },
  };
  return planAdmissions(view, NOON);
}

const last = { healthyCopies: 1 };
const told = { preemptedAt: NOON, tuned: { paused: true, bandwidthBytesPerSecond: undefined } };

test.each<[string, Rebuild[], Rebuild[], string[]]>([
  ['one with two copies is preempted', [rebuild('q', 'n1', 'n3', last)], [running('a', 'n2', 'n3')], ['a']],
  ['one on its last copy does not', [rebuild('q', 'n1', 'n3', last)], [running('a', 'n2', 'n3', last)], []],
  ['none is preempted by one with two copies', [rebuild('q', 'n1', 'n3')], [running('a', 'n2', 'n3')], []],
  [
    'one that only moves the only wanted copy is preempted',
    [rebuild('q', 'n1', 'n3', last)],
    [running('a', 'n2', 'n3', { ...last, relocates: true })],
    ['a'],
  ],
  [
    'none is preempted by one that only moves a copy',
    [rebuild('q', 'n1', 'n3', { ...last, relocates: true })],
    [running('a', 'n2', 'n3')],
    [],
  ],
  ['one on other nodes is left alone', [rebuild('q', 'n1', 'n2', last)], [running('a', 'n2', 'n3')], []],
  [
    'one that is nearly done goes on',
    [rebuild('q', 'n1', 'n3', last)],
    [running('a', 'n2', 'n3', { phase: 'promoting' })],
    [],
  ],
  [
    'one that was asked already is enough',
    [rebuild('q', 'n1', 'n3', last)],
    [running('a', 'n2', 'n3', { preemptedAt: NOON })],
    [],
  ],
  [
    'a copy that only moves is preempted, though it is the only one',
    [rebuild('q', 'n1', 'n3', last)],
    [running('a', 'n2', 'n3', { ...last, relocates: true })],
    ['a'],
  ],
  [
    'nothing stands still for a copy that only moves',
    [rebuild('q', 'n1', 'n3', { ...last, relocates: true })],
    [running('a', 'n2', 'n3')],
    [],
  ],
  [
    'a paused one waits for its user',
    [rebuild('q', 'n1', 'n3', { ...last, paused: true })],
    [running('a', 'n2', 'n3')],
    [],
  ],
])('what a volume on its last copy may have stand still: %s', (_name, queued, active, want) => {
  expect(plan(queued, active).preempted).toEqual(want);
});

test('with room for two, the one with most copies is preempted, then the one with least progress', () => {
  const active = [
    running('a', 'n1', 'n3', { percent: 10 }),
    running('b', 'n1', 'n3', { percent: 90, healthyCopies: 3 }),
  ];
  expect(plan([rebuild('q', 'n1', 'n3', last)], active, { [TARGET]: 2 }).preempted).toEqual(['b']);
  const equal = active.map((one) => ({ ...one, healthyCopies: 2 }));
  expect(plan([rebuild('q', 'n1', 'n3', last)], equal, { [TARGET]: 2 }).preempted).toEqual(['a']);
});

test('one that frees both missing places is preempted rather than two', () => {
  const active = [running('a', 'n2', 'n3'), running('b', 'n1', 'n2'), running('c', 'n1', 'n3')];
  const limits = { [TARGET]: 2, [SOURCE]: 2 };
  expect(plan([rebuild('q', 'n1', 'n3', last)], active, limits).preempted).toEqual(['c']);
});

test('a limit of 0 preempts none: it would be for nothing', () => {
  expect(
    plan([rebuild('q', 'n1', 'n3', last)], [running('a', 'n2', 'n3')], { [TARGET]: 0 }).preempted,
  ).toEqual([]);
});

test('it keeps its place until its engine has been told, then the other begins, then it goes on', () => {
  const queued = [rebuild('q', 'n1', 'n3', last)];
  const asked = running('a', 'n2', 'n3', { preemptedAt: NOON });
  const begun = ({ rebuilds }: Admissions) => rebuilds.map(({ rebuildId }) => rebuildId);
  expect(begun(plan(queued, [asked]))).toEqual([]);
  expect(begun(plan(queued, [{ ...asked, ...told }]))).toEqual(['q']);
  const both = plan([], [running('q', 'n1', 'n3', last), { ...asked, ...told }]);
  expect(both.waiting).toMatchObject([{ rebuildId: 'a', reason: 'Preempted' }]);
  expect(begun(plan([], [{ ...asked, ...told }]))).toEqual(['a']);
});

test('of two that stand still for one, the first does not go on while the second has not been told', () => {
  const queued = [rebuild('q', 'n1', 'n3', last)];
  const stands = running('a', 'n2', 'n3', { ...told });
  const asked = running('b', 'n1', 'n2', { preemptedAt: NOON });
  const limits = { [TARGET]: 1, [SOURCE]: 1 };
  expect(plan(queued, [stands, asked], limits)).toMatchObject({ rebuilds: [], preempted: [] });
  const { rebuilds } = plan(queued, [stands, { ...asked, ...told }], limits);
  expect(rebuilds).toMatchObject([{ rebuildId: 'q' }]);
});

test('a preempted one goes on where the one on its last copy waits for something else', () => {
  const queued = [rebuild('q', 'n1', 'n3', last)];
  const stands = running('a', 'n2', 'n3', { ...told });
  const urgent = running('b', 'n1', 'n2', last);
  const { rebuilds } = plan(queued, [stands, urgent], { [TARGET]: 1, [SOURCE]: 1 });
  expect(rebuilds).toMatchObject([{ rebuildId: 'a' }]);
});
