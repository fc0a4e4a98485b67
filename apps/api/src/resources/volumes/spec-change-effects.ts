import { wantedSpec } from '@holdfast/control/use-cases/patch-volume.js';
import { planSpecChange } from '@holdfast/core/balance/plan-spec-change.js';
import { builtCopy, effectOn } from '@holdfast/core/policy/copy-effects.js';
import { ofVolume } from '../dry-runs/planned-effects.js';
import { PatchVolumeBody } from './volume.schemas.js';

/** A change of the spec removes or adds copies. */
export const specChange = ofVolume((view, { body }) => {
  const plan = planSpecChange(view, wantedSpec(view.volume, PatchVolumeBody.schema.parse(body)));
  const going = new Set(plan.removes.map(({ replicaId }) => replicaId));
  const removed = view.replicas.filter(({ id }) => going.has(id));
  return {
    copies: [
      ...removed.map((replica) => effectOn(view, replica, 'removed')),
      ...Array.from({ length: plan.adds }, () => builtCopy(view.volume)),
    ],
    notes: [plan.sentence],
  };
});
