import { AN_OWNER, anIdleVolume, NOON, testId } from '@holdfast/testkit/builders.js';
import { aFleet } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import { asId } from '../model/ids.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { DETACHED } from '../model/volume-lifecycle.js';
import { planTaskAdmissionEnd, planTaskAdmissionRequest, pressingTask } from './plan-task-admission.js';

const work = { requestedAt: NOON, startedEpoch: undefined, trouble: undefined };
const PURGE = { ...work, kind: 'purge' as const, tries: 0 };
const EXPAND = { ...PURGE, kind: 'expand' as const, sizeBytes: 2, fromBytes: 1 };
const FILL = { ...work, sourceVolumeId: asId<Volume['id']>(testId(9)), snapshotId: asId<never>(testId(8)) };

/** Attached on a node that is ready. */
function view(volume: Partial<Volume>): VolumeView {
  const attached = { lifecycle: attachedOn('n1') };
  return aVolumeView({
    volume: anIdleVolume(AN_OWNER, { ...attached, ...volume }),
    fleet: aFleet({ n1: { zone: 'a' }, n2: { zone: 'b', ready: false } }),
  });
}

describe('an admission', () => {
  test.each<{ name: string; volume: Partial<Volume>; may: boolean }>([
    { name: 'to be purged', volume: { layerTask: PURGE }, may: true },
    { name: 'to be filled', volume: { fill: FILL }, may: true },
    { name: 'for an expansion', volume: { layerTask: EXPAND }, may: false },
    { name: 'for nothing', volume: {}, may: false },
    { name: 'of a detached volume', volume: { layerTask: PURGE, lifecycle: DETACHED }, may: false },
    { name: 'on a silent node', volume: { layerTask: PURGE, lifecycle: attachedOn('n2') }, may: false },
  ])('$name is asked for or kept: $may', ({ volume, may }) => {
    expect(planTaskAdmissionRequest(view(volume))?.kind).toBe(may ? 'request-admission' : undefined);
    expect(planTaskAdmissionEnd(view(volume))).toBeUndefined();
    const held = view({ ...volume, taskAdmittedAt: NOON });
    expect(planTaskAdmissionRequest(held)).toBeUndefined();
    const end = planTaskAdmissionEnd(held);
    if (may) expect(end).toBeUndefined();
    else expect(end).toMatchObject({ kind: 'commit', changes: [{ patch: { taskAdmittedAt: undefined } }] });
  });

  test.each<{ name: string; volume: Partial<Volume>; holds: boolean }>([
    { name: 'a purge before its admission', volume: { layerTask: PURGE }, holds: false },
    { name: 'an admitted purge', volume: { layerTask: PURGE, taskAdmittedAt: NOON }, holds: true },
    {
      name: 'a purge that an older version began',
      volume: { epoch: 3, layerTask: { ...PURGE, startedEpoch: 3 } },
      holds: true,
    },
    { name: 'an expansion', volume: { layerTask: EXPAND }, holds: true },
  ])('$name holds rebuilds up: $holds', ({ volume, holds }) => {
    expect(pressingTask(view(volume).volume) !== undefined).toBe(holds);
  });
});
