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
  .describe('As it is to be: a sentence is better than a word with signs in it.');

export class SignInBody extends dto(
  z.strictObject({
    email: z.string().min(1).max(320).describe('E-mail address of the user.'),
    password: z.string().min(1).max(1_000).describe('In plain text; only its hash is stored.'),
    organizationId: id<OrganizationId>()
      .optional()
      .describe('Of a user of several organizations; left out: the one joined first.'),
  }),
) {}

export class SessionDto extends dto(
  z
    .object({
      token: z.string().describe('Secret for `Authorization: Bearer`; shown in this answer only.'),
      expiresAt: time.describe('When the session ends.'),
      userId: uuid.describe('Id of the user who signed in.'),
      organizationId: uuid.describe('Id of the organization that the session sees.'),
      role: z.enum(ORGANIZATION_ROLES).describe("The user's role in that organization."),
    })
    .meta({ id: 'Session' }),
) {}

export class WhoAmIDto extends dto(
  z
    .object({
      userId: uuid.describe('Id of the user whose token was sent.'),
      email: z.string().describe('E-mail address that the user signs in with.'),
      name: z.string().describe("The user's name, for people."),
      organizationId: uuid.describe('Id of the organization that the token sees.'),
      organizationName: z.string().describe("The organization's name, for people."),
      role: z
        .enum(ORGANIZATION_ROLES)
        .describe("What the token allows: the weaker of its own role and its user's."),
      tokenId: uuid.describe('Id of the token or session that was sent.'),
    })
    .meta({ id: 'WhoAmI' }),
) {}

export const tokenSchema = z
  .object({
    id: uuid.describe('Id of the token; not its secret.'),
    userId: uuid.nullable().describe('The member whose token it is; null: of none.'),
    kind: z.enum(['session', 'api']).describe('`session`: made by signing in; `api`: for programs.'),
    name: z.string().describe('What its maker called it.'),
    role: z
      .enum(ORGANIZATION_ROLES)
      .describe(
        "The most it allows; a user's token never allows more than the user's own roles. Of a session: the user's role at sign-in, which does not limit it.",
      ),
    projectId: uuid
      .nullable()
      .describe('Project of volumes that are created without one; null: they have to name it.'),
    readOnly: z.boolean().describe('True: it changes nothing, whatever its role allows.'),
    actions: z
      .array(z.string())
      .nullable()
      .describe('What it is limited to; null: all that its role allows.'),
    clusterIds: z.array(uuid).nullable().describe('Clusters that it sees; null: all of the organization.'),
    projectIds: z.array(uuid).nullable().describe('Projects that it sees; null: all of the organization.'),
    addressRanges: z
      .array(z.string())
      .nullable()
      .describe('Addresses and networks that it can be used from; null: anywhere.'),
    parentId: uuid
      .nullable()
      .describe('The token that it was made with, and ends with; null: made by a session.'),
    madeFrom: z.string().describe('Of a session: address and program that signed in; else empty.'),
    expiresAt: time.nullable().describe('When it stops working; null: never.'),
    lastUsedAt: time.nullable().describe('When it was last used, to about a minute; null: never.'),
    createdAt: time.describe('When it was created.'),
  })
  .meta({ id: 'Token' });

export class CreateTokenBody extends dto(
  z.strictObject({
    name: z.string().min(1).max(128).describe('What it is for; need not be unique.'),
    role: z
      .enum(ORGANIZATION_ROLES)
      .optional()
      .describe('At most your strongest, in the organization or a project, which is the default.'),
    projectId: id<ProjectId>().optional().describe('Where volumes go that are created without a project.'),
    readOnly: z.boolean().default(false).describe('True: it is to change nothing.'),
    actions: z
      .array(z.enum(ACTIONS))
      .min(1)
      .max(ACTIONS.length)
      .optional()
      .describe('Limits it to these actions; left out: all that its role allows.'),
    clusterIds: z
      .array(id<ClusterId>())
      .min(1)
      .max(LIMITS_MAX)
      .optional()
      .describe('Limits it to these clusters; left out: all.'),
    projectIds: z
      .array(id<ProjectId>())
      .min(1)
      .max(LIMITS_MAX)
      .optional()
      .describe('Limits it to the volumes of these projects; left out: all.'),
    addressRanges: z
      .array(z.string().max(64).refine(isAddressRange, 'must be an address, or a network such as 10.0.0.0/8'))
      .min(1)
      .max(LIMITS_MAX)
      .optional()
      .describe('Addresses and networks that it can be used from; left out: anywhere.'),
    expiresAt: time
      .optional()
      .describe(
        'When it stops working; left out: after the longest life that this server gives, or with its parent.',
      ),
  }),
) {}

export class ChangePasswordBody extends dto(
  z.strictObject({
    currentPassword: z.string().min(1).max(1_000).describe('As it is until now.'),
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
