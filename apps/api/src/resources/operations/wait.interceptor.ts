import { decideAccess } from '@holdfast/access/decide-access.js';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { mergeMap, type Observable } from 'rxjs';
import { assertAllowed } from '../../access/authenticator.js';
import '../../http/request.js';
import { ROUTE_OPTIONS, type RouteOptions } from '../../access/route.decorator.js';
import { OPERATION_TYPE, type OperationView } from './operation.schemas.js';
import { OperationWaits } from './operation-waits.js';
import { preferredWaitMs } from './preferred-wait.js';

/**
 * `Prefer: wait=10` on a request that begins an operation, or reads one: the answer is the operation at its end, or when the time is over.
 * It runs outside of the idempotency interceptor: the work is done, and its answer stored, before the wait.
 */
@Injectable()
export class WaitInterceptor implements NestInterceptor {
  constructor(
    private readonly waits: OperationWaits,
    private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const waitMs = preferredWaitMs(request.headers.prefer);
    if (waitMs === undefined) return next.handle();
    const route = this.reflector.get<RouteOptions | undefined>(ROUTE_OPTIONS, context.getHandler());
    if (route?.mayWait !== true) return next.handle();
    const reply = http.getResponse<FastifyReply>();
    return next.handle().pipe(
      mergeMap(async (answer: unknown) => {
        const view = await this.wait(request, operationIdOf(request, reply), waitMs);
        return view === undefined ? answer : answerOf(request, reply, view);
      }),
    );
  }

  /** An error of the wait must not fail the request, which is done already. */
  private async wait(
    request: FastifyRequest,
    operationId: string | undefined,
    waitMs: number,
  ): Promise<OperationView | undefined> {
    const { tenant } = request;
    if (tenant === undefined || operationId === undefined) return undefined;
    // A caller that may start an operation need not have permission to read it.
    if (decideAccess(tenant.actor, 'event:read').kind === 'refuse') return undefined;
    try {
      return await this.waits.untilEnded(assertAllowed(tenant, 'event:read'), operationId, waitMs);
    } catch (error) {
      request.log.debug({ err: error }, 'an operation could not be waited for');
      return undefined;
    }
  }
}

/** Operation id from the request's address, or from the answer's `Location`. */
function operationIdOf({ method, params }: FastifyRequest, reply: FastifyReply): string | undefined {
  if (method !== 'GET') return /\/operations\/([^/]+)$/.exec(String(reply.getHeader('location') ?? ''))?.[1];
  const hasId = typeof params === 'object' && params !== null && 'operationId' in params;
  return hasId ? String(params.operationId) : undefined;
}

function answerOf({ method }: FastifyRequest, reply: FastifyReply, view: OperationView): OperationView {
  void reply.header('preference-applied', 'wait');
  if (method === 'GET') return view;
  void reply.code(view.finishedAt === null ? 202 : 200).header('content-type', OPERATION_TYPE);
  // The tag is that of the operation's target.
  void reply.removeHeader('etag');
  return view;
}
