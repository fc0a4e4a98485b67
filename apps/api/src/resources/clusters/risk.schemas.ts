import { type ClusterRisk, RISK_CAUSES } from '@holdfast/core/policy/cluster-risk.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { isoOrNull, time, uuid } from '../../http/schemas.js';

const count = z.int().min(0);

const countsSchema = z.object({
  notServed: count.describe('Volumes whose serving node does not answer: their clients wait.'),
  faulted: count.describe('Other volumes without a full copy that can be used.'),
  unknown: count.describe('Other volumes of whose copies nothing is known now.'),
  degraded: count.describe('Other volumes with fewer full copies than wanted.'),
});

const causeSchema = z
  .object({
    kind: z
      .enum(RISK_CAUSES)
      .describe(
        '`node`: its agent does not answer; `disk`: it can not be used; `placement`: copies have no place; `copies`: anything else.',
      ),
    subjectId: uuid.nullable().describe('Id of the node or disk; null where the cause is none.'),
    name: z
      .string()
      .nullable()
      .describe('Name of the node, or of node and disk; null where the cause is neither.'),
    since: time.nullable().describe('Since when it is so; null where that is not known.'),
    effects: countsSchema.describe('Volumes that it concerns. Each volume counts for one cause only.'),
    examples: z
      .array(
        z.object({
          id: uuid.describe('Id of the volume.'),
          name: z.string().describe('Name of the volume.'),
          robustness: z.enum(['degraded', 'faulted', 'unknown']).describe('How many full copies it has.'),
        }),
      )
      .describe('Up to five of them, the worst first.'),
  })
  .meta({ id: 'RiskCause' });

export const riskSchema = z
  .object({
    volumes: countsSchema
      .extend({
        total: count.describe('All volumes that the caller may see.'),
        healthy: count.describe('Volumes with all the full copies that are wanted.'),
        creating: count.describe('Volumes whose first copies are being made: nothing of them is missing.'),
      })
      .describe('Number of volumes, each in one place.'),
    verdict: z
      .enum(['safe', 'working', 'stuck'])
      .describe(
        '`safe`: every volume is healthy. `working`: work under way makes them so. `stuck`: for some volume no work is under way.',
      ),
    waits: z
      .object({
        user: count.describe('A user has to act.'),
        paused: count.describe('A user has paused the rebuild, or holds it.'),
        running: count.describe('Copies are made now.'),
        queued: count.describe('A rebuild waits for its turn.'),
        other: count.describe('A copy waits for a place, a return or a time.'),
      })
      .describe('What the volumes that are not healthy wait for.'),
    causes: z
      .array(causeSchema)
      .describe('Why, the worst first. A node that does not answer is told without effects too.'),
  })
  .meta({ id: 'ClusterRisk' });

export function riskView({ causes, waits, ...risk }: ClusterRisk): z.infer<typeof riskSchema> {
  return {
    ...risk,
    waits: { ...waits },
    causes: causes.map((cause) => ({
      ...cause,
      subjectId: cause.subjectId ?? null,
      name: cause.name ?? null,
      since: isoOrNull(cause.since),
      examples: cause.examples.map((volume) => ({ ...volume })),
    })),
  };
}

export class ClusterRiskDto extends dto(riskSchema) {}
