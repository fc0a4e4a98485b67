import type { VolumeView } from '@holdfast/control/ports/store.js';
import { nodeById, nodeName } from '@holdfast/core/lifecycle/volume-facts.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import {
  adviseSalvage,
  type CopyAdvice,
  decideSalvage,
  salvageRisk,
} from '@holdfast/core/policy/decide-salvage.js';
import { z } from 'zod';
import { dto } from '../platform/dto.js';
import { bytes, id, isoOrNull, time, uuid } from '../platform/schemas.js';

const record = z.object({ epoch: z.int(), dataGeneration: z.int() });

export const salvageAdviceSchema = z
  .object({
    volumeId: uuid,
    isPossible: z.boolean(),
    reason: z.string().nullable().describe('Why it is not possible.'),
    cures: z.array(z.string()),
    risk: z.string().nullable().describe('What is lost with the advised copies.'),
    requestedAt: time.nullable().describe('It was asked for and has not been done or refused yet.'),
    surveyedAt: time.nullable().describe('When the copies were last asked and said something new.'),
    highest: record.nullable().describe('The highest record that anybody who answers knows.'),
    copies: z
      .array(
        z.object({
          replicaId: uuid,
          nodeId: uuid.nullable(),
          nodeName: z.string(),
          verdict: z
            .enum(['usable', 'stale', 'unfilled', 'missing'])
            .describe('Only usable ones may be named: stale ones are known to miss writes.'),
          isAdvised: z.boolean(),
          record: record.nullable(),
          isUnequal: z.boolean().describe('It may hold writes of its last moments in part.'),
          writtenBytes: bytes,
          lastHeardAt: time.nullable().describe('Of its node.'),
        }),
      )
      .describe('The best first.'),
  })
  .meta({ id: 'SalvageAdvice' });

export type SalvageAdviceView = z.infer<typeof salvageAdviceSchema>;

export class SalvageBody extends dto(
  z.strictObject({
    replicaIds: z
      .array(id<ReplicaId>())
      .min(1)
      .max(64)
      .optional()
      .describe('The copies to go on with; left out: those that are advised.'),
  }),
) {}
export class SalvageAdviceDto extends dto(salvageAdviceSchema) {}

export function salvageAdviceView(view: VolumeView): SalvageAdviceView {
  const { volume, replicas } = view;
  const ids = replicas.map((replica) => replica.id);
  const advice = adviseSalvage(volume, ids);
  const decision = decideSalvage(volume, ids, []);
  const isPossible = decision.kind === 'allow';
  return {
    volumeId: volume.id,
    isPossible,
    reason: decision.kind === 'refuse' ? decision.why : null,
    cures: decision.kind === 'refuse' ? [...decision.cures] : [],
    risk: isPossible && volume.survey !== undefined ? salvageRisk(advice, advice.best, volume.survey) : null,
    requestedAt: isoOrNull(volume.salvage?.requestedAt),
    surveyedAt: isoOrNull(volume.survey?.takenAt),
    highest: recordView(advice.highest),
    copies: advice.ranking.map((item) => copyView(view, item, advice.best)),
  };
}

function copyView(
  { replicas, fleet }: VolumeView,
  { replicaId, verdict, copy }: CopyAdvice,
  best: readonly ReplicaId[],
): SalvageAdviceView['copies'][number] {
  const replica = replicas.find((candidate) => candidate.id === replicaId);
  return {
    replicaId,
    nodeId: replica?.nodeId ?? null,
    nodeName: nodeName(fleet, replica?.nodeId),
    verdict,
    isAdvised: best.includes(replicaId),
    record: recordView(copy?.record),
    isUnequal: copy?.isClean === false,
    writtenBytes: copy?.writtenBytes ?? replica?.writtenBytes ?? 0,
    lastHeardAt: isoOrNull(nodeById(fleet, replica?.nodeId)?.lastHeartbeatAt),
  };
}

function recordView(found: CopyRecord | undefined): z.infer<typeof record> | null {
  return found === undefined ? null : { epoch: found.epoch, dataGeneration: found.dataGeneration };
}
