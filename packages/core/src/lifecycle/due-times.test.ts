/** No step becomes possible between two due times: each rule of time says its next time. */
import {
  A_SPEC,
  AN_OWNER,
  anEngineReport,
  anIdleVolume,
  aRebuild,
  aSnapshot,
  NOON,
  secondsAfterNoon,
  testId,
} from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn, TO_REPAIR } from '@holdfast/testkit/lifecycle-builder.js';
import { aFill, aPurge } from '@holdfast/testkit/task-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import type { Change } from '../model/changes.js';
import { copyRecord } from '../model/copy-record.js';
import { asId, type DiskId, type NodeId, type ReplicaId } from '../model/ids.js';
import type { Rebuild } from '../model/rebuild.js';
import type { Replica } from '../model/replica.js';
import type { Snapshot } from '../model/snapshot.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { DETACHED } from '../model/volume-lifecycle.js';
import { nextTime, planVolumeStep } from './plan-volume-step.js';
import type { Step } from './step.js';

const MINUTE_MS = 60_000;
const WEEK_MINUTES = 7 * 24 * 60;
const WEEK_END = new Date(NOON.getTime() + WEEK_MINUTES * MINUTE_MS);
const NODES = { n1: { zone: 'a' }, n2: { zone: 'b' }, n3: { zone: 'c' }, n4: { zone: 'd' } };
const SILENT = { ...NODES, n3: { zone: 'c', ready: false } };
const inMaintenance = (node: { zone: string }, secondsLeft: number) => ({
  ...node,
  ready: false,
  maintenance: { until: secondsAfterNoon(secondsLeft), reason: '' },
});
const IN_MAINTENANCE = { ...NODES, n3: inMaintenance(NODES.n3, 2 * 3600) };
const SOON_OVER = { ...NODES, n3: inMaintenance(NODES.n3, 60) };
const BOTH_AWAY = { ...IN_MAINTENANCE, n2: inMaintenance(NODES.n2, 2 * 3600) };
const TROUBLE = { message: 'busy', at: NOON };
const FAILED: Partial<Replica> = { mode: 'ERR', failedAt: NOON, lastFailedAt: NOON };

const FULL = [copy('n1'), copy('n2'), copy('n3')];

type Parts = { volume?: Partial<Volume>; replicas?: Replica[] } & Partial<
  Pick<VolumeView, 'snapshots' | 'rebuilds' | 'fleet' | 'engine'>
>;

const OFFLINE = { ...A_SPEC, offlineRebuilding: 'enabled' as const };
const OFFLINE_CONDITION = { type: 'OfflineRebuilding' as const, message: '', lastTransitionAt: NOON };

const CROWDED_SPEC = {
  ...A_SPEC,
  numberOfReplicas: 2,
  replicaSoftAntiAffinity: 'enabled' as const,
  replicaAutoBalance: 'best-effort' as const,
};
const CROWDED = [copy('n1'), copy('n1', { id: asId<ReplicaId>('second') })];
const RECENT_MOVE = {
  from: { nodeId: asId<NodeId>('n3'), diskId: asId<DiskId>('n3-disk') },
  to: { nodeId: asId<NodeId>('n1'), diskId: asId<DiskId>('n1-disk') },
  at: NOON,
};

const AWAITING = [copy('n1'), copy('n2'), copy('n3', { mode: undefined, healthyAt: undefined })];
const LOST = [copy('n1'), copy('n2'), copy('n3', FAILED)];
const HASHED = snapshot({
  hashRequest: { requestedAt: NOON, force: false, automatic: false, startedEpoch: undefined },
});
const AUTOMATIC = snapshot({
  trouble: undefined,
  hashRequest: { requestedAt: NOON, force: false, automatic: true, startedEpoch: undefined },
});

