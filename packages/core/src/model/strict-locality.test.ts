import { AN_OWNER, anIdleVolume } from '@holdfast/testkit/builders.js';
import { aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn, ON_ANY_NODE, TO_REPAIR } from '@holdfast/testkit/lifecycle-builder.js';
import { expect, test } from '@jest/globals';
import { asId } from './ids.js';
import { isAwayFromUsers, servingNodeIds } from './strict-locality.js';
import { DETACHED, type VolumeLifecycle } from './volume-lifecycle.js';

const FULL = aReplicaOn('n1-disk');
const COMING = aReplicaOn('n2-disk', { healthyAt: undefined, mode: 'WO' });
const FAILED = aReplicaOn('n3-disk', { failedAt: new Date(0) });

function strictlyLocal(lifecycle: VolumeLifecycle = DETACHED) {
  const volume = anIdleVolume(AN_OWNER, { lifecycle });
  return { ...volume, spec: { ...volume.spec, numberOfReplicas: 1, dataLocality: 'strict-local' as const } };
}

test.each([
  { name: 'a full copy, not the replacement that is built', replicas: [FULL, COMING], want: ['n1'] },
  { name: 'a full copy, not one that failed', replicas: [FAILED, FULL], want: ['n1'] },
  {
    name: 'a full copy, not the one that it has replaced',
    replicas: [{ ...FULL, intent: 'remove' as const }, aReplicaOn('n2-disk')],
    want: ['n2'],
  },
  {
    name: 'a full copy that is to be removed, not the replacement that is built',
    replicas: [{ ...FULL, intent: 'remove' as const }, COMING],
    want: ['n1'],
  },
  { name: 'any copy, as long as none is full', replicas: [COMING, FAILED], want: ['n2', 'n3'] },
  { name: 'no copy, where none has a place', replicas: [], want: [] },
])('a strictly local volume is served on the node of $name', ({ replicas, want }) => {
  expect(servingNodeIds({ volume: strictlyLocal(), replicas })).toEqual(want);
  expect(servingNodeIds({ volume: anIdleVolume(AN_OWNER), replicas })).toBeUndefined();
});

const WANTED_ON_N1 = {
  state: 'attaching',
  request: { ...ON_ANY_NODE, nodeId: asId('n1') },
  grant: undefined,
};

test.each<{ name: string; lifecycle: VolumeLifecycle; away: boolean }>([
  { name: 'users are served where the full one is', lifecycle: attachedOn('n1'), away: true },
  { name: 'users want to be served there', lifecycle: WANTED_ON_N1 as VolumeLifecycle, away: true },
  { name: 'the worker has it attached', lifecycle: attachedOn('n1', { request: TO_REPAIR }), away: false },
  { name: 'it is detached', lifecycle: DETACHED, away: false },
  { name: 'no copy is where users are served', lifecycle: attachedOn('n4'), away: false },
])('a copy beside the full one is away from users, $name: $away', ({ lifecycle, away }) => {
  const view = { volume: strictlyLocal(lifecycle), replicas: [FULL, COMING] };
  expect(isAwayFromUsers(COMING, view)).toBe(away);
  expect(isAwayFromUsers(FULL, view)).toBe(false);
});
