import { decideRotation } from '@holdfast/access/decide-rotation.js';
import { isAllowed, type OrganizationRole, strongestRole, weakerRole } from '@holdfast/access/permissions.js';
import { hasToAct } from '@holdfast/control/use-cases/use-case.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ProjectId, type TokenId, type UserId } from '@holdfast/core/model/ids.js';
import { findMember } from '@holdfast/database/queries/members.js';
import { findProject } from '@holdfast/database/queries/tenancy.js';
import {
  createToken,
  deleteToken,
  findTokenById,
  holdToken,
  isMadeWith,
  listTokens,
  type NewToken,
  replaceTokenSecret,
  type TokenOwner,
  type TokenRow,
} from '@holdfast/database/queries/tokens.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { Body, Controller, Delete, Get, Inject, Param, Post, Query } from '@nestjs/common';
import type { z } from 'zod';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { assertNoFreer, limitsOf, limitsWithin } from '../../access/token-limits.js';
import { newTokenSecret } from '../../access/token-secret.js';
import type { Config } from '../../config/config.js';
import { isoOrNull, ListQuery, pageView } from '../../http/schemas.js';
import { CONFIG } from '../../http/tokens.js';
import { requireUsableCluster } from '../clusters/require-cluster.js';
import { endedMeanwhile } from './open-session.js';
import {
  CreateTokenBody,
  NewTokenDto,
  TokenDto,
  TokenPage,
  TokenPath,
  type tokenSchema,
} from './session.schemas.js';

const DAY_MS = 24 * 3_600_000;

type TokenView = z.infer<typeof tokenSchema>;

@Controller('api/v1/tokens')
export class TokensController {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  @Get()
  @Route({
    access: 'token:own',
    summary: "List tokens: the caller's own, or for admins all",
    answer: TokenPage,
  })
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
    answersSecret: true,
    refuses: ['cluster.not_found', 'project.not_found', 'token.not_found', 'idempotency.secret_not_kept'],
  })
  async create(@CurrentTenant() tenant: Tenant, @Body() body: CreateTokenBody) {
    const { userId } = tenant.actor;
    const token = newToken(tenant, body, { userId, daysMax: this.config.tokenDaysMax });
    return tenant.write((sql) => makeToken(sql, token, tenant));
  }

  @Get(':tokenId')
  @Route({ access: 'token:own', summary: 'Read a token', answer: TokenDto, refuses: ['token.not_found'] })
  async get(@CurrentTenant() tenant: Tenant, @Param() { tokenId }: TokenPath): Promise<TokenView> {
    const found = await tenant.read((sql) => findTokenById(sql, ownerFor(tenant), tokenId));
    if (found === undefined) throw tokenNotFound(tokenId);
    return tokenView(found);
  }

  @Post(':tokenId/rotate')
  @Route({
    access: 'token:own',
    summary:
      "Rotate the secret of a token: the caller's own, or for admins of a service account; the old one stops working at once",
    answer: NewTokenDto,
    answersSecret: true,
    refuses: ['token.not_found', 'idempotency.secret_not_kept'],
  })
  async rotate(@CurrentTenant() tenant: Tenant, @Param() { tokenId }: TokenPath) {
    const owner = ownerFor(tenant);
    const rotated = await tenant.write(async (sql) => {
      const found = await findTokenById(sql, owner, tokenId);
      if (found === undefined || found.kind === 'session') return undefined;
      await assertMayRotate(sql, tenant, found);
      const secret = newTokenSecret(found.kind);
      await replaceTokenSecret(sql, owner, tokenId, secret);
      return { ...tokenView(found), token: secret };
    });
    if (rotated === undefined) throw tokenNotFound(tokenId);
    return rotated;
  }

  @Delete(':tokenId')
  @Route({ access: 'token:own', summary: 'Revoke a token', status: 204, refuses: ['token.not_found'] })
  async delete(@CurrentTenant() tenant: Tenant, @Param() { tokenId }: TokenPath): Promise<void> {
    const found = await tenant.write((sql) => deleteToken(sql, ownerFor(tenant), tokenId));
    if (!found) throw tokenNotFound(tokenId);
  }
}

/** Admins see the tokens of all users; other users their own; a token limited to a part of the organization only those created with it. */
export function ownerFor(tenant: Tenant): TokenOwner {
  const isOfAdmin = seesAll(tenant) && isAllowed(tenant.actor.role, 'cluster:write');
  return isOfAdmin ? { userId: undefined } : ownTokensFor(tenant);
}

/**
 * The user's own tokens. A token limited to a part of the organization does not see those without that limit, so that it can not end tokens
 * with more rights.
 */
export function ownTokensFor(tenant: Tenant): TokenOwner {
  const { userId, tokenId } = tenant.actor;
  return seesAll(tenant) ? { userId } : { userId, madeWith: tokenId };
}

/** The token is for the whole organization. */
function seesAll({ actor: { limits } }: Tenant): boolean {
  return limits.clusterIds === undefined && limits.projectIds === undefined;
}

type ForMember = {
  /** Owner of the token. */
  readonly userId: UserId;
  readonly daysMax: number;
};

