import { type ClusterRisk, RISK_CAUSES } from '@holdfast/core/policy/cluster-risk.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { isoOrNull, time, uuid } from '../../http/schemas.js';

const count = z.int().min(0);

const countsSchema = z.object({
  notServed: count.describe("Volumes whose engine's node is unreachable: their clients wait."),
  faulted: count.describe('Other volumes without a usable full copy.'),
  unknown: count.describe('Other volumes whose copies are all unreachable.'),
  degraded: count.describe('Other volumes with fewer full copies than desired.'),
});

const causeSchema = z
  .object({
    kind: z
      .enum(RISK_CAUSES)
      .describe(
        '`node`: unreachable; `disk`: unusable; `placement`: copies without a place; `copies`: any other cause.',
      ),
    subjectId: uuid.nullable().describe('Id of the node or disk; null for other causes.'),
    name: z.string().nullable().describe('Name of the node, or of node and disk; null for other causes.'),
    since: time.nullable().describe('Begin of the cause; null: unknown.'),
    effects: countsSchema.describe('Number of affected volumes. Each volume counts for one cause only.'),
    examples: z
      .array(
        z.object({
          id: uuid.describe('Id of the volume.'),
          name: z.string().describe('Name of the volume.'),
          robustness: z.enum(['degraded', 'faulted', 'unknown']).describe('Redundancy of the volume.'),
        }),
      )
      .describe('Up to five affected volumes, the worst first.'),
  })
  .meta({ id: 'RiskCause' });

export const riskSchema = z
  .object({
    volumes: countsSchema
      .extend({
        total: count.describe('Number of volumes that the caller may see.'),
        healthy: count.describe('Volumes with the desired number of full copies.'),
        creating: count.describe('Volumes whose first copies are being created.'),
      })
      .describe('Number of volumes; each counts once.'),
    verdict: z
      .enum(['safe', 'working', 'stuck'])
      .describe(
        '`safe`: every volume is healthy. `working`: work under way repairs all others. `stuck`: for some volume no work is under way.',
      ),
    waits: z
      .object({
        user: count.describe("Volumes that wait for a user's action."),
        paused: count.describe('Volumes whose rebuild a user has paused or holds.'),
        running: count.describe('Volumes with a running rebuild.'),
        queued: count.describe('Volumes whose rebuild waits for admission.'),
        other: count.describe("Volumes with a copy that waits for a place, a node's return or a time."),
      })
      .describe('Number of unhealthy volumes by what they wait for.'),
    causes: z
      .array(causeSchema)
      .describe('Causes, the worst first. An unreachable node is listed even without effects.'),
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
