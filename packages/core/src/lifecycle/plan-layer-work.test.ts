import {
  A_SPEC,
  AN_OWNER,
  anEngineReport,
  anIdleVolume,
  aRebuild,
  aSnapshot,
  aVolume,
  NOON,
  secondsAfterNoon,
  testId,
} from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aPurge, aTask } from '@holdfast/testkit/task-builder.js';
import { anEngineOn, aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import { copyRecord } from '../model/copy-record.js';
import { asId, type NodeId, type VolumeId } from '../model/ids.js';
import type { VolumeChain } from '../model/layer-task.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { effectiveSettings } from '../settings/effective.js';
import { planLayerReading } from './plan-layer-reading.js';
import { planLayerWork, purgesBeforeRebuild } from './plan-layer-work.js';
import { planVolumeStep } from './plan-volume-step.js';

const VOLUME = asId<VolumeId>(testId(1));
const NODE_ID = asId<NodeId>('n1');
const CHAIN: VolumeChain = {
  key: '1.1',
  headParentId: undefined,
  headBytes: 0,
  busy: '',
  keptIds: [],
  readAt: NOON,
};
const PURGE = aPurge();
const ADMITTED = aPurge({ admittedAt: NOON });
const trouble = (secondsAgo: number) => ({
  message: 'busy',
  at: secondsAfterNoon(-secondsAgo),
});
const removed = aSnapshot({ volumeId: VOLUME, state: 'removed' });
const running = aRebuild({ state: 'running' });

const waitingForAdmission = aSnapshot({
  volumeId: VOLUME,
  hashRequest: { requestedAt: NOON, force: false, automatic: true, startedEpoch: undefined },
});
const system = { ...removed, origin: 'system' as const, state: 'ready' as const };

describe('a purge that the worker starts', () => {
  test.each<{ name: string; seen: VolumeView; purges: boolean }>([
    { name: 'a deleted snapshot', seen: view(), purges: true },
    { name: 'what a rebuild left', seen: view({ snapshots: [system] }), purges: true },
    {
      name: 'what a rebuild left, where that is kept',
      seen: view({
        snapshots: [system],
        ...withSettings({ 'auto-cleanup-system-generated-snapshot': false }),
      }),
      purges: false,
    },
    { name: 'nothing', seen: view({ snapshots: [] }), purges: false },
    {
      name: 'what the last one had to leave',
      seen: view({}, { chain: { ...CHAIN, keptIds: [removed.id] } }),
      purges: false,
    },
    { name: 'a degraded volume', seen: view({}, { spec: A_SPEC }), purges: false },
    {
      name: 'a volume that is cloned',
      seen: view({ clones: [{ volumeId: VOLUME, snapshotId: removed.id }] }),
      purges: false,
    },
    { name: 'a volume that is rebuilt', seen: view({ rebuilds: [running] }), purges: false },
    {
      name: 'a volume whose rebuild waits',
      seen: view({ rebuilds: [{ ...running, state: 'queued' }] }),
      purges: false,
    },
    {
      name: 'where it is switched off',
      seen: view(withSettings({ 'disable-snapshot-purge': true })),
      purges: false,
    },
    { name: 'layers that are busy', seen: view({}, { chain: { ...CHAIN, busy: 'hashing' } }), purges: false },
    { name: 'layers that were never read', seen: view({}, { chain: undefined }), purges: false },
  ])('of $name: $purges', ({ seen, purges }) => {
    const step = planLayerWork(seen, NOON);
    const wanted = {
      kind: 'commit',
      changes: [{ kind: 'volume.patch', patch: { task: { kind: 'purge' } } }],
    };
    if (purges) expect(step).toMatchObject(wanted);
    else expect(step).toBeUndefined();
  });
});

describe('what is asked for', () => {
  const creating = { ...removed, state: 'creating' as const };
  test.each<{ name: string; seen: VolumeView; want: string | undefined }>([
    { name: 'an admitted purge', seen: view({}, { task: ADMITTED }), want: 'change-layers' },
    {
      name: 'nothing of an engine whose node does not answer',
      seen: view({ fleet: aFleet({ n1: { zone: 'a', ready: false } }) }, { task: ADMITTED }),
      want: undefined,
    },
    {
      name: 'nothing of an engine of an earlier attachment',
      seen: view({ engine: anEngineOn(NODE_ID, { epoch: 0 }) }, { task: ADMITTED }),
      want: undefined,
    },
    { name: 'a purge before its admission', seen: view({}, { task: PURGE }), want: undefined },
    {
      name: 'a change that moves no whole layers',
      seen: view({}, { task: aTask({ kind: 'expand', sizeBytes: 2, fromBytes: 1 }) }),
      want: 'change-layers',
    },
    {
      name: 'a task that runs already',
      seen: view({}, { task: { ...ADMITTED, startedEpoch: 1 } }),
      want: undefined,
    },
    {
      name: 'a task of an earlier attachment',
      seen: view({}, { epoch: 1, task: { ...ADMITTED, startedEpoch: 0 } }),
      want: 'change-layers',
    },
    {
      name: 'a background hash before its admission',
      seen: view({ snapshots: [waitingForAdmission] }),
      want: undefined,
    },
    {
      name: 'an admitted background hash',
      seen: view({ snapshots: [waitingForAdmission] }, { hashing: { admittedAt: NOON, isPass: false } }),
      want: 'hash-snapshot',
    },
    {
      name: 'a task that was refused a moment ago',
      seen: view({}, { task: { ...ADMITTED, trouble: trouble(4) } }),
      want: undefined,
    },
    {
      name: 'a task that was refused a while ago',
      seen: view({}, { task: { ...ADMITTED, trouble: trouble(5) } }),
      want: 'change-layers',
    },
    {
      name: 'a task during a rebuild',
      seen: view({ rebuilds: [running] }, { task: ADMITTED }),
      want: undefined,
    },
    {
      name: 'a snapshot during a rebuild',
      seen: view({ rebuilds: [running], snapshots: [creating] }),
      want: 'take-snapshot',
    },
    {
      name: 'a snapshot of an engine that waits',
      seen: view({
        snapshots: [creating],
        engine: {
          nodeId: NODE_ID,
          bootId: testId(401),
          at: NOON,
          report: anEngineReport({ volumeId: VOLUME, epoch: 1, state: 'waiting-record' }),
        },
      }),
      want: undefined,
    },
  ])('$name', ({ seen, want }) => {
    expect(planLayerWork(seen, NOON)?.kind).toBe(want);
  });
});

test.each([
  { name: 'up to date', chain: CHAIN, want: undefined },
  { name: 'of another state of the engine', chain: { ...CHAIN, key: '1.0' }, want: 'read-layers' },
  { name: 'busy', chain: { ...CHAIN, busy: 'purging' }, want: 'read-layers' },
])('layers that are $name are read again: $want', ({ chain, want }) => {
  expect(planLayerReading(view({}, { chain }))?.kind).toBe(want);
});

test('a purge that is not admitted yet requests that, once nothing else is to be done', () => {
  const seen = view({ snapshots: [] });
  const [replica] = seen.replicas;
  if (replica === undefined) throw new Error('the volume has a copy');
  const report = anEngineReport({
    volumeId: VOLUME,
    epoch: 1,
    replicas: [{ replicaId: replica.id, mode: 'RW', reason: '' }],
  });
  const bootId = seen.fleet.nodes[0]?.bootId;
  const volume: Volume = {
    ...anIdleVolume(AN_OWNER),
    ...seen.volume,
    conditions: anIdleVolume(AN_OWNER).conditions,
    robustness: 'healthy',
    observedGeneration: seen.volume.generation,
    record: copyRecord(1, 1, [replica.id]),
    lifecycle: attachedOn(NODE_ID, { bootId }),
    task: PURGE,
  };
  const engine = { nodeId: NODE_ID, bootId: bootId ?? '', at: NOON, report };
  const step = (admittedAt: Date | undefined) =>
    planVolumeStep({ ...seen, engine, volume: { ...volume, task: aPurge({ admittedAt }) } }, NOON);
  expect(step(undefined)).toEqual({ kind: 'request-admission' });
  expect(step(NOON)).toEqual({ kind: 'change-layers' });
});

test.each([
  { name: 'by default it does', seen: view({}), purges: true },
  {
    name: 'not with the clean-up off, as before a maintenance',
    seen: view(withSettings({ 'auto-cleanup-system-generated-snapshot': false })),
    purges: false,
  },
  {
    name: 'not where purging is switched off',
    seen: view(withSettings({ 'disable-snapshot-purge': true })),
    purges: false,
  },
  {
    name: 'not while another volume is filled from it',
    seen: view({ clones: [{ volumeId: VOLUME, snapshotId: removed.id }] }),
    purges: false,
  },
])('does an engine purge before it rebuilds? $name', ({ seen, purges }) => {
  expect(purgesBeforeRebuild(seen)).toBe(purges);
});

/** An attached, healthy volume with one deleted snapshot. */
function view(part: Partial<VolumeView> = {}, volume: Partial<Volume> = {}): VolumeView {
  return aVolumeView({
    volume: aVolume(AN_OWNER, {
      spec: { ...A_SPEC, numberOfReplicas: 1 },
      lifecycle: attachedOn(NODE_ID),
      epoch: 1,
      chain: CHAIN,
      ...volume,
    }),
    replicas: [aReplicaOn('n1-disk', { mode: 'RW', lastHealthyAt: NOON })],
    snapshots: [removed],
    fleet: aFleet({ n1: { zone: 'a' } }),
    engine: anEngineOn(NODE_ID),
    ...part,
  });
}

function withSettings(overrides: Record<string, unknown>): Partial<VolumeView> {
  return { fleet: { ...view().fleet, settings: effectiveSettings(overrides) } };
}
