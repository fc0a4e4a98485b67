import type { ClusterId, ProjectId, TokenId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../platform/dto.js';
import { id, pageOf, time, uuid } from '../platform/schemas.js';
import { ROLES } from './permissions.js';

export class SignInBody extends dto(
  z.strictObject({
    email: z.string().min(1).max(320).describe('E-mail address of the user.'),
    password: z.string().min(1).max(1_000).describe('In plain text; only its hash is stored.'),
  }),
) {}

export class SessionDto extends dto(
  z
    .object({
      token: z.string().describe('Secret for `Authorization: Bearer`; shown in this answer only.'),
      expiresAt: time.describe('When the session ends.'),
      userId: uuid.describe('Id of the user who signed in.'),
      organizationId: uuid.describe('Id of the organization that the session sees.'),
      role: z.enum(ROLES).describe("The user's role in that organization."),
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
      role: z.enum(ROLES).describe("What the token allows: the weaker of its own role and its user's."),
      tokenId: uuid.describe('Id of the token or session that was sent.'),
    })
    .meta({ id: 'WhoAmI' }),
) {}

export const tokenSchema = z
  .object({
    id: uuid.describe('Id of the token; not its secret.'),
    kind: z
      .enum(['session', 'api', 'agent'])
      .describe("`session`: made by signing in; `api`: for programs; `agent`: for a cluster's agents."),
    name: z.string().describe('What its maker called it.'),
    role: z
      .enum([...ROLES, 'agent'])
      .describe("The most it allows; a user's token never allows more than the user's own role."),
    clusterId: uuid.nullable().describe("The cluster whose agents it is for; null for users' tokens."),
    projectId: uuid
      .nullable()
      .describe('Project of volumes that are created without one; null: they have to name it.'),
    expiresAt: time.nullable().describe('When it stops working; null: never.'),
    lastUsedAt: time.nullable().describe('When it was last used, to about a minute; null: never.'),
    createdAt: time.describe('When it was created.'),
  })
  .meta({ id: 'Token' });

export class CreateTokenBody extends dto(
  z.strictObject({
    name: z.string().min(1).max(128).describe('What it is for; need not be unique.'),
    role: z.enum(ROLES).optional().describe('At most your own, which is the default.'),
    projectId: id<ProjectId>().optional().describe('Where volumes go that are created without a project.'),
    agentOfClusterId: id<ClusterId>().optional().describe("Makes a token for this cluster's agents instead."),
    expiresAt: time.optional().describe('When it stops working; left out: never.'),
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
