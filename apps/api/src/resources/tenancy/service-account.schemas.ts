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
    role: role.describe('What it may do in the organization; its tokens never allow more.'),
    isDisabled: z.boolean().describe('True: its tokens let no one in until it is enabled again.'),
    disabledAt: time.nullable().describe('When it was disabled; null: it is not.'),
    tokens: z.int().describe('How many tokens it has.'),
    lastUsedAt: time.nullable().describe('When one of them was last used, to about a minute; null: never.'),
    version,
    createdAt: time.describe('When it was created.'),
  })
  .meta({ id: 'ServiceAccount' });

export class ServiceAccountPath extends dto(
  z.object({ serviceAccountId: id<UserId>().describe('Id of the service account.') }),
) {}
export class ServiceAccountDto extends dto(serviceAccountSchema) {}
export class ServiceAccountPage extends dto(pageOf(serviceAccountSchema, 'ServiceAccountList')) {}
export class CreateServiceAccountBody extends dto(
  z.strictObject({
    name: name.describe('Unique among the service accounts of the organization; spaces around it go.'),
    role: role.describe('What it is to be in the organization; not `owner`.'),
  }),
) {}
export class PatchServiceAccountBody extends dto(
  z.strictObject({
    name: name.optional().describe('Another name; left out: as it is.'),
    role: role.optional().describe('Another role, not `owner`; left out: as it is.'),
    isDisabled: z
      .boolean()
      .optional()
      .describe('True: its tokens stop working at once. False: they work again. Left out: as it is.'),
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
