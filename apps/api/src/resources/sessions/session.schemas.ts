import { ACTIONS, ORGANIZATION_ROLES } from '@holdfast/access/permissions.js';
import type { ClusterId, OrganizationId, ProjectId, TokenId } from '@holdfast/core/model/ids.js';
import { isAddressRange } from '@holdfast/identity/address-ranges.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { id, pageOf, time, uuid } from '../../http/schemas.js';

/** Clusters, projects or ranges that one token may name: it is checked with every request. */
const LIMITS_MAX = 32;
/** Without a second factor (OWASP ASVS 5, 6.2.1 asks for 8 and recommends 15). */
const PASSWORD_CHARS_MIN = 12;

export const newPassword = z
  .string()
  .min(PASSWORD_CHARS_MIN)
  .max(1_000)
  .describe('New password; a long sentence is better than a word with special characters.');

export class SignInBody extends dto(
  z.strictObject({
    email: z.string().min(1).max(320).describe('E-mail address of the user.'),
    password: z.string().min(1).max(1_000).describe('In plain text; only its hash is stored.'),
    organizationId: id<OrganizationId>()
      .optional()
      .describe('Id of the organization, for a user of several; left out: the one joined first.'),
  }),
) {}

export class SessionDto extends dto(
  z
    .object({
      token: z.string().describe('Secret for `Authorization: Bearer`; shown in this answer only.'),
      expiresAt: time.describe('Expiry of the session.'),
      userId: uuid.describe('Id of the user who signed in.'),
      organizationId: uuid.describe("Id of the session's organization."),
      role: z.enum(ORGANIZATION_ROLES).describe("The user's role in that organization."),
    })
    .meta({ id: 'Session' }),
) {}

export class WhoAmIDto extends dto(
  z
    .object({
      userId: uuid.describe('Id of the user of the token.'),
      email: z.string().describe("E-mail address for the user's sign-in."),
      name: z.string().describe("The user's name, for people."),
      organizationId: uuid.describe("Id of the token's organization."),
      organizationName: z.string().describe("The organization's name, for people."),
      role: z
        .enum(ORGANIZATION_ROLES)
        .describe("Effective role: the weaker of the token's own and its user's."),
      tokenId: uuid.describe('Id of the sent token or session.'),
    })
    .meta({ id: 'WhoAmI' }),
) {}

export const tokenSchema = z
  .object({
    id: uuid.describe('Id of the token; not its secret.'),
    userId: uuid.nullable().describe('Id of the member who owns it; null: none.'),
    kind: z.enum(['session', 'api']).describe('`session`: created by signing in; `api`: for programs.'),
    name: z.string().describe('Name given at its creation.'),
    role: z
      .enum(ORGANIZATION_ROLES)
      .describe(
        "Maximum role; a user's token never allows more than the user's own roles. For a session: the user's role at sign-in, which is no limit.",
      ),
    projectId: uuid.nullable().describe('Default project of new volumes; null: requests have to name one.'),
    readOnly: z.boolean().describe('True: it may only read, regardless of its role.'),
    actions: z.array(z.string()).nullable().describe('Allowed actions; null: all of its role.'),
    clusterIds: z.array(uuid).nullable().describe('Ids of its clusters; null: all of the organization.'),
    projectIds: z.array(uuid).nullable().describe('Ids of its projects; null: all of the organization.'),
    addressRanges: z
      .array(z.string())
      .nullable()
      .describe('Allowed source addresses and networks; null: all.'),
    parentId: uuid
      .nullable()
      .describe('Id of the token that created it, with which it ends; null: created by a session.'),
    madeFrom: z.string().describe("Address and program of a session's sign-in; otherwise empty."),
    expiresAt: time.nullable().describe('Expiry; null: never.'),
    lastUsedAt: time.nullable().describe('Time of its last use, to about a minute; null: never.'),
    createdAt: time.describe('Time of its creation.'),
  })
  .meta({ id: 'Token' });

export class CreateTokenBody extends dto(
  z.strictObject({
    name: z.string().min(1).max(128).describe('Purpose of the token; need not be unique.'),
    role: z
      .enum(ORGANIZATION_ROLES)
      .optional()
      .describe(
        'Role of the token: at most, and by default, your strongest in the organization or a project.',
      ),
    projectId: id<ProjectId>().optional().describe('Default project of new volumes.'),
    readOnly: z.boolean().default(false).describe('True: it may only read.'),
    actions: z
      .array(z.enum(ACTIONS))
      .min(1)
      .max(ACTIONS.length)
      .optional()
      .describe('Allowed actions; left out: all of its role.'),
    clusterIds: z
      .array(id<ClusterId>())
      .min(1)
      .max(LIMITS_MAX)
      .optional()
      .describe('Ids of its clusters; left out: all.'),
    projectIds: z
      .array(id<ProjectId>())
      .min(1)
      .max(LIMITS_MAX)
      .optional()
      .describe('Ids of the projects of its volumes; left out: all.'),
    addressRanges: z
      .array(z.string().max(64).refine(isAddressRange, 'must be an address, or a network such as 10.0.0.0/8'))
      .min(1)
      .max(LIMITS_MAX)
      .optional()
      .describe('Allowed source addresses and networks; left out: all.'),
    expiresAt: time
      .optional()
      .describe("Expiry; left out: after this server's maximum lifetime, or with its parent."),
  }),
) {}

export class ChangePasswordBody extends dto(
  z.strictObject({
    currentPassword: z.string().min(1).max(1_000).describe('The present password.'),
    newPassword,
  }),
) {}

export class TokenPath extends dto(z.object({ tokenId: id<TokenId>().describe('Id of the token.') })) {}
export class TokenDto extends dto(tokenSchema) {}
export class NewTokenDto extends dto(
  tokenSchema
    .extend({
      token: z.string().describe('Secret for `Authorization: Bearer`; shown in this answer only.'),
    })
    .meta({ id: 'NewToken' }),
) {}
export class TokenPage extends dto(pageOf(tokenSchema, 'TokenList')) {}
