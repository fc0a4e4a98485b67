import { AN_OWNER, aVolume, NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import { REBUILD_RETRIES_MAX, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { DETACHED } from '../model/volume-lifecycle.js';
import { lostCopyTimes, planLostCopies } from './plan-lost-copies.js';

const HEARD = { lastHeartbeatAt: secondsAfterNoon(40) };

/** A detached volume with copies on a and b; the one on b has not been reported since noon, and its node was heard since. */
function view(copy: Partial<Replica> = {}, node: NodePart = {}): VolumeView {
  const fleet = aFleet({ a: {}, b: { ...node } });
  const nodes = fleet.nodes.map((one) => ({ ...one, ...HEARD }));
  return aVolumeView({
    volume: aVolume(AN_OWNER, { lifecycle: DETACHED }),
    replicas: [aReplicaOn('a-disk'), { ...aReplicaOn('b-disk'), unreportedSince: NOON, ...copy }],
    fleet: { ...fleet, nodes },
  });
}

describe('a copy that its node does not report', () => {
  test('is given up after a while, with its reason', () => {
    const step = planLostCopies(view(), secondsAfterNoon(30));
    expect(step).toMatchObject({
      kind: 'commit',
      changes: [
        {
          replicaId: 'on-b-disk',
          patch: {
            failedAt: secondsAfterNoon(30),
            failure: { reason: 'CopyLost' },
            rebuildRetryCount: REBUILD_RETRIES_MAX,
          },
        },
        { kind: 'event', event: { type: 'ReplicaFailed' } },
      ],
    });
    expect(lostCopyTimes(view())).toEqual([secondsAfterNoon(30)]);
  });

  test.each<{ name: string; copy?: Partial<Replica>; node?: NodePart; at?: number }>([
    { name: 'before its time', at: 29 },
    { name: 'while it was reported last', copy: { unreportedSince: undefined } },
    { name: 'while its node does not answer', node: { ready: false } },
    { name: 'while an engine uses it', copy: { mode: 'RW' } },
    { name: 'while it is rebuilt', copy: { mode: 'WO' } },
    { name: 'before it was made', copy: { provisioned: false } },
    { name: 'when it is to go anyway', copy: { intent: 'remove' } },
    { name: 'when it has failed already', copy: { failedAt: NOON, mode: 'ERR' } },
    { name: 'before its node was heard again', copy: { unreportedSince: secondsAfterNoon(40) }, at: 80 },
  ])('is not given up: $name', ({ copy, node, at = 60 }) => {
    expect(planLostCopies(view(copy, node), secondsAfterNoon(at))).toBeUndefined();
  });
});
