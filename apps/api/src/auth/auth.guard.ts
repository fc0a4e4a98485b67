import { Bug, StorageFault } from '@holdfast/core/model/faults.js';
import { systemClock } from '@holdfast/database/clock-and-random.js';
import { findToken, noteTokenUse, type TokenHolder } from '@holdfast/database/queries/tokens.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { Databases } from '../platform/databases.js';
import { requestOf } from '../platform/request.js';
import { ROUTE_OPTIONS, type RouteOptions } from '../platform/route.decorator.js';
import { Tenant } from '../platform/tenant.js';
import type { Actor, UserActor } from './actor.js';
import { type Action, isAllowed, leastRole, weakerRole } from './permissions.js';

export const SESSION_COOKIE = 'holdfast_session';

/** Longer than any secret we give out: the hash of a megabyte is work for nothing. */
const SECRET_LENGTH_MAX = 512;
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Finds out who asks, and whether they may. Every route states what it needs; one that does not is a bug. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    private readonly databases: Databases,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const route = this.reflector.get<RouteOptions | undefined>(ROUTE_OPTIONS, context.getHandler());
    if (route === undefined) throw new Bug(`${context.getHandler().name} does not say who may call it`);
    const { access } = route;
    if (access === 'public') return true;
    const request = requestOf(context);
    const actor = await this.authenticate(request);
    if (access === 'agent') return admitAgent(request, actor);
    return this.admitUser(request, actor, access);
  }

  private async authenticate(request: FastifyRequest): Promise<Actor> {
    const secret = secretOf(request);
    if (secret === undefined) {
      throw new StorageFault('auth.missing', { publicMessage: 'the request has no token' });
    }
    const holder =
      secret.length > SECRET_LENGTH_MAX
        ? undefined
        : await transaction(this.databases.nobody(), (sql) => findToken(sql, secret));
    const actor = holder === undefined ? undefined : actorOf(holder);
    if (actor === undefined) {
      throw new StorageFault('auth.invalid', { publicMessage: 'the token is unknown, expired or revoked' });
    }
    return actor;
  }

  private async admitUser(request: FastifyRequest, actor: Actor, action: Action): Promise<boolean> {
    if (actor.kind !== 'user') throw forbidden("an agent's token can't be used here");
    if (!isAllowed(actor.role, action)) {
      throw forbidden(`this needs the role ${leastRole(action)}; yours is ${actor.role}`);
    }
    const scope = this.databases.organization(actor.organizationId);
    // The same guard runs for every field of a GraphQL request; the first one makes the tenant.
    if (request.tenant === undefined) {
      await transaction(scope, (sql) => noteTokenUse(sql, actor.tokenId, systemClock.now()));
    }
    request.tenant ??= new Tenant(actor, scope, {
      requestId: request.id,
      action: `${request.method} ${request.routeOptions.url ?? request.url}`,
      parameters: parametersOf(request),
      get resourceId() {
        return request.resourceId;
      },
    });
    return true;
  }
}

function admitAgent(request: FastifyRequest, actor: Actor): boolean {
  if (actor.kind !== 'agent') throw forbidden("only an agent's token can be used here");
  request.agent = actor;
  return true;
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
