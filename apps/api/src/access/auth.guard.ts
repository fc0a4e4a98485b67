import { changesNothing } from '@holdfast/access/permissions.js';
import { Bug } from '@holdfast/core/model/faults.js';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AgentAuthenticator } from './agent-authenticator.js';
import { Authenticator, assertAllowed, assertWithinClusters } from './authenticator.js';
import { ROUTE_OPTIONS, type RouteOptions } from './route.decorator.js';

/** Guard of all routes: the caller's role must allow the route. A route without a declared access is a bug. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly agents: AgentAuthenticator,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const route = this.reflector.get<RouteOptions | undefined>(ROUTE_OPTIONS, context.getHandler());
    if (route === undefined) throw new Bug(`${context.getHandler().name} does not say who may call it`);
    const { access } = route;
    if (access === 'public') return true;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (access === 'agent' && route.comparesIdentity === true) {
      this.agents.shownBy(request);
      return true;
    }
    if (access === 'agent') {
      request.agent ??= await this.agents.requireAgent(request);
      return true;
    }
    // Before any check: the audit log records refused writes, whichever check refuses them.
    request.isWrite = !changesNothing(access);
    const tenant = await this.authenticator.requireUser(request, http.getResponse<FastifyReply>());
    request.tenant = assertAllowed(tenant, access);
    assertWithinClusters(tenant, access, request.params);
    return true;
  }
}