test.each<{ name: string; view: VolumeView; after?: number; step?: Step['kind'] }>([
  { name: 'nothing is to be done', view: seen({}) },
  {
    name: 'an agent refused to make a directory',
    view: seen({
      volume: { lifecycle: DETACHED, epoch: 0 },
      replicas: [
        copy('n1'),
        copy('n2'),
        copy('n3', { provisioned: false, healthyAt: undefined, lastFailedAt: NOON }),
      ],
    }),
    after: 10,
    step: 'provision',
  },
  {
    name: 'a replica without a place waits for that of a failed one',
    view: seen({
      volume: { lifecycle: DETACHED, epoch: 0 },
      replicas: [
        copy('n1', { mode: undefined }),
        copy('n3', { ...FAILED, mode: undefined }),
        copy('n2', { nodeId: undefined, diskId: undefined, provisioned: false, healthyAt: undefined }),
      ],
      fleet: aFleet({ n1: {}, n3: { disks: { 'n3-disk': {}, 'n3-other': {} } } }),
    }),
    after: 600,
    step: 'commit',
  },
  {
    name: 'an engine has just been started and is in no report',
    view: seen({
      replicas: [copy('n1', { lastHealthyAt: NOON }), copy('n2'), copy('n3')],
      engine: undefined,
    }),
    after: 5,
    step: 'commit',
  },
  {
    name: 'an engine is missing',
    view: seen({
      engine: undefined,
      volume: { attention: { code: 'EngineMissing', message: '', cures: [], since: NOON } },
    }),
    after: 10,
    step: 'grant-attachment',
  },
  {
    name: 'a filling failed',
    view: seen({
      volume: {
        task: aFill({ admittedAt: NOON, trouble: TROUBLE }),
      },
    }),
    after: 5,
    step: 'fill-volume',
  },
  {
    name: 'an offline rebuild came to nothing',
    view: seen({
      volume: {
        lifecycle: DETACHED,
        spec: OFFLINE,
        conditions: [{ ...OFFLINE_CONDITION, status: 'False', reason: 'Stalled' }],
      },
      replicas: [copy('n1'), copy('n2'), copy('n3', { ...FAILED, failedAt: secondsAfterNoon(-900) })],
    }),
    after: 600,
    step: 'commit',
  },
  {
    name: 'an offline rebuild finds nothing to do',
    view: seen({
      volume: {
        spec: OFFLINE,
        lifecycle: attachedOn('n1', { bootId: 'boot', request: TO_REPAIR }),
        conditions: [{ ...OFFLINE_CONDITION, status: 'True', reason: '' }],
      },
      replicas: LOST,
      fleet: aFleet(SILENT),
    }),
    after: 60,
    step: 'commit',
  },
  {
    name: 'a recurring snapshot is due',
    view: seen({
      volume: {
        recurringSnapshots: [
          {
            name: 'hourly',
            cron: '@hourly',
            retain: 2,
            nextRunAt: secondsAfterNoon(3600),
            lastRun: undefined,
          },
        ],
      },
    }),
    after: 3600,
    step: 'request-snapshot',
  },
  {
    name: 'snapshots can not be hashed',
    view: withEngineState(
      seen({ volume: { hashing: { admittedAt: NOON, isPass: false } }, snapshots: [AUTOMATIC] }),
      'waiting-record',
    ),
    after: 24 * 3600 + 0.001,
    step: 'commit',
  },
  {
    name: 'an engine refused a task',
    view: seen({
      volume: {
        task: aPurge({ admittedAt: NOON, tries: 1, trouble: TROUBLE }),
      },
    }),
    after: 5,
    step: 'change-layers',
  },
  {
    name: 'an engine refused to take a snapshot',
    view: seen({ snapshots: [snapshot({ state: 'creating' })] }),
    after: 5,
    step: 'take-snapshot',
  },
  {
    name: 'an engine refused to delete a snapshot',
    view: seen({ snapshots: [snapshot({ state: 'removing' })] }),
    after: 5,
    step: 'remove-snapshot',
  },
  {
    name: 'an engine refused to hash a snapshot',
    view: seen({ snapshots: [HASHED] }),
    after: 5,
    step: 'hash-snapshot',
  },
  {
    name: 'a rebuild failed',
    view: seen({ replicas: AWAITING, rebuilds: [ended('failed')] }),
    after: 5,
    step: 'commit',
  },
  {
    name: 'a rebuild was cancelled',
    view: seen({ replicas: AWAITING, rebuilds: [ended('cancelled')] }),
    after: 300,
    step: 'commit',
  },
  {
    name: 'a copy may come back',
    view: seen({ replicas: LOST, fleet: aFleet(SILENT) }),
    after: 600,
    step: 'commit',
  },
  {
    name: 'a copy is on a node in maintenance',
    view: seen({ replicas: LOST, fleet: aFleet(IN_MAINTENANCE) }),
    after: 2 * 3600,
    step: 'commit',
  },
  {
    name: 'maintenance ends before a copy has been waited for as usual',
    view: seen({ replicas: LOST, fleet: aFleet(SOON_OVER) }),
    after: 600,
    step: 'commit',
  },
  {
    name: 'the last copy is left while the others are on nodes in maintenance',
    view: seen({ replicas: [copy('n1'), copy('n2', FAILED), copy('n3', FAILED)], fleet: aFleet(BOTH_AWAY) }),
    after: 600,
    step: 'commit',
  },
  {
    name: 'a failed replica of a complete volume gets old',
    view: seen({ replicas: [...FULL, copy('n4', FAILED)] }),
    after: 2880 * 60,
    step: 'remove-replica',
  },
  {
    name: 'auto-balance rests after a move',
    view: seen({
      volume: { spec: CROWDED_SPEC, balance: { moves: [RECENT_MOVE], stoppedAt: undefined } },
      replicas: CROWDED,
    }),
    after: 30,
    step: 'add-replica',
  },
  {
    name: 'a node that auto-balance could use has just come back',
    view: seen({
      volume: { spec: CROWDED_SPEC },
      replicas: CROWDED,
      fleet: aFleet({ n1: { zone: 'a' }, n2: { zone: 'b', returnedAt: NOON } }),
    }),
    after: 60,
    step: 'add-replica',
  },
  {
    name: 'failed replicas are kept for ever',
    view: seen({
      replicas: [...FULL, copy('n4', FAILED)],
      fleet: aFleet(NODES, { 'stale-replica-timeout': 0 }),
    }),
  },
])('$name', ({ view, after, step }) => {
  const quiet = committed(view);
  const byDueTimes = firstStepByDueTimes(quiet);
  expect(byDueTimes?.step).toBe(step);
  expect(byDueTimes?.at).toEqual(after === undefined ? undefined : secondsAfterNoon(after));
  // The due times are those that a plan at every minute of a week finds, and not even a millisecond late.
  const byMinutes = firstStepByMinutes(quiet);
  expect(byMinutes?.step).toBe(step);
  if (byDueTimes === undefined || byMinutes === undefined) return;
  expect(byMinutes.at.getTime() - byDueTimes.at.getTime()).toBeLessThan(MINUTE_MS);
  expect(byMinutes.at >= byDueTimes.at).toBe(true);
  expect(planVolumeStep(quiet, new Date(byDueTimes.at.getTime() - 1)).kind).toBe('idle');
});

