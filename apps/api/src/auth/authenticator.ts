import { StorageFault } from '@holdfast/core/model/faults.js';
import type { TokenId } from '@holdfast/core/model/ids.js';
import { systemClock } from '@holdfast/database/clock-and-random.js';
import { findToken, noteTokenUse, type TokenHolder } from '@holdfast/database/queries/tokens.js';
import { type Scope, transaction } from '@holdfast/database/sql/scope.js';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Databases } from '../platform/databases.js';
import { SharedRead } from '../platform/shared-read.js';
import { Tenant } from '../platform/tenant.js';
import type { Actor, AgentActor, UserActor } from './actor.js';
import { type Action, isAllowed, leastRole, weakerRole } from './permissions.js';

export const SESSION_COOKIE = 'holdfast_session';

/** Longer than any secret we give out: the hash of a megabyte is work for nothing. */
const SECRET_LENGTH_MAX = 512;
/** Finer would be a write for every request. */
const NOTE_INTERVAL_MS = 60_000;
/** Forgetting them all costs one write each, so that the map needs no order. */
const NOTED_TOKENS_MAX = 10_000;
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Authenticates a request's token, and checks the caller's role. */
@Injectable()
export class Authenticator {
  private readonly lastNotedMs = new Map<TokenId, number>();
  private readonly lookups = new SharedRead<TokenHolder | undefined>();

  constructor(private readonly databases: Databases) {}

  /** @throws StorageFault `auth.missing`, `auth.invalid`, `auth.forbidden` */
  async requireAgent(request: FastifyRequest): Promise<AgentActor> {
    const actor = await this.authenticate(request);
    if (actor.kind !== 'agent') throw forbidden("only an agent's token can be used here");
    return actor;
  }

  /** @throws StorageFault `auth.missing`, `auth.invalid`, `auth.forbidden` */
  async requireUser(request: FastifyRequest): Promise<Tenant> {
    const actor = await this.authenticate(request);
    if (actor.kind !== 'user') throw forbidden("an agent's token can't be used here");
    const scope = this.databases.organization(actor.organizationId);
    await this.noteUse(scope, actor.tokenId);
    return new Tenant(actor, scope, {
      requestId: request.id,
      action: `${request.method} ${request.routeOptions.url ?? request.url}`,
      parameters: parametersOf(request),
      get gone() {
        return request.callerGone?.() ?? new AbortController().signal;
      },
      // Read late: the idempotency interceptor sets it after the guard has run.
      get resourceId() {
        return request.resourceId;
      },
    });
  }

  /** Writes down that a token is in use, once in a while: users want to see which ones are, not when to the second. */
  private async noteUse(scope: Scope, tokenId: TokenId): Promise<void> {
    const now = systemClock.now();
    if (now.getTime() - (this.lastNotedMs.get(tokenId) ?? 0) < NOTE_INTERVAL_MS) return;
    if (this.lastNotedMs.size >= NOTED_TOKENS_MAX) this.lastNotedMs.clear();
    this.lastNotedMs.set(tokenId, now.getTime());
    await transaction(scope, (sql) => noteTokenUse(sql, tokenId, now));
  }

  private async authenticate(request: FastifyRequest): Promise<Actor> {
    const secret = secretOf(request);
    if (secret === undefined) {
      throw new StorageFault('auth.missing', { publicMessage: 'the request has no token' });
    }
    const holder =
      secret.length > SECRET_LENGTH_MAX
        ? undefined
        : await this.lookups.ask(secret, () => findToken(this.databases.signIn, secret));
    const actor = holder === undefined ? undefined : actorOf(holder);
    if (actor === undefined) {
      throw new StorageFault('auth.invalid', { publicMessage: 'the token is unknown, expired or revoked' });
    }
    return actor;
  }
}

/** @throws StorageFault `auth.forbidden` that names the role it takes */
export function assertAllowed({ actor }: Tenant, action: Action): void {
  if (isAllowed(actor.role, action)) return;
  throw forbidden(`this needs the role ${leastRole(action)}; yours is ${actor.role}`);
}

/** From the header, else from the session cookie; a cookie must come from our own pages when something is changed. */
function secretOf(request: FastifyRequest): string | undefined {
  const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const cookie = request.cookies[SESSION_COOKIE];
  if (cookie === undefined) return undefined;
  const site = request.headers['sec-fetch-site'];
  if (!SAFE_METHODS.has(request.method) && (site === 'cross-site' || site === 'same-site')) {
    throw forbidden('a session can be used from its own site only');
  }
  return cookie;
}

function actorOf(holder: TokenHolder): Actor | undefined {
  const { token_id: tokenId, organization_id: organizationId } = holder;
  if (holder.kind === 'agent') {
    if (holder.cluster_id === null) return undefined;
    return { kind: 'agent', tokenId, organizationId, clusterId: holder.cluster_id };
  }
  if (holder.user_id === null || holder.member_role === null || holder.token_role === 'agent')
    return undefined;
  const user: UserActor = {
    kind: 'user',
    tokenId,
    tokenKind: holder.kind,
    organizationId,
    userId: holder.user_id,
    role: weakerRole(holder.token_role, holder.member_role),
    projectId: holder.project_id ?? undefined,
  };
  return user;
}

function parametersOf(request: FastifyRequest): Record<string, string> {
  const { params } = request;
  return typeof params === 'object' && params !== null
    ? Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]))
    : {};
}

function forbidden(publicMessage: string): StorageFault {
  return new StorageFault('auth.forbidden', { publicMessage });
}
