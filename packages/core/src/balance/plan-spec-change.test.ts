import { AN_OWNER, anIdleVolume } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { planSpecChange } from './plan-spec-change.js';

/** Two full copies, and a third that is on its way. */
const VIEW = aVolumeView({
  volume: anIdleVolume(AN_OWNER, { lifecycle: attachedOn('a'), epoch: 1 }),
  replicas: [
    aReplicaOn('a-disk'),
    aReplicaOn('b-disk'),
    aReplicaOn('c-disk', { healthyAt: undefined, mode: 'WO' }),
  ],
  fleet: aFleet({ a: {}, b: {}, c: {} }),
});

test.each([
  { numberOfReplicas: 3, removes: [] },
  { numberOfReplicas: 2, removes: ['c'] },
  { numberOfReplicas: 1, removes: ['c', 'b'] },
])('with $numberOfReplicas copies wanted those on $removes go, in this order', (wanted) => {
  const { numberOfReplicas, removes } = wanted;
  const plan = planSpecChange(VIEW, { ...VIEW.volume.spec, numberOfReplicas });
  expect(plan.removes.map(({ nodeName }) => nodeName)).toEqual(removes);
});
