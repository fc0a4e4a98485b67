import { ORGANIZATION_ROLES } from '@holdfast/access/permissions.js';
import type { UserId } from '@holdfast/core/model/ids.js';
import type { ServiceAccountRow } from '@holdfast/database/queries/service-accounts.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { id, isoOrNull, pageOf, time, uuid, version } from '../../http/schemas.js';

const role = z.enum(ORGANIZATION_ROLES);
const name = z.string().trim().min(1).max(63);

export const serviceAccountSchema = z
  .object({
    id: uuid.describe('Id of the service account; also its user id as a member.'),
    name: z.string().describe('Unique among the service accounts of the organization.'),
    role: role.describe('Its role in the organization; its tokens never allow more.'),
    isDisabled: z.boolean().describe('True: its tokens are refused until it is enabled again.'),
    disabledAt: time.nullable().describe('Time at which it was disabled; null: it is enabled.'),
    tokens: z.int().describe('Number of its tokens.'),
    lastUsedAt: time
      .nullable()
      .describe('Time of the last use of one of them, to about a minute; null: never.'),
    version,
    createdAt: time.describe('Time of its creation.'),
  })
  .meta({ id: 'ServiceAccount' });

export class ServiceAccountPath extends dto(
  z.object({ serviceAccountId: id<UserId>().describe('Id of the service account.') }),
) {}
export class ServiceAccountDto extends dto(serviceAccountSchema) {}
export class ServiceAccountPage extends dto(pageOf(serviceAccountSchema, 'ServiceAccountList')) {}
export class CreateServiceAccountBody extends dto(
  z.strictObject({
    name: name.describe(
      'Unique among the service accounts of the organization; spaces around it are removed.',
    ),
    role: role.describe('Its role in the organization; not `owner`.'),
  }),
) {}
export class PatchServiceAccountBody extends dto(
  z.strictObject({
    name: name.optional().describe('New name; left out: unchanged.'),
    role: role.optional().describe('New role, not `owner`; left out: unchanged.'),
    isDisabled: z
      .boolean()
      .optional()
      .describe('True: its tokens are refused at once. False: they work again. Left out: unchanged.'),
  }),
) {}

export function serviceAccountView(row: ServiceAccountRow): z.infer<typeof serviceAccountSchema> {
  const { disabledAt, lastUsedAt, createdAt, ...rest } = row;
  return {
    id: rest.id,
    name: rest.name,
    role: rest.role,
    isDisabled: disabledAt !== null,
    disabledAt: isoOrNull(disabledAt ?? undefined),
    tokens: rest.tokens,
    lastUsedAt: isoOrNull(lastUsedAt ?? undefined),
    version: rest.version,
    createdAt: createdAt.toISOString(),
  };
}
