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
      .describe('Who made the request.'),
    address: z.string().describe('Where it came from; empty: not known.'),
    action: z.string().describe('What was asked for: the method and the route, or the GraphQL mutation.'),
    target: z
      .object({
        kind: z.string().describe('Kind of the object, such as `volume`.'),
        id: z.string().describe('Id of the object.'),
      })
      .describe('The object that it is about: the innermost one in the address.'),
    result: z
      .enum(['done', 'refused', 'dry'])
      .describe('`refused`: nothing was changed. `dry`: a dry run, which changes nothing.'),
    reason: z.string().describe('Code that it was refused with; empty: it was done.'),
    before: fields.describe(
      'Fields of the target that were changed, as they were, without secrets; null: none.',
    ),
    after: fields.describe('The same fields as they are since; null: none.'),
    requestId: z.string().describe("The request's id, as in its answer's header `X-Request-Id`."),
    traceId: z.string().describe('The trace that the request belongs to (`traceparent`); empty: none.'),
    detail: z
      .record(z.string(), z.unknown())
      .describe('The ids in the address by parameter, the id of the token, and of what was created.'),
    at: time.describe('When it was.'),
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
      .describe('Begins after this place in the chain; left out: at its beginning.'),
    expected: z
      .object({
        sequence: z.int().min(1).describe('Place in the chain.'),
        hash: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .describe('The hash that was there.'),
      })
      .optional()
      .describe('A place that was written down earlier: a chain that was made anew does not have it.'),
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
  hash: z.string().describe('The hash there; empty before the first entry.'),
});

export class AuditVerificationDto extends dto(
  z
    .object({
      intact: z.boolean().describe('True when all that was checked holds.'),
      checked: z.int().describe('Entries that were checked.'),
      from: place.describe('Where the check began. Not the beginning, when older entries were pruned.'),
      through: place.describe(
        'The last place that holds: to be written down, and named as `expected` later.',
      ),
      broken: z
        .object({
          sequence: z.int().describe('Place of the first entry that does not hold.'),
          entryId: z.int().nullable().describe('Number of the entry; null: not known.'),
          why: z
            .enum(WHY)
            .describe(
              '`entry-unlinked`: it was kept out of the chain; `other-head`: the expected hash is not there.',
            ),
        })
        .nullable()
        .describe('The first entry that does not hold; null: there is none.'),
      nextAfter: z
        .int()
        .nullable()
        .describe('More is to be checked: ask again with this `after`; null: all is.'),
      unsealed: z.int().describe('Entries of the last seconds, which are not in the chain yet.'),
    })
    .meta({ id: 'AuditVerification' }),
) {}
