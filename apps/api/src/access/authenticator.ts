import { decideAccess } from '@holdfast/access/decide-access.js';
import { type Action, changesNothing } from '@holdfast/access/permissions.js';
import { faultOf } from '@holdfast/control/use-cases/use-case.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { TokenId } from '@holdfast/core/model/ids.js';
import { systemClock } from '@holdfast/database/clock-and-random.js';
import { findToken, noteTokenUse, type TokenHolder } from '@holdfast/database/queries/tokens.js';
import { type Scope, unsyncedTransaction } from '@holdfast/database/sql/scope.js';
import { traceparentOfRequest } from '@holdfast/tracing/fastify-spans.js';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.js';
import { Databases } from '../http/databases.js';
import { SharedRead } from '../http/shared-read.js';
import { CONFIG } from '../http/tokens.js';
import { traceIdOf } from '../http/trace-id.js';
import { rolesOf, type UserActor } from './actor.js';
import { cookieName } from './cookies.js';
import { RequestQuotas } from './request-quotas.js';
import { Tenant } from './tenant.js';
import { assertUsedFromWithin, limitsOf } from './token-limits.js';

/** Longer than any secret that we issue: hashing a megabyte would be wasted work. */
const SECRET_LENGTH_MAX = 512;
/** A shorter interval would cost a write for every request. */
const NOTE_INTERVAL_MS = 60_000;
/** Forgetting them all costs one write each, so that the map needs no order. */
const NOTED_TOKENS_MAX = 10_000;
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Authenticates a request's token, and checks the caller's role. */
@Injectable()
export class Authenticator {
  private readonly lastNotedMs = new Map<TokenId, number>();
  private readonly lookups = new SharedRead<TokenHolder | undefined>();

  constructor(
    private readonly databases: Databases,
    private readonly quotas: RequestQuotas,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Returns the caller, and sets it on the request as soon as known: later refusals are recorded under its name.
   *
   * @throws StorageFault `auth.missing`, `auth.invalid`, `auth.forbidden`, `request.rate_limited`
   */
  async requireUser(request: FastifyRequest, reply: FastifyReply): Promise<Tenant> {
    const actor = await this.authenticate(request);
    const scope = this.databases.organization(actor.organizationId, {
      limits: actor.limits,
      traceparent: traceparentOfRequest(request),
    });
    const tenant = tenantOf(actor, scope, request);
    request.tenant = tenant;
    assertUsedFromWithin(actor.limits, request.ip);
    await this.quotas.take(actor, reply);
    await this.noteUse(scope, actor.tokenId);
    return tenant;
  }

  /**
   * Takes further permits for a request that does the work of several.
   *
   * @throws StorageFault `request.rate_limited`
   */
  takeMore({ actor }: Tenant, reply: FastifyReply, count: number): Promise<void> {
    return this.quotas.take(actor, reply, count);
  }

  /** Records the use of a token at intervals: users want to see which tokens are in use, not the exact second. */
  private async noteUse(scope: Scope, tokenId: TokenId): Promise<void> {
    const now = systemClock.now();
    if (now.getTime() - (this.lastNotedMs.get(tokenId) ?? 0) < NOTE_INTERVAL_MS) return;
    if (this.lastNotedMs.size >= NOTED_TOKENS_MAX) this.lastNotedMs.clear();
    this.lastNotedMs.set(tokenId, now.getTime());
    try {
      await unsyncedTransaction(scope, (sql) => noteTokenUse(sql, tokenId, now));
    } catch (error) {
      // A full database still serves reads; the use is recorded another time.
      if (!isFault(error, 'store.full')) throw error;
    }
  }

  private async authenticate(request: FastifyRequest): Promise<UserActor> {
    const secret = secretOf(request, cookieName('session', request, this.config));
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

function tenantOf(actor: UserActor, scope: Scope, request: FastifyRequest): Tenant {
  return new Tenant(actor, scope, {
    requestId: request.id,
    address: request.ip,
    traceId: traceIdOf(request),
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

/**
 * The caller, limited to the projects whose roles allow the action: objects of other projects do not exist for it.
 *
 * @throws StorageFault `auth.forbidden` that names the required role
 */
export function assertAllowed(tenant: Tenant, action: Action): Tenant {
  const access = decideAccess(tenant.actor, action);
  if (access.kind === 'refuse') throw faultOf(access);
  return access.projectIds === undefined ? tenant : tenant.within(access.projectIds);
}

/**
 * Refuses a write outside of clusters for a token that is limited to some clusters.
 *
 * @param parameters of the address, or arguments of a field
 * @throws StorageFault `auth.forbidden`
 */
export function assertWithinClusters({ actor }: Tenant, access: Action, parameters: unknown): void {
  if (actor.limits.clusterIds === undefined || changesNothing(access) || access === 'token:own') return;
  if (typeof parameters === 'object' && parameters !== null && 'clusterId' in parameters) return;
  throw new StorageFault('auth.forbidden', {
    publicMessage: 'this token is limited to clusters, and this is about none of them',
  });
}

/** From the header, else from the session cookie; a cookie must come from our own pages when something is changed. */
export function secretOf(request: FastifyRequest, cookieName: string): string | undefined {
  const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const cookie = request.cookies[cookieName];
  if (cookie === undefined) return undefined;
  if (!SAFE_METHODS.has(request.method) && !isFromOwnPages(request)) {
    throw forbidden(
      'a session can be used from its own site only: the request names no origin, or another one',
    );
  }
  return cookie;
}

/**
 * For routes that set a cookie without requiring one: otherwise another site's page could sign a user in as a user of its choice, and read
 * later what was typed there. A request without an origin is not a browser's, and is allowed.
 *
 * @throws StorageFault `auth.forbidden`
 */
export function assertNoOtherSite(request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if ((origin === undefined && site === undefined) || isFromOwnPages(request)) return;
  throw forbidden('a browser signs in from pages of its own site only: the request names another one');
}

/** Browsers send the origin of a request. A request without one is not a browser's, and must not use a cookie. */
function isFromOwnPages({ headers, host }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = headers;
  if (origin === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host;
}

function actorOf(holder: TokenHolder): UserActor | undefined {
  const { token_id: tokenId, organization_id: organizationId } = holder;
  const roles = rolesOf(holder);
  if (holder.user_id === null || roles === undefined) return undefined;
  const user: UserActor = {
    kind: 'user',
    tokenId,
    tokenKind: holder.kind,
    secretHash: holder.secret_hash,
    organizationId,
    userId: holder.user_id,
    ...roles,
    projectId: holder.project_id ?? undefined,
    limits: limitsOf(holder),
    expiresAt: holder.expires_at ?? undefined,
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
