import { AN_OWNER, anIdleVolume, NOON } from '@holdfast/testkit/builders.js';
import { aFleet } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aFill, aPurge, aTask } from '@holdfast/testkit/task-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { DETACHED } from '../model/volume-lifecycle.js';
import { heavyTaskOf } from '../model/volume-task.js';
import { planTaskAdmissionEnd, planTaskAdmissionRequest, pressingTask } from './plan-task-admission.js';

const PURGE = aPurge();
const EXPAND = aTask({ kind: 'expand', sizeBytes: 2, fromBytes: 1 });
const FILL = aFill();

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
    { name: 'to be purged', volume: { task: PURGE }, may: true },
    { name: 'to be filled', volume: { task: FILL }, may: true },
    { name: 'for an expansion', volume: { task: EXPAND }, may: false },
    { name: 'for nothing', volume: {}, may: false },
    { name: 'of a detached volume', volume: { task: PURGE, lifecycle: DETACHED }, may: false },
    { name: 'on a silent node', volume: { task: PURGE, lifecycle: attachedOn('n2') }, may: false },
  ])('$name is asked for or kept: $may', ({ volume, may }) => {
    expect(planTaskAdmissionRequest(view(volume))?.kind).toBe(may ? 'request-admission' : undefined);
    expect(planTaskAdmissionEnd(view(volume))).toBeUndefined();
    const task = heavyTaskOf(view(volume).volume);
    if (task === undefined) return;
    const held = view({ ...volume, task: { ...task, admittedAt: NOON } });
    expect(planTaskAdmissionRequest(held)).toBeUndefined();
    const end = planTaskAdmissionEnd(held);
    if (may) expect(end).toBeUndefined();
    else expect(end).toMatchObject({ kind: 'commit', changes: [{ patch: { task } }] });
  });

  test.each<{ name: string; volume: Partial<Volume>; holds: boolean }>([
    { name: 'a purge before its admission', volume: { task: PURGE }, holds: false },
    { name: 'an admitted purge', volume: { task: aPurge({ admittedAt: NOON }) }, holds: true },
    {
      name: 'a purge that an older version began',
      volume: { epoch: 3, task: { ...PURGE, startedEpoch: 3 } },
      holds: true,
    },
    { name: 'an expansion', volume: { task: EXPAND }, holds: true },
  ])('$name holds rebuilds up: $holds', ({ volume, holds }) => {
    expect(pressingTask(view(volume).volume) !== undefined).toBe(holds);
  });
});
