import {
  A_SPEC,
  AN_OWNER,
  anIdleVolume,
  aRebuild,
  NOON,
  secondsAfterNoon,
} from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aPurge } from '@holdfast/testkit/task-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { asId, type ReplicaId } from '../model/ids.js';
import type { Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { DETACHED } from '../model/volume-lifecycle.js';
import { rebuildWaits, waitingConditions } from './rebuild-waiting-conditions.js';

const NODES = { n1: { zone: 'a' }, n2: { zone: 'b' }, n3: { zone: 'c', ready: false } };
const WINDOW = { until: new Date('2026-01-01T13:00:00Z'), reason: 'new disks' };
const IN_MAINTENANCE = { ...NODES, n3: { ...NODES.n3, maintenance: WINDOW } };
const TARGET_LIMIT = 'concurrent-replica-rebuild-per-node-limit';
const copy = (node: string, part: Partial<Replica> = {}) =>
  aReplicaOn(`${node}-disk`, { id: asId<ReplicaId>(node), mode: 'RW', ...part });
const failed = (node: string, secondsAgo: number) => {
  const failedAt = secondsAfterNoon(-secondsAgo);
  return copy(node, { mode: 'ERR', failedAt, lastFailedAt: failedAt });
};
const ended = (state: 'cancelled' | 'failed', secondsAgo: number) =>
  aRebuild({ state, finishedAt: secondsAfterNoon(-secondsAgo) });
const SCHEDULED = {
  type: 'Scheduled',
  status: 'False',
  reason: '',
  message: '',
  lastTransitionAt: NOON,
} as const;

/** An attached volume of three copies, of which one failed a minute ago on an unreachable node. */
function view(part: Partial<VolumeView> = {}, volume: Partial<Volume> = {}): VolumeView {
  return aVolumeView({
    volume: anIdleVolume(AN_OWNER, { lifecycle: attachedOn('n1'), robustness: 'degraded', ...volume }),
    replicas: [copy('n1'), copy('n2'), failed('n3', 60)],
    fleet: aFleet(NODES),
    ...part,
  });
}
const PURGE = aPurge();

test.each<{ name: string; seen: VolumeView; reason?: string; says?: string }>([
  { name: 'all are there', seen: view({ replicas: [copy('n1'), copy('n2')] }, spec(2)) },
  { name: 'none is there', seen: view({ replicas: [failed('n1', 60)] }, spec(1)) },
  { name: 'it is being made', seen: view({}, { lifecycle: { state: 'creating', request: undefined } }) },
  { name: 'the only one missing is in the queue', seen: view({ rebuilds: [aRebuild({})] }) },
  {
    name: 'two are missing, one is being rebuilt',
    seen: view({
      replicas: [copy('n1')],
      rebuilds: [aRebuild({ state: 'running', targetNodeId: asId('n2') })],
    }),
    reason: 'OtherReplicaRebuilding',
    says: '1 copy more to rebuild after the one on n2: a volume rebuilds one at a time',
  },
  {
    name: 'a hold',
    seen: view({}, { rebuildHold: 'standby' }),
    reason: 'VolumeStandby',
    says: 'disaster recovery',
  },
  {
    name: 'a purge',
    seen: view({}, { task: aPurge({ admittedAt: NOON }) }),
    reason: 'VolumePurging',
    says: 'are being purged',
  },
  { name: 'a purge before its admission', seen: view({}, { task: PURGE }), reason: 'CopyMayReturn' },
  {
    name: 'no user has it attached',
    seen: view({}, { lifecycle: DETACHED }),
    reason: 'VolumeDetached',
    says: 'while it is attached',
  },
  {
    name: 'no user has it attached, and it is rebuilt then too',
    seen: view({}, { lifecycle: DETACHED, spec: { ...A_SPEC, offlineRebuilding: 'enabled' } }),
    reason: 'CopyMayReturn',
  },
  {
    name: 'no rebuild may start',
    seen: view({ fleet: aFleet(NODES, { [TARGET_LIMIT]: 0 }) }),
    reason: 'TargetNodeLimit',
    says: `${TARGET_LIMIT} is 0`,
  },
  {
    name: 'no rebuild may start in the whole cluster',
    seen: view({ fleet: aFleet(NODES, { 'concurrent-rebuild-per-cluster-limit': 0 }) }),
    reason: 'ClusterLimit',
    says: 'no rebuild may start: concurrent-rebuild-per-cluster-limit is 0',
  },
  {
    name: 'one was cancelled',
    seen: view({ rebuilds: [ended('cancelled', 60)] }),
    reason: 'RebuildCancelled',
    says: 'the last rebuild was cancelled: the next one begins at 2026-01-01 12:04:00 UTC',
  },
  {
    name: 'one failed',
    seen: view({ rebuilds: [ended('failed', 2)] }),
    reason: 'RebuildFailed',
    says: '2026-01-01 12:00:03 UTC',
  },
  {
    name: 'the copy may come back',
    seen: view(),
    reason: 'CopyMayReturn',
    says: 'the copy on n3 may come back: no new one is built until 2026-01-01 12:09:00 UTC',
  },
  {
    name: 'its node is in maintenance',
    seen: view({ fleet: aFleet(IN_MAINTENANCE), replicas: [copy('n1'), copy('n2'), failed('n3', 6000)] }),
    reason: 'NodeMaintenance',
    says: 'node n3 is in maintenance until 2026-01-01 13:00:00 UTC: no new copy is built for the one on it',
  },
  {
    name: 'its node is in maintenance, and the last copy is left',
    seen: view({ fleet: aFleet(IN_MAINTENANCE), replicas: [copy('n1'), failed('n3', 6000)] }),
  },
  { name: 'the wait is over', seen: view({ replicas: [copy('n1'), copy('n2'), failed('n3', 601)] }) },
])('where a copy is missing, why it is not rebuilt is said: $name', ({ seen, reason, says = '' }) => {
  const why = rebuildWaits(seen, [], NOON);
  expect(why?.reason).toBe(reason);
  expect(why?.message ?? '').toContain(says);
});

test('a copy without a place is told of by the Scheduled condition', () => {
  expect(rebuildWaits(view(), [SCHEDULED], NOON)).toBeUndefined();
  expect(rebuildWaits(view({}, { rebuildHold: 'standby' }), [SCHEDULED], NOON)?.reason).toBe('VolumeStandby');
});

test('the condition changes with the reason, ends with it, and is not there before', () => {
  expect(waitingConditions(view({ rebuilds: [aRebuild({})] }), [], NOON)).toBeUndefined();
  const waiting = waitingConditions(view(), [], NOON) ?? [];
  expect(waiting).toMatchObject([{ type: 'RebuildWaiting', status: 'True', reason: 'CopyMayReturn' }]);
  expect(waitingConditions(view(), waiting, NOON)).toBeUndefined();
  expect(waitingConditions(view({}, { rebuildHold: 'standby' }), waiting, NOON)).toMatchObject([
    { status: 'True', reason: 'VolumeStandby' },
  ]);
  const over = waitingConditions(view({ rebuilds: [aRebuild({})] }), waiting, NOON) ?? [];
  expect(over).toMatchObject([{ status: 'False', reason: '' }]);
  expect(waitingConditions(view({ rebuilds: [aRebuild({})] }), over, NOON)).toBeUndefined();
});

function spec(numberOfReplicas: number): Partial<Volume> {
  return { spec: { ...A_SPEC, numberOfReplicas } };
}
