/** Conclusions from an engine's answer to the filling of a cloned volume. */
import type { Change } from '../model/changes.js';
import type { FaultCode } from '../model/faults.js';
import type { VolumeView } from '../model/views.js';
import { type FillTask, withoutAdmission } from '../model/volume-task.js';

/** The filling has begun: it continues after the engine's answer, in the requested attachment. */
export function fillBegun({ volume }: VolumeView, fill: FillTask): Change[] {
  const begun = { ...fill, startedEpoch: volume.epoch, trouble: undefined };
  return [{ kind: 'volume.patch', volumeId: volume.id, patch: { task: begun } }];
}

/**
 * Changes of a filling that did not begin: why is noted, and it is tried again after a pause, behind all volumes that wait
 * for admission now. An agent that does not answer may have begun, so that such a try keeps its admission.
 */
export function fillRefused(
  { volume }: VolumeView,
  fill: FillTask,
  { code, message }: { readonly code: FaultCode; readonly message: string },
  now: Date,
): Change[] {
  const noted: FillTask = { ...fill, trouble: { message, at: now } };
  const task = code === 'agent.unreachable' ? noted : withoutAdmission(noted);
  return [{ kind: 'volume.patch', volumeId: volume.id, patch: { task } }];
}