test('a volume that lacks a copy is looked at with every sweep, since free space marks nothing', () => {
  const quiet = committed(seen({ replicas: LOST, fleet: aFleet(SILENT) }));
  expect(planVolumeStep(quiet, NOON)).toEqual({ kind: 'idle', until: secondsAfterNoon(4) });
  expect(planVolumeStep(quiet, secondsAfterNoon(598))).toEqual({
    kind: 'idle',
    until: secondsAfterNoon(600),
  });
});

test('a detached volume that is not rebuilt before its next attach waits for no space', () => {
  const quiet = committed(seen({ volume: { lifecycle: DETACHED }, replicas: LOST, fleet: aFleet(SILENT) }));
  expect(planVolumeStep(quiet, NOON)).toEqual({ kind: 'idle', until: secondsAfterNoon(600) });
});

type Found = { at: Date; step: Step['kind'] };

function firstStepByDueTimes(view: VolumeView): Found | undefined {
  let at: Date | undefined = NOON;
  while (at !== undefined && at <= WEEK_END) {
    const step = planVolumeStep(view, at);
    if (step.kind !== 'idle') return { at, step: step.kind };
    const next = nextTime(view, at);
    if (next !== undefined) expect(next > at).toBe(true);
    at = next;
  }
  return undefined;
}

