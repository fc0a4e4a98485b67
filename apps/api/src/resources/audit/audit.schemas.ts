import type { BrokenLink } from '@holdfast/database/audit/verify.js';
import { z } from 'zod';
import { exportQuery } from '../../access/export-lines.js';
import { dto } from '../../http/dto.js';
import { pageOf, time } from '../../http/schemas.js';

const fields = z.record(z.string(), z.unknown()).nullable();

export const auditEntrySchema = z
  .object({
    id: z.int().describe('Number of the entry; later ones have higher numbers.'),
    actor: z
      .object({
        kind: z.string().describe('Kind of caller and token, such as `user/session` or `user/api`.'),
        id: z.string().describe('Id of the user.'),
      })
      .describe('Sender of the request.'),
    address: z.string().describe('Source address; empty: unknown.'),
    action: z.string().describe('Method and route of the request, or the GraphQL mutation.'),
    target: z
      .object({
        kind: z.string().describe('Kind of the object, such as `volume`.'),
        id: z.string().describe('Id of the object.'),
      })
      .describe('Target of the request: the innermost object in the address.'),
    result: z
      .enum(['done', 'refused', 'dry'])
      .describe('`refused`: nothing was changed. `dry`: a dry run, which changes nothing.'),
    reason: z.string().describe('Code of the refusal; empty: it succeeded.'),
    before: fields.describe(
      'Changed fields of the target with their earlier values, without secrets; null: none.',
    ),
    after: fields.describe('The same fields with their new values; null: none.'),
    requestId: z.string().describe('Id of the request, as in the header `X-Request-Id` of its answer.'),
    traceId: z.string().describe('The trace that the request belongs to (`traceparent`); empty: none.'),
    detail: z
      .record(z.string(), z.unknown())
      .describe('Ids in the address by parameter, ids of the token and of the created object.'),
    at: time.describe('Time of the request.'),
    sequence: z.int().nullable().describe("Place in the organization's chain; null for the first seconds."),
    hash: z.string().nullable().describe('Hash of the chain up to this entry; null for the first seconds.'),
  })
  .meta({ id: 'AuditEntry' });

export class AuditPage extends dto(pageOf(auditEntrySchema, 'AuditList')) {}

export class AuditExportQuery extends dto(exportQuery('Entries')) {}

export class VerifyAuditBody extends dto(
  z.object({
    after: z
      .int()
      .min(0)
      .optional()
      .describe('Starts after this place in the chain; left out: at its beginning.'),
    expected: z
      .object({
        sequence: z.int().min(1).describe('Place in the chain.'),
        hash: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .describe('The hash at that place.'),
      })
      .optional()
      .describe('A place that was recorded earlier; a forged chain does not contain it.'),
  }),
) {}

const WHY = [
  'entry-missing',
  'entry-changed',
  'entry-unlinked',
  'link-missing',
  'other-head',
] as const satisfies readonly BrokenLink['why'][];

const place = z.object({
  sequence: z.int().describe('Place in the chain; 0: before its first entry.'),
  hash: z.string().describe('The hash at that place; empty before the first entry.'),
});

export class AuditVerificationDto extends dto(
  z
    .object({
      intact: z.boolean().describe('True: all checked entries hold.'),
      checked: z.int().describe('Number of checked entries.'),
      from: place.describe(
        'Start of the check; after the beginning of the chain if older entries were pruned.',
      ),
      through: place.describe('The last place that holds: record it, and pass it as `expected` later.'),
      broken: z
        .object({
          sequence: z.int().describe('Place of the first entry that does not hold.'),
          entryId: z.int().nullable().describe('Number of the entry; null: unknown.'),
          why: z
            .enum(WHY)
            .describe(
              '`entry-unlinked`: it is missing from the chain; `other-head`: the expected hash is not in the chain.',
            ),
        })
        .nullable()
        .describe('The first entry that does not hold; null: none.'),
      nextAfter: z
        .int()
        .nullable()
        .describe('`after` of the next request, for the rest of the chain; null: all is checked.'),
      unsealed: z.int().describe('Number of entries of the last seconds, which are not in the chain yet.'),
    })
    .meta({ id: 'AuditVerification' }),
) {}
