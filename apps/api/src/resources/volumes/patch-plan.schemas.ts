/** Plan of a change of a volume: copies to be removed, number to be added, and copies that would no longer match. */
import type { VolumeView } from '@holdfast/control/ports/store.js';
import { wantedSpec } from '@holdfast/control/use-cases/patch-volume.js';
import { type CopyOnPlan, planSpecChange } from '@holdfast/core/balance/plan-spec-change.js';
import type { VolumeSpecPatch } from '@holdfast/core/policy/volume-spec.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { uuid } from '../../http/schemas.js';

const copy = z.object({
  replicaId: uuid.describe('The copy.'),
  nodeName: z.string().nullable().describe('Name of its node; null: it has no place.'),
  diskName: z.string().nullable().describe('Name of its disk; null: it has no place.'),
  why: z.string().describe('The reason, for people.'),
});

export const patchPlanSchema = z
  .object({
    volumeId: uuid.describe('Id of the volume.'),
    sentence: z.string().describe('Effect on its copies, in one plain sentence.'),
    removes: z.array(copy).describe('Copies to be removed, in order.'),
    adds: z.int().describe('Number of copies to be added.'),
    unfit: z.array(copy).describe('Copies whose place does not match the selectors; they stay, or move.'),
  })
  .meta({ id: 'PatchPlan' });

export class PatchPlanDto extends dto(patchPlanSchema) {}
export type PatchPlanView = z.infer<typeof patchPlanSchema>;

/** @throws StorageFault as the change itself */
export function patchPlanView(view: VolumeView, patch: VolumeSpecPatch): PatchPlanView {
  const plan = planSpecChange(view, wantedSpec(view.volume, patch));
  return {
    volumeId: view.volume.id,
    sentence: plan.sentence,
    removes: plan.removes.map(copyView),
    adds: plan.adds,
    unfit: plan.unfit.map(copyView),
  };
}

function copyView({ replicaId, nodeName, diskName, why }: CopyOnPlan): z.infer<typeof copy> {
  return { replicaId, nodeName: nodeName ?? null, diskName: diskName ?? null, why };
}
