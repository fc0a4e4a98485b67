/** When a volume is attached elsewhere automatically, and when it is left to its users. */
import { A_SPEC, AN_OWNER, aVolume, NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn, attachingOn, detachingFrom, TO_REPAIR } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { copyRecord } from '../model/copy-record.js';
import type { VolumeLifecycle } from '../model/volume-lifecycle.js';
import { failoverTimes, planFailover } from './plan-failover.js';

const SETTING = 'volume-failover-delay';
const replicas = ['a', 'b', 'c'].map((name) => aReplicaOn(`${name}-disk`, { mode: 'RW' }));
const ids = replicas.map(({ id }) => id);

type Case = {
  lifecycle?: VolumeLifecycle;
  own?: number;
  cluster?: number;
  dead?: readonly string[];
  members?: typeof ids;
};

function view({ lifecycle = attachedOn('a'), own = 0, cluster = 60, dead = ['a'], members = ids }: Case) {
  const nodes = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { ready: !dead.includes(name) }]));
  const spec = { ...A_SPEC, failoverDelay: own };
  return aVolumeView({
    volume: aVolume(AN_OWNER, { lifecycle, epoch: 1, spec, record: copyRecord(1, 1, members) }),
    replicas,
    fleet: aFleet(nodes, { [SETTING]: cluster }),
  });
}

test.each<[string, Case, number, boolean]>([
  ['after the time that its cluster says', {}, 60, true],
  ['not before', {}, 59, false],
  ['after its own time, which comes first', { own: 30 }, 30, true],
  ['by its own time where the cluster has none', { own: 30, cluster: 0 }, 30, true],
  ['never where neither says one', { cluster: 0 }, 9999, false],
  ['never where it says never, whatever its cluster says', { own: -1 }, 9999, false],
  ['while its engine is only being started, too', { lifecycle: attachingOn('a') }, 60, true],
  ['not while the node of its engine is alive', { dead: ['b'] }, 9999, false],
  ['not when it is let go already', { lifecycle: detachingFrom('a') }, 9999, false],
  [
    'not when the worker holds it for a rebuild',
    { lifecycle: attachedOn('a', { request: TO_REPAIR }) },
    9999,
    false,
  ],
  ['not with one of three members', { dead: ['a', 'b'] }, 9999, false],
  ['with one of two members', { dead: ['a'], members: ids.slice(0, 2) }, 60, true],
  ['not when the only member is lost', { members: ids.slice(0, 1) }, 9999, false],
])('a volume fails over %s', (_name, part, seconds, want) => {
  const step = planFailover(view(part), secondsAfterNoon(seconds));
  expect(step?.kind).toBe(want ? 'commit' : undefined);
});

test('it lets the old engine go by force, and asks for an attachment wherever a copy is', () => {
  const step = planFailover(view({}), secondsAfterNoon(60));
  expect(step).toMatchObject({
    changes: [
      { patch: { lifecycle: { state: 'detaching', isForced: true, request: { nodeId: undefined } } } },
      { event: { type: 'VolumeFailedOver' } },
    ],
  });
});

test('its time is told beforehand, so that the volume is looked at then', () => {
  expect(failoverTimes(view({}))).toEqual([new Date(NOON.getTime() + 60_000)]);
  expect(failoverTimes(view({ dead: [] }))).toEqual([]);
});
