import { copyRecord } from '@holdfast/core/model/copy-record.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { volumeEvent } from '@holdfast/core/model/volume-facts.js';
import { adviseSalvage, decideSalvage, salvageRisk } from '@holdfast/core/policy/decide-salvage.js';
import type { VolumePatch, VolumeView } from '../ports/store.js';
import { commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';

/**
 * Step of a salvage: goes on with the copies that a user named, or says why not.
 *
 * One commit raises the epoch and records the named copies as the only members, before any engine starts: from then on the
 * others are stale wherever they turn up, and an engine that they may still have is fenced off by its epoch. No copy can
 * hold a record of the new epoch yet, so this one is the highest. The attach then goes its usual way.
 *
 * @param asked the volume as these copies show it at this moment
 */
export async function salvage(ports: ReconcilerPorts, view: VolumeView, asked: Volume): Promise<StepOutcome> {
  const { volume, replicas } = view;
  const { attention, survey } = asked;
  const now = ports.clock.now();
  const ids = replicas.map(({ id }) => id);
  const named = volume.salvage?.replicaIds ?? [];
  const decision = decideSalvage(asked, ids, named);
  if (decision.kind === 'refuse' || survey === undefined) {
    const why = decision.kind === 'refuse' ? decision.why : 'it does not wait for copies any more';
    const message = `volume ${volume.name} was not salvaged: ${why}`;
    const event = volumeEvent(view, now, { type: 'SalvageRefused', severity: 'warning', message });
    const patch: VolumePatch = { attention, survey, salvage: undefined };
    await commitVolume(ports, view, [
      { kind: 'volume.patch', volumeId: volume.id, patch },
      { kind: 'event', event },
    ]);
    return 'pause';
  }
  const chosen = decision.replicaIds;
  const epoch = volume.epoch + 1;
  const patch: VolumePatch = {
    epoch,
    record: copyRecord(epoch, 0, chosen),
    grantId: ports.random.id(),
    attachmentSecret: ports.random.secret(),
    attention: undefined,
    survey: undefined,
    salvage: undefined,
  };
  const risk = salvageRisk(adviseSalvage(asked, ids), chosen, survey);
  const count = chosen.length === 1 ? '1 copy' : `${chosen.length} copies`;
  const message = `volume ${volume.name} goes on with ${count} of ${replicas.length}, as was asked for: ${risk}`;
  const event = volumeEvent(view, now, { type: 'VolumeSalvaged', severity: 'warning', message });
  await commitVolume(ports, view, [
    { kind: 'volume.patch', volumeId: volume.id, patch },
    { kind: 'event', event },
  ]);
  return 'continue';
}
