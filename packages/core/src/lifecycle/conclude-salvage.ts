import type { Change, VolumePatch } from '../model/changes.js';
import { copyRecord } from '../model/copy-record.js';
import type { CopiesSurvey } from '../model/salvage.js';
import type { VolumeView } from '../model/views.js';
import { type Attention, isRestored } from '../model/volume.js';
import { volumeEvent } from '../model/volume-facts.js';
import { afterStartChange, salvageOf } from '../model/volume-lifecycle.js';
import { fillOf } from '../model/volume-task.js';
import { adviseSalvage, decideSalvage, salvageRisk } from '../policy/decide-salvage.js';
import { type GrantIdentity, grantedAnew } from './conclude-attachment.js';

/**
 * How far the epoch rises when the database was restored from a backup. An absent copy may hold records of epochs that the lost
 * database granted; it must be behind when it comes back, or it would be believed again.
 */
const RESTORED_LEAP = 1_000_000;

export type ConcludedSalvage = { readonly isSalvaged: boolean; readonly changes: Change[] };

/**
 * Conclusion from a salvage that a user requested, over the copies as they are now: continues with the named ones, or gives the
 * reason why not.
 *
 * One commit raises the epoch and records the named copies as the only members, before any engine starts: the others are stale
 * afterwards wherever they turn up, and an engine that they may still have is fenced off by its epoch. No copy can hold a record of
 * the new epoch yet, so this one is the highest. The attach then takes its usual course.
 *
 * @param asked present state of these copies
 */
export function concludeSalvage(
  view: VolumeView,
  asked: { readonly attention: Attention; readonly survey: CopiesSurvey },
  identity: GrantIdentity,
  now: Date,
): ConcludedSalvage {
  const { volume, replicas } = view;
  const { attention, survey } = asked;
  const ids = replicas.map(({ id }) => id);
  const found = { ...volume, ...asked };
  const decision = decideSalvage(found, ids, salvageOf(volume)?.replicaIds ?? []);
  if (decision.kind === 'refuse') {
    const message = `volume ${volume.name} was not salvaged: ${decision.why}`;
    const lifecycle = afterStartChange(volume.lifecycle, { survey, salvage: undefined });
    const patch: VolumePatch = { attention, lifecycle };
    return { isSalvaged: false, changes: changesOf(view, patch, 'SalvageRefused', message, now) };
  }
  const chosen = decision.replicaIds;
  const epoch = volume.epoch + (isRestored(volume) ? RESTORED_LEAP : 1);
  const unsurveyed = afterStartChange(volume.lifecycle, { survey: undefined, salvage: undefined });
  const patch: VolumePatch = {
    epoch,
    ...grantedAnew({ lifecycle: unsurveyed }, identity),
    record: copyRecord(epoch, 0, chosen),
    restoredAt: undefined,
    attention: undefined,
    // A clone continues with the content of its copies: filled anew, it would lose later writes.
    ...(fillOf(volume) === undefined ? {} : { task: undefined }),
  };
  const risk = salvageRisk(adviseSalvage(found, ids), chosen, survey);
  const count = chosen.length === 1 ? '1 copy' : `${chosen.length} copies`;
  const message = `volume ${volume.name} goes on with ${count} of ${replicas.length}, as was asked for: ${risk}`;
  return { isSalvaged: true, changes: changesOf(view, patch, 'VolumeSalvaged', message, now) };
}

function changesOf(
  view: VolumeView,
  patch: VolumePatch,
  type: 'SalvageRefused' | 'VolumeSalvaged',
  message: string,
  now: Date,
): Change[] {
  return [
    { kind: 'volume.patch', volumeId: view.volume.id, patch },
    { kind: 'event', event: volumeEvent(view, now, { type, message }) },
  ];
}