/** A new token of the caller, with its secret. It allows no more than the caller's own token. */
export function newToken(tenant: Tenant, body: CreateTokenBody, { userId, daysMax }: ForMember): NewToken {
  const { organizationId, role, projectRoles, limits, tokenId, tokenKind } = tenant.actor;
  const common = {
    id: asId<TokenId>(tenant.newId()),
    organizationId,
    name: body.name,
    expiresAt: endOf(tenant, body.expiresAt, daysMax),
    // Tokens created by a session outlive it, as intended.
    parentId: tokenKind === 'session' ? undefined : tokenId,
    ...limitsWithin(limits, body),
    madeFrom: '',
    now: tenant.now,
  };
  const strongest = strongestRole(role, projectRoles);
  const wanted = body.role ?? strongest;
  requireNotStronger(wanted, strongest);
  return {
    ...common,
    kind: 'api',
    secret: newTokenSecret('api'),
    role: wanted,
    userId,
    projectId: body.projectId,
  };
}

/**
 * Stores a token, and answers with its secret.
 *
 * @throws StorageFault `auth.invalid` when the caller's own token ends concurrently: the new one would outlive it
 */
export async function makeToken(sql: Sql, token: NewToken, { actor }: Tenant) {
  for (const clusterId of token.clusterIds ?? []) await requireUsableCluster(sql, clusterId);
  const projectIds = [token.projectId ?? [], token.projectIds ?? []].flat();
  for (const projectId of projectIds) await requireProject(sql, projectId);
  await createToken(sql, token);
  // After the new row, which locks its user: the same order as when tokens are ended, to avoid a deadlock.
  if (!(await holdToken(sql, actor.tokenId))) throw endedMeanwhile();
  const created = await findTokenById(sql, { userId: undefined }, token.id);
  if (created === undefined) throw tokenNotFound(token.id);
  return { ...tokenView(created), token: token.secret };
}

/** Expiry of a new token: as requested, at the latest with its parent or after the maximum lifetime. */
function endOf({ actor, now }: Tenant, wanted: string | undefined, daysMax: number): Date {
  requireFuture(wanted, now);
  const longest = new Date(now.getTime() + daysMax * DAY_MS);
  const isBound = actor.tokenKind === 'api' && actor.expiresAt !== undefined && actor.expiresAt < longest;
  const latest = isBound && actor.expiresAt !== undefined ? actor.expiresAt : longest;
  const end = wanted === undefined ? latest : new Date(wanted);
  if (end <= latest) return end;
  const why = isBound ? 'the token that makes it ends then' : `a token lives for ${daysMax} days at most`;
  throw new StorageFault('request.invalid', {
    publicMessage: `expiresAt must be at ${latest.toISOString()} or before: ${why}`,
    errors: [{ pointer: '/expiresAt', detail: `must be at ${latest.toISOString()} or before` }],
  });
}

/** A secret has its token's rights: a caller with fewer rights, or for a shorter time, must not get it. */
async function assertMayRotate(sql: Sql, { actor }: Tenant, token: TokenRow): Promise<void> {
  assertNoFreer(actor.limits, limitsOf(token));
  const { tokenKind, tokenId, expiresAt } = actor;
  const isOwn = token.user_id === actor.userId;
  hasToAct(
    decideRotation({
      byToken: tokenKind === 'session' ? undefined : { expiresAt },
      token: { expiresAt: token.expires_at ?? undefined, role: token.role },
      byRole: strongestRole(actor.role, actor.projectRoles),
      isAncestor: await isMadeWith(sql, tokenId, token.id),
      isOwn,
      isOfServiceAccount: !isOwn && (await isServiceAccount(sql, token.user_id)),
    }),
  );
}

async function isServiceAccount(sql: Sql, userId: UserId | null): Promise<boolean> {
  return userId !== null && (await findMember(sql, userId))?.isServiceAccount === true;
}

async function requireProject(sql: Sql, projectId: ProjectId): Promise<void> {
  if ((await findProject(sql, projectId)) !== undefined) return;
  throw new StorageFault('project.not_found', { publicMessage: `there is no project ${projectId}` });
}

export function tokenView(row: TokenRow): TokenView {
  return {
    id: row.id,
    userId: row.user_id,
    kind: row.kind,
    name: row.name,
    role: row.role,
    projectId: row.project_id,
    readOnly: row.read_only,
    actions: row.actions,
    clusterIds: row.cluster_ids,
    projectIds: row.project_ids,
    addressRanges: row.address_ranges,
    parentId: row.parent_id,
    madeFrom: row.made_from,
    expiresAt: isoOrNull(row.expires_at ?? undefined),
    lastUsedAt: isoOrNull(row.last_used_at ?? undefined),
    createdAt: row.created_at.toISOString(),
  };
}

function tokenNotFound(tokenId: TokenId): StorageFault {
  return new StorageFault('token.not_found', { publicMessage: `there is no token ${tokenId}` });
}

/** A user can not create a token with more rights than its own; silently creating a weaker one would surprise. */
function requireNotStronger(wanted: OrganizationRole, own: OrganizationRole): void {
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
