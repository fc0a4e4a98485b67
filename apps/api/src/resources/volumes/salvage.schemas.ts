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
    volumeId: uuid.describe('Id of the volume.'),
    isPossible: z.boolean().describe('True: it waits for a decision, and the advised copies suffice.'),
    reason: z.string().nullable().describe('Reason why it is not possible; null: it is possible.'),
    cures: z.array(z.string()).describe('Other remedies; empty: it is possible.'),
    risk: z.string().nullable().describe('Losses with the advised copies; null: it is not possible.'),
    requestedAt: time
      .nullable()
      .describe('Time of the request for a pending salvage; null: none is pending.'),
    surveyedAt: time
      .nullable()
      .describe('Time of the last query of the copies with a new result; null: never.'),
    highest: record
      .nullable()
      .describe('The highest known record, not counting claims of a single node; null: none.'),
    copies: z
      .array(
        z.object({
          replicaId: uuid.describe('The copy.'),
          nodeId: uuid.nullable().describe('Id of its node; null: it has no place.'),
          nodeName: z.string().describe("Its node's name."),
          verdict: z
            .enum(['usable', 'stale', 'unfilled', 'missing', 'unasked'])
            .describe(
              'Only usable copies may be named. `stale`: it is known to miss writes, or is alone, on its node, to claim that the others do. ' +
                '`missing`: it was queried and does not answer; `unasked`: no attach that waits for copies has queried any.',
            ),
          isAdvised: z.boolean().describe('True: it is advised for continuing.'),
          record: record
            .nullable()
            .describe('Its stored record; null: it did not answer, or never became a member.'),
          isUnequal: z.boolean().describe('True: it may hold only part of its last writes.'),
          writtenBytes: bytes.describe('Bytes of it that hold data, as last reported.'),
          lastHeardAt: time
            .nullable()
            .describe("Time of the last heartbeat of its node's agent; null: never."),
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
      .describe('Ids of the copies to continue with; left out: the advised ones.'),
  }),
) {}
export class AcceptBody extends dto(
  z.strictObject({
    replicaIds: z
      .array(id<ReplicaId>())
      .min(1)
      .max(64)
      .describe('Ids of the correct copies, all with the same checksum; the others are given up.'),
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
