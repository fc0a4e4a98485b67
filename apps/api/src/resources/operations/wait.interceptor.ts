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
 * `Prefer: wait=10` on a request that begins an operation, or reads one: the answer is the operation as it is when it has ended, or
 * when the time is over. Outside of what keeps answers for repeats: the work is done, and its answer kept, before it waits.
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

  /** What is wrong with the wait is no reason to tell a caller that the request has failed: it is done. */
  private async wait(
    request: FastifyRequest,
    operationId: string | undefined,
    waitMs: number,
  ): Promise<OperationView | undefined> {
    const { tenant } = request;
    if (tenant === undefined || operationId === undefined) return undefined;
    // Whoever may begin something is not always one who may read how it goes.
    if (decideAccess(tenant.actor, 'event:read').kind === 'refuse') return undefined;
    try {
      return await this.waits.untilEnded(assertAllowed(tenant, 'event:read'), operationId, waitMs);
    } catch (error) {
      request.log.debug({ err: error }, 'an operation could not be waited for');
      return undefined;
    }
  }
}

/** Of the address that is read, or of the one that an answer names. */
function operationIdOf({ method, params }: FastifyRequest, reply: FastifyReply): string | undefined {
  if (method !== 'GET') return /\/operations\/([^/]+)$/.exec(String(reply.getHeader('location') ?? ''))?.[1];
  const hasId = typeof params === 'object' && params !== null && 'operationId' in params;
  return hasId ? String(params.operationId) : undefined;
}

function answerOf({ method }: FastifyRequest, reply: FastifyReply, view: OperationView): OperationView {
  void reply.header('preference-applied', 'wait');
  if (method === 'GET') return view;
  void reply.code(view.finishedAt === null ? 202 : 200).header('content-type', OPERATION_TYPE);
  // Of the object that it works on.
  void reply.removeHeader('etag');
  return view;
}
