import type { QuotaRow } from '@holdfast/database/queries/quotas.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { version } from '../../http/schemas.js';

const limit = z.int().min(0).nullable().default(null);

const limits = {
  provisionedBytes: limit.describe('Total size of all volumes, in bytes; null: no limit.'),
  physicalBytes: limit.describe('Total size of all desired copies, placed or not, in bytes; null: no limit.'),
  volumes: limit.describe('Number of volumes; null: no limit.'),
  snapshots: limit.describe("Number of users' and recurring snapshots; null: no limit."),
  runningRebuilds: limit.describe(
    'Number of concurrent rebuilds in all clusters; further ones wait. Null: no limit of its own.',
  ),
  requestsPerMinute: limit.describe(
    'Requests per minute over all API processes; for a project, those of tokens with it as default. Null: no limit.',
  ),
};

export class PutQuotaBody extends dto(z.strictObject(limits)) {}

const used = z.int().min(0);

export const quotaSchema = z
  .object({
    limits: z.object(limits).describe('Upper limits.'),
    used: z
      .object({
        provisionedBytes: used.describe('Total size of all volumes, in bytes; pending expansions included.'),
        physicalBytes: used.describe('Total size of all desired copies, in bytes.'),
        volumes: used.describe('Number of volumes, those being deleted included.'),
        snapshots: used.describe("Number of users' and recurring snapshots."),
        runningRebuilds: used.describe('Number of running rebuilds, paused ones included.'),
      })
      .describe('Present use; may exceed a limit that was lowered.'),
    version,
  })
  .meta({ id: 'Quota' });

export class QuotaDto extends dto(quotaSchema) {}

export function quotaView({ limits, used, version }: QuotaRow): z.infer<typeof quotaSchema> {
  return { limits, used, version };
}
