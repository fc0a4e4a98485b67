import type { VolumeView } from '@holdfast/control/ports/store.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import { nodeById, nodeName } from '@holdfast/core/model/volume-facts.js';
import { salvageOf, surveyOf } from '@holdfast/core/model/volume-lifecycle.js';
import {
  adviseSalvage,
  type CopyAdvice,
  decideSalvage,
  salvageRisk,
} from '@holdfast/core/policy/decide-salvage.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, id, isoOrNull, time, uuid } from '../../http/schemas.js';

const record = z.object({
  epoch: z.int().describe('Number of the attachment under which it was written; grows with each attach.'),
  dataGeneration: z.int().describe('Grows with each change of the current copies within an epoch.'),
});

export const salvageAdviceSchema = z
  .object({
    volumeId: uuid.describe('The volume in question.'),
    isPossible: z.boolean().describe('True: it waits for a decision, and the advised copies would do.'),
    reason: z.string().nullable().describe('Why it is not possible; null: it is.'),
    cures: z.array(z.string()).describe('What would help instead; empty when it is possible.'),
    risk: z.string().nullable().describe('What is lost with the advised copies; null: it is not possible.'),
    requestedAt: time
      .nullable()
      .describe(
        'When the salvage was asked for that has been neither done nor refused yet; null: there is none.',
      ),
    surveyedAt: time
      .nullable()
      .describe('When the copies were last asked and said something new; null: they were not.'),
    highest: record
      .nullable()
      .describe('The highest record that is known, without what one node alone says; null: there is none.'),
    copies: z
      .array(
        z.object({
          replicaId: uuid.describe('The copy.'),
          nodeId: uuid.nullable().describe('Its node; null: it has no place.'),
          nodeName: z.string().describe("Its node's name."),
          verdict: z
            .enum(['usable', 'stale', 'unfilled', 'missing', 'unasked'])
            .describe(
              'Only usable ones may be named: stale ones are known to miss writes, or say alone, on their node, that the others do. ' +
                '`missing`: it was asked and does not answer; `unasked`: no attach that waits for copies has asked any.',
            ),
          isAdvised: z.boolean().describe('True: it is one of those to go on with.'),
          record: record
            .nullable()
            .describe('The record it stores; null: it did not answer, or never became a member.'),
          isUnequal: z.boolean().describe('True: it may hold writes of its last moments in part.'),
          writtenBytes: bytes.describe('Bytes of it that hold data, as last heard.'),
          lastHeardAt: time.nullable().describe('When the agent of its node was last heard; null: never.'),
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
export class AcceptBody extends dto(
  z.strictObject({
    replicaIds: z
      .array(id<ReplicaId>())
      .min(1)
      .max(64)
      .describe('The copies that are right, all with the same checksum; the others are given up.'),
  }),
) {}
export class SalvageAdviceDto extends dto(salvageAdviceSchema) {}

export function salvageAdviceView(view: VolumeView): SalvageAdviceView {
  const { volume, replicas } = view;
  const ids = replicas.map((replica) => replica.id);
  const survey = surveyOf(volume);
  const advice = adviseSalvage({ ...volume, survey }, ids);
  const decision = decideSalvage({ ...volume, survey }, ids, []);
  const isPossible = decision.kind === 'allow';
  return {
    volumeId: volume.id,
    isPossible,
    reason: decision.kind === 'refuse' ? decision.why : null,
    cures: decision.kind === 'refuse' ? [...decision.cures] : [],
    risk: isPossible && survey !== undefined ? salvageRisk(advice, advice.best, survey) : null,
    requestedAt: isoOrNull(salvageOf(volume)?.requestedAt),
    surveyedAt: isoOrNull(survey?.takenAt),
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
