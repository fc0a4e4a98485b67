import {
  A_SPEC,
  AN_OWNER,
  anIdleVolume,
  aRebuild,
  aRebuildReport,
  NOON,
  testId,
} from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { anEngineOn, aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import { asId, type NodeId, type ReplicaId, type VolumeId } from '../model/ids.js';
import type { Replica, ReplicaMode } from '../model/replica.js';
import type { EngineObservation, VolumeView } from '../model/views.js';
import { planObservation } from './plan-observation.js';

const VOLUME = asId<VolumeId>(testId(1));
const N1 = asId<NodeId>('n1');
const copies = [aReplicaOn('n1-disk', { mode: 'RW' }), aReplicaOn('n2-disk', { mode: 'RW' })];

/** An attached volume whose engine reports this. */
function aView(reported: Partial<EngineObservation['report']>, part: Partial<VolumeView> = {}): VolumeView {
  return aVolumeView({
    volume: anIdleVolume(AN_OWNER, {
      epoch: 1,
      lifecycle: attachedOn(N1),
      spec: { ...A_SPEC, numberOfReplicas: 2 },
    }),
    replicas: copies,
    fleet: aFleet({ n1: { zone: 'a' }, n2: { zone: 'b' } }),
    engine: anEngineOn(N1, reported),
    ...part,
  });
}

/** The replicas that are found to have failed. */
function failures(view: VolumeView) {
  const step = planObservation(view, NOON);
  if (step?.kind !== 'commit') return [];
  return step.changes.flatMap((change) =>
    change.kind === 'replica.patch' && change.patch.failedAt !== undefined ? [change] : [],
  );
}

test.each([
  {
    name: 'all of them',
    listed: copies.map(({ id }) => ({ replicaId: id, mode: 'RW' as const, reason: '' })),
    want: [],
  },
  {
    name: 'only one',
    listed: [{ replicaId: asId<ReplicaId>('on-n1-disk'), mode: 'RW' as const, reason: '' }],
    want: ['on-n2-disk'],
  },
  { name: 'none, since its start has not ended', listed: [], want: [] },
])('an engine that lists $name', ({ listed, want }) => {
  expect(failures(aView({ replicas: listed })).map(({ replicaId }) => replicaId)).toEqual(want);
});

test.each([
  { code: 'rebuild.failed', name: 'for whatever reason', spent: 2 },
  { code: 'replica.corrupt', name: 'since the copy is damaged', spent: 5 },
  { code: 'replica.format_unknown', name: 'since no engine here can read the copy', spent: 5 },
])('after one failed rebuild, a second that fails $name makes $spent of five tries', ({ code, spent }) => {
  const [first] = copies;
  const target = aReplicaOn('n2-disk', { mode: 'WO', rebuildRetryCount: 1 });
  if (first === undefined) throw new Error('there are two copies');
  const { clusterId } = AN_OWNER;
  const running = aRebuild({ clusterId, volumeId: VOLUME, targetReplicaId: target.id, state: 'running' });
  const report = aRebuildReport({
    rebuildId: running.id,
    state: 'failed',
    error: { code, message: 'told by the engine' },
  });
  const view = aView({ rebuilds: [report] }, { replicas: [first, target], rebuilds: [running] });
  expect(failures(view)).toMatchObject([{ replicaId: target.id, patch: { rebuildRetryCount: spent } }]);
});

describe('the mode of a replica', () => {
  const [first] = copies;
  if (first === undefined) throw new Error('there are two copies');
  const { clusterId } = AN_OWNER;
  const second = (part: Partial<Replica>) => aReplicaOn('n2-disk', { healthyAt: undefined, ...part });
  const rebuild = aRebuild({ clusterId, volumeId: VOLUME, targetReplicaId: second({}).id, state: 'queued' });
  const reported = (mode: ReplicaMode) => [
    { replicaId: first.id, mode: 'RW' as const, reason: '' },
    { replicaId: second({}).id, mode, reason: 'told by the engine' },
  ];

  test.each<{ name: string; replica: Partial<Replica>; mode: ReplicaMode; isTarget?: true; want: object[] }>([
    { name: 'a target that is written', replica: {}, mode: 'WO', isTarget: true, want: [{ mode: 'WO' }] },
    { name: 'a target that waits', replica: {}, mode: 'ERR', isTarget: true, want: [{ mode: 'ERR' }] },
    { name: 'a target that is known', replica: { mode: 'WO' }, mode: 'WO', isTarget: true, want: [] },
    { name: 'what was a target', replica: { mode: 'ERR', failedAt: NOON }, mode: 'WO', want: [] },
    {
      name: 'a copy that was dropped',
      replica: { mode: 'RW', healthyAt: NOON },
      mode: 'ERR',
      want: [{ mode: 'ERR', failedAt: NOON, failure: { reason: 'EngineDropped' } }],
    },
    {
      name: 'a copy that has failed already',
      replica: { mode: 'ERR', failedAt: NOON },
      mode: 'ERR',
      want: [],
    },
    {
      name: 'a copy that is to go',
      replica: { mode: 'ERR', failedAt: NOON, intent: 'remove' },
      mode: 'RW',
      want: [],
    },
  ])('of $name is concluded once', ({ replica, mode, isTarget, want }) => {
    const replicas = [first, second(replica)];
    const view = aView({ replicas: reported(mode) }, { replicas, rebuilds: isTarget ? [rebuild] : [] });
    const patches = (seen: VolumeView) => {
      const step = planObservation(seen, NOON);
      return step?.kind !== 'commit'
        ? []
        : step.changes.flatMap((change) => (change.kind === 'replica.patch' ? [change.patch] : []));
    };
    const concluded = patches(view);
    expect(concluded).toMatchObject(want);
    const after = { ...second(replica), ...concluded[0] };
    expect(patches({ ...view, replicas: [first, after] })).toEqual([]);
  });
});

test.each([
  { name: 'before it was given up does not take it back', heardAfterMs: -1, want: undefined },
  { name: 'in that very moment does not take it back', heardAfterMs: 0, want: undefined },
  { name: 'after that takes it back', heardAfterMs: 1, want: 'RW' },
])('a report that lists a copy as RW and was heard $name', ({ heardAfterMs, want }) => {
  const [first] = copies;
  const givenUp = aReplicaOn('n2-disk', { mode: 'ERR', failedAt: NOON, healthyAt: NOON });
  if (first === undefined) throw new Error('there are two copies');
  const replicas = [first, givenUp];
  const listed = replicas.map(({ id }) => ({ replicaId: id, mode: 'RW' as const, reason: '' }));
  const heard = aView({ replicas: listed }, { replicas });
  if (heard.engine === undefined) throw new Error('the view has a report');
  const at = new Date(NOON.getTime() + heardAfterMs);
  const step = planObservation({ ...heard, engine: { ...heard.engine, at } }, at);
  const patches = step?.kind === 'commit' ? step.changes : [];
  const mode = patches.flatMap((change) =>
    change.kind === 'replica.patch' && change.replicaId === givenUp.id ? [change.patch.mode] : [],
  )[0];
  expect(mode).toBe(want);
});
