import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type TokenId } from '@holdfast/core/model/ids.js';
import type { MemberRole } from '@holdfast/database/queries/tenancy.js';
import { findProject } from '@holdfast/database/queries/tenancy.js';
import {
  createToken,
  deleteToken,
  findTokenById,
  listTokens,
  type NewToken,
  type TokenOwner,
  type TokenRow,
} from '@holdfast/database/queries/tokens.js';
import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import type { z } from 'zod';
import { requireCluster } from '../clusters/require-cluster.js';
import { CurrentTenant } from '../platform/request.js';
import { Route } from '../platform/route.decorator.js';
import { isoOrNull, ListQuery, pageView } from '../platform/schemas.js';
import type { Tenant } from '../platform/tenant.js';
import { isAllowed, weakerRole } from './permissions.js';
import {
  CreateTokenBody,
  NewTokenDto,
  TokenDto,
  TokenPage,
  TokenPath,
  type tokenSchema,
} from './session.schemas.js';
import { newTokenSecret } from './token-secret.js';

type TokenView = z.infer<typeof tokenSchema>;

@Controller('api/v1/tokens')
export class TokensController {
  @Get()
  @Route({ access: 'token:own', summary: "List tokens: one's own, or for admins all", answer: TokenPage })
  async list(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    const page = await tenant.read((sql) => listTokens(sql, ownerFor(tenant), query));
    return pageView(page, tokenView);
  }

  @Post()
  @Route({
    access: 'token:own',
    summary: 'Create a token',
    answer: NewTokenDto,
    status: 201,
    refuses: ['cluster.not_found', 'project.not_found', 'token.not_found'],
  })
  async create(@CurrentTenant() tenant: Tenant, @Body() body: CreateTokenBody) {
    const token = newToken(tenant, body);
    const created = await tenant.write(async (sql) => {
      if (token.clusterId !== undefined) await requireCluster(sql, token.clusterId);
      if (token.projectId !== undefined && (await findProject(sql, token.projectId)) === undefined) {
        throw new StorageFault('project.not_found', {
          publicMessage: `there is no project ${token.projectId}`,
        });
      }
      await createToken(sql, token);
      return findTokenById(sql, { userId: undefined }, token.id);
    });
    if (created === undefined) throw tokenNotFound(token.id);
    return { ...tokenView(created), token: token.secret };
  }

  @Get(':tokenId')
  @Route({ access: 'token:own', summary: 'Read a token', answer: TokenDto, refuses: ['token.not_found'] })
  async get(@CurrentTenant() tenant: Tenant, @Param() { tokenId }: TokenPath): Promise<TokenView> {
    const found = await tenant.read((sql) => findTokenById(sql, ownerFor(tenant), tokenId));
    if (found === undefined) throw tokenNotFound(tokenId);
    return tokenView(found);
  }

  @Delete(':tokenId')
  @Route({ access: 'token:own', summary: 'Revoke a token', status: 204, refuses: ['token.not_found'] })
  async delete(@CurrentTenant() tenant: Tenant, @Param() { tokenId }: TokenPath): Promise<void> {
    const found = await tenant.write((sql) => deleteToken(sql, ownerFor(tenant), tokenId));
    if (!found) throw tokenNotFound(tokenId);
  }
}

/** Admins see the tokens of all users and agents; other users their own. */
export function ownerFor({ actor }: Tenant): TokenOwner {
  return { userId: isAllowed(actor.role, 'cluster:write') ? undefined : actor.userId };
}

function newToken(tenant: Tenant, body: CreateTokenBody): NewToken {
  const { organizationId, userId, role } = tenant.actor;
  requireFuture(body.expiresAt, tenant.now);
  const common = {
    id: asId<TokenId>(tenant.newId()),
    organizationId,
    name: body.name,
    expiresAt: body.expiresAt === undefined ? undefined : new Date(body.expiresAt),
    now: tenant.now,
  };
  if (body.agentOfClusterId === undefined) {
    const secret = newTokenSecret('api');
    const wanted = body.role ?? role;
    requireNotStronger(wanted, role);
    return {
      ...common,
      kind: 'api',
      secret,
      role: wanted,
      userId,
      clusterId: undefined,
      projectId: body.projectId,
    };
  }
  if (!isAllowed(role, 'cluster:write')) {
    throw new StorageFault('auth.forbidden', {
      publicMessage: "tokens for agents are for the cluster's admins",
    });
  }
  const secret = newTokenSecret('agent');
  const clusterId = body.agentOfClusterId;
  return {
    ...common,
    kind: 'agent',
    secret,
    role: 'agent',
    userId: undefined,
    clusterId,
    projectId: undefined,
  };
}

export function tokenView(row: TokenRow): TokenView {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    role: row.role,
    clusterId: row.cluster_id,
    projectId: row.project_id,
    expiresAt: isoOrNull(row.expires_at ?? undefined),
    lastUsedAt: isoOrNull(row.last_used_at ?? undefined),
    createdAt: row.created_at.toISOString(),
  };
}

function tokenNotFound(tokenId: TokenId): StorageFault {
  return new StorageFault('token.not_found', { publicMessage: `there is no token ${tokenId}` });
}

/** A user can't make a token that may do more than the user; one that may do less than was asked for would surprise. */
function requireNotStronger(wanted: MemberRole, own: MemberRole): void {
  if (weakerRole(wanted, own) === wanted) return;
  throw new StorageFault('auth.forbidden', {
    publicMessage: `a token of role ${wanted} may do more than you, who are ${own}`,
    cures: [`ask for role ${own} or a weaker one`],
  });
}

function requireFuture(expiresAt: string | undefined, now: Date): void {
  if (expiresAt === undefined || Date.parse(expiresAt) > now.getTime()) return;
  throw new StorageFault('request.invalid', {
    publicMessage: 'the token would have expired already',
    errors: [{ pointer: '/expiresAt', detail: 'must be in the future' }],
  });
}
