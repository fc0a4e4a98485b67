import type { ClusterId, ProjectId, TokenId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../platform/dto.js';
import { id, pageOf, time, uuid } from '../platform/schemas.js';
import { ROLES } from './permissions.js';

export class SignInBody extends dto(
  z.strictObject({ email: z.string().min(1).max(320), password: z.string().min(1).max(1_000) }),
) {}

export class SessionDto extends dto(
  z
    .object({
      token: z.string().describe('Shown here only.'),
      expiresAt: time,
      userId: uuid,
      organizationId: uuid,
      role: z.enum(ROLES),
    })
    .meta({ id: 'Session' }),
) {}

export class WhoAmIDto extends dto(
  z
    .object({
      userId: uuid,
      email: z.string(),
      name: z.string(),
      organizationId: uuid,
      organizationName: z.string(),
      role: z.enum(ROLES),
      tokenId: uuid,
    })
    .meta({ id: 'WhoAmI' }),
) {}

export const tokenSchema = z
  .object({
    id: uuid,
    kind: z.enum(['session', 'api', 'agent']),
    name: z.string(),
    role: z.enum([...ROLES, 'agent']),
    clusterId: uuid.nullable(),
    projectId: uuid.nullable(),
    expiresAt: time.nullable(),
    lastUsedAt: time.nullable(),
    createdAt: time,
  })
  .meta({ id: 'Token' });

export class CreateTokenBody extends dto(
  z.strictObject({
    name: z.string().min(1).max(128),
    role: z.enum(ROLES).optional().describe('At most your own, which is the default.'),
    projectId: id<ProjectId>().optional().describe('Where volumes go that are created without a project.'),
    agentOfClusterId: id<ClusterId>().optional().describe("Makes a token for this cluster's agents instead."),
    expiresAt: time.optional(),
  }),
) {}

export class TokenPath extends dto(z.object({ tokenId: id<TokenId>() })) {}
export class TokenDto extends dto(tokenSchema) {}
export class NewTokenDto extends dto(
  tokenSchema.extend({ token: z.string().describe('Shown here only.') }).meta({ id: 'NewToken' }),
) {}
export class TokenPage extends dto(pageOf(tokenSchema, 'TokenList')) {}
