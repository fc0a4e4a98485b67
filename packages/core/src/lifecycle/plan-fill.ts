/**
 * Planner of clones: fills a new volume from a snapshot of another one (attach, copy, detach). A filling that fails, or
 * whose engine is lost, begins again; blocks that are equal already are not written twice.
 */
import type { Change, VolumePatch } from '../model/changes.js';
import type { VolumeView } from '../model/views.js';
import { isServing, volumeEvent } from '../model/volume-facts.js';
import { afterRelease, afterRequest, requestOf } from '../model/volume-lifecycle.js';
import { type FillTask, fillOf, withoutAdmission } from '../model/volume-task.js';
import { mayTry, retryTimes } from './plan-layer-work.js';
import type { Step } from './step.js';

export function planFill(view: VolumeView, now: Date): Step | undefined {
  const { volume } = view;
  const fill = fillOf(volume);
  if (fill === undefined) return undefined;
  if (requestOf(volume) === undefined) return planAttaching(view, now);
  return isServing(view) ? planCopying(view, fill, now) : undefined;
}

/** When a filling that failed may be tried again. */
export function fillTimes({ volume }: VolumeView): Date[] {
  return retryTimes([fillOf(volume)?.trouble]);
}

function planAttaching({ volume }: VolumeView, now: Date): Step | undefined {
  const { lifecycle } = volume;
  if (lifecycle.state !== 'detached') return undefined;
  const patch: VolumePatch = { lifecycle: afterRequest(lifecycle, { nodeId: undefined, requestedAt: now }) };
  return { kind: 'commit', why: 'it is to be filled', changes: [patched(volume.id, patch)] };
}

function planCopying(view: VolumeView, fill: FillTask, now: Date): Step | undefined {
  const { volume, engine } = view;
  if (fill.startedEpoch !== volume.epoch) {
    const mayBegin = fill.admittedAt !== undefined && mayTry(fill.trouble, now);
    return mayBegin ? { kind: 'fill-volume' } : undefined;
  }
  const reported = engine?.report.fill;
  if (reported?.fillId !== volume.id || reported.state === 'running') return undefined;
  if (reported.state === 'succeeded') return planEnd(view, now);
  const trouble = { message: reported.error, at: now };
  // Its next try is behind all volumes that wait now: one that can't succeed must not delay them.
  const patch: VolumePatch = { task: withoutAdmission({ ...fill, startedEpoch: undefined, trouble }) };
  return { kind: 'commit', why: 'the filling failed', changes: [patched(volume.id, patch)] };
}

function planEnd(view: VolumeView, now: Date): Step {
  const { id, name, lifecycle } = view.volume;
  const message = `volume ${name} holds what it was cloned from`;
  const patch: VolumePatch = { task: undefined, lifecycle: afterRelease(lifecycle, false) };
  const event = volumeEvent(view, now, { type: 'VolumeCloned', message });
  return { kind: 'commit', why: message, changes: [patched(id, patch), { kind: 'event', event }] };
}

function patched(volumeId: VolumeView['volume']['id'], patch: VolumePatch): Change {
  return { kind: 'volume.patch', volumeId, patch };
}
