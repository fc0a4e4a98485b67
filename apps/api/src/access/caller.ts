/** The caller of a request, as set by the guard. */
import { Bug } from '@holdfast/core/model/faults.js';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestOf } from '../http/request.js';
import type { AgentActor } from './actor.js';
import type { Tenant } from './tenant.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard for users' requests. */
    tenant?: Tenant;
    /** Set by the guard for agents' requests. */
    agent?: AgentActor;
  }
}

export function readTenant(_data: unknown, context: ExecutionContext): Tenant {
  const { tenant } = requestOf(context);
  if (tenant === undefined) throw new Bug('a handler asks for a tenant on a route without one');
  return tenant;
}

/** A handler's parameter for the caller. */
export const CurrentTenant = createParamDecorator(readTenant);

export const CurrentAgent = createParamDecorator((_data: unknown, context: ExecutionContext): AgentActor => {
  const { agent } = requestOf(context);
  if (agent === undefined) throw new Bug('a handler asks for an agent on a route without one');
  return agent;
});
