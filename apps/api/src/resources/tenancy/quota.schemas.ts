import type { QuotaRow } from '@holdfast/database/queries/quotas.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { version } from '../../http/schemas.js';

const limit = z.int().min(0).nullable().default(null);

const limits = {
  provisionedBytes: limit.describe('Bytes of all volumes as users see them; null: no limit.'),
  physicalBytes: limit.describe(
    'Bytes of all wanted copies: sizes times numbers of replicas, placed or not; null: no limit.',
  ),
  volumes: limit.describe('Number of volumes; null: no limit.'),
  snapshots: limit.describe("Number of users' and scheduled snapshots; null: no limit."),
  runningRebuilds: limit.describe(
    'Number of rebuilds that run at once, in all clusters; further ones wait. Null: no limit of its own.',
  ),
  requestsPerMinute: limit.describe(
    'Requests in a minute that all api processes together answer; of a project: of tokens whose volumes go there. Null: no limit.',
  ),
};

export class PutQuotaBody extends dto(z.strictObject(limits)) {}

const used = z.int().min(0);

export const quotaSchema = z
  .object({
    limits: z.object(limits).describe('The most that may be used.'),
    used: z
      .object({
        provisionedBytes: used.describe('Bytes of all volumes, those they grow to included.'),
        physicalBytes: used.describe('Bytes of all wanted copies.'),
        volumes: used.describe('Volumes that there are, those being deleted included.'),
        snapshots: used.describe('Snapshots of users and of their schedules.'),
        runningRebuilds: used.describe('Rebuilds that run, those that stand still included.'),
      })
      .describe('What is used now; more than a limit that was lowered since, perhaps.'),
    version,
  })
  .meta({ id: 'Quota' });

export class QuotaDto extends dto(quotaSchema) {}

export function quotaView({ limits, used, version }: QuotaRow): z.infer<typeof quotaSchema> {
  return { limits, used, version };
}
