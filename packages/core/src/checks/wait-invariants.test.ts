/** Waits without a time or a cause are found, and nothing else. */
import {
  A_SPEC,
  AN_OWNER,
  anEngineReport,
  anIdleVolume,
  aRebuild,
  aSnapshot,
  NOON,
  testId,
} from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn, attachingOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { asId } from '../model/ids.js';
import type { VolumeView } from '../model/views.js';
import { checkRebuildWaits, checkVolumeWaits } from './wait-invariants.js';

const FLEET = aFleet({ n1: {}, n2: {} });
const TROUBLE = { message: 'busy', at: NOON };

/** Attached on n1, with its one copy there. */
function seen(part: Partial<VolumeView> = {}, copies = 1): VolumeView {
  return aVolumeView({
    volume: anIdleVolume(AN_OWNER, {
      lifecycle: attachedOn('n1', { bootId: 'boot' }),
      epoch: 1,
      spec: { ...A_SPEC, numberOfReplicas: copies },
    }),
    replicas: [aReplicaOn('n1-disk', { mode: 'RW' })],
    fleet: FLEET,
    engine: {
      nodeId: asId('n1'),
      bootId: 'boot',
      at: NOON,
      report: anEngineReport({ volumeId: asId(testId(1)), epoch: 1 }),
    },
    ...part,
  });
}

/** Being attached on n1; the code says what that waits for, if anything. */
function attaching(code: string | undefined): VolumeView {
  const attention = code === undefined ? undefined : { code, message: '', cures: [], since: NOON };
  return seen({ volume: anIdleVolume(AN_OWNER, { lifecycle: attachingOn('n1'), epoch: 1, attention }) });
}

const REFUSED = { snapshots: [aSnapshot({ state: 'creating', trouble: TROUBLE })] };
const FAILED = {
  replicas: [
    aReplicaOn('n1-disk', { mode: 'RW' }),
    aReplicaOn('n2-disk', { mode: 'ERR', failedAt: NOON, healthyAt: undefined }),
  ],
};

test.each<{ name: string; view: VolumeView; dueAt?: Date; want: string[] }>([
  { name: 'a whole volume', view: seen(), want: [] },
  { name: 'a missing copy', view: seen({}, 2), want: ['lacks a copy'] },
  { name: 'a missing copy that is looked for', view: seen({}, 2), dueAt: NOON, want: [] },
  { name: 'a missing copy that is built', view: seen({ rebuilds: [aRebuild({})] }, 2), want: [] },
  { name: 'an attach without a cause', view: attaching(undefined), want: ['is being attached'] },
  { name: 'an attach that waits for its node', view: attaching('HolderUnreachable'), want: [] },
  { name: 'an attach that waits for copies', view: attaching('CopiesMissing'), want: ['is being attached'] },
  { name: 'a refused snapshot', view: seen(REFUSED), want: ['a snapshot that was refused'] },
  { name: 'a failed replica', view: seen(FAILED), want: ['a failed replica'] },
])('$name', ({ view, dueAt, want }) => {
  const found = checkVolumeWaits(view, dueAt);
  expect(found).toEqual(want.map((text) => expect.stringContaining(text)));
});

test('a queued rebuild says what it waits for', () => {
  const silent = aRebuild({ state: 'queued', waitingFor: '', waitingReason: undefined });
  const told = aRebuild({
    state: 'queued',
    waitingFor: 'the cluster runs 1 rebuild',
    waitingReason: 'ClusterLimit',
  });
  expect(checkRebuildWaits([silent, told])).toHaveLength(1);
});