function firstStepByMinutes(view: VolumeView): Found | undefined {
  for (let minute = 0; minute <= WEEK_MINUTES; minute += 1) {
    const at = new Date(NOON.getTime() + minute * MINUTE_MS);
    const step = planVolumeStep(view, at);
    if (step.kind !== 'idle') return { at, step: step.kind };
  }
  return undefined;
}

function withEngineState(view: VolumeView, state: 'waiting-record'): VolumeView {
  const { engine } = view;
  return engine === undefined
    ? view
    : { ...view, engine: { ...engine, report: { ...engine.report, state } } };
}

/** The view once everything that can be recorded at noon has been. */
function committed(view: VolumeView): VolumeView {
  let current = view;
  for (let count = 0; count < 10; count += 1) {
    const step = planVolumeStep(current, NOON);
    if (step.kind !== 'commit') {
      expect(step.kind).toBe('idle');
      return current;
    }
    current = step.changes.reduce(applied, current);
  }
  throw new Error('the plan commits without an end');
}

function applied(view: VolumeView, change: Change): VolumeView {
  switch (change.kind) {
    case 'volume.patch':
      return { ...view, volume: { ...view.volume, ...change.patch } };
    case 'replica.patch': {
      const { replicaId, patch } = change;
      return {
        ...view,
        replicas: view.replicas.map((one) => (one.id === replicaId ? { ...one, ...patch } : one)),
      };
    }
    default:
      return view;
  }
}

function copy(node: string, part: Partial<Replica> = {}): Replica {
  return aReplicaOn(`${node}-disk`, {
    id: asId<ReplicaId>(node),
    volumeId: asId(testId(1)),
    mode: 'RW',
    lastHealthyAt: secondsAfterNoon(-600),
    ...part,
  });
}

/** An attached volume with the copies, and an engine that reports them as they are. */
function seen({ volume = {}, replicas = FULL, ...rest }: Parts): VolumeView {
  const members = replicas.filter(({ mode }) => mode === 'RW').map(({ id }) => id);
  const report = anEngineReport({
    volumeId: asId(testId(1)),
    epoch: 1,
    record: { epoch: 1, dataGeneration: 1, members },
    replicas: replicas.flatMap(({ id, mode }) =>
      mode === undefined ? [] : [{ replicaId: id, mode, reason: '' }],
    ),
  });
  return aVolumeView({
    volume: anIdleVolume(AN_OWNER, {
      lifecycle: attachedOn('n1', { bootId: 'boot' }),
      epoch: 1,
      record: copyRecord(1, 1, members),
      chain: { key: '1.1', headParentId: undefined, headBytes: 0, busy: '', keptIds: [], readAt: NOON },
      ...volume,
    }),
    replicas,
    fleet: aFleet(NODES),
    engine: { nodeId: asId('n1'), bootId: 'boot', at: NOON, report },
    ...rest,
  });
}

function ended(state: 'failed' | 'cancelled'): Rebuild {
  return aRebuild({ state, finishedAt: NOON });
}

function snapshot(part: Partial<Snapshot>): Snapshot {
  return aSnapshot({ trouble: TROUBLE, ...part });
}
