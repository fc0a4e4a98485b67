/** Plan of a change of a volume: which copies it would take away, how many it would add, and which would not match any more. */
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
    volumeId: uuid.describe('The volume in question.'),
    sentence: z.string().describe('What would become of its copies, in one plain sentence.'),
    removes: z.array(copy).describe('Copies that would go, in the order in which they would.'),
    adds: z.int().describe('Number of copies that would be made.'),
    unfit: z
      .array(copy)
      .describe('Copies that would stay, or move, although their place does not match the selectors.'),
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
