import { invalidQuery } from '@holdfast/core/listing/filter.js';
import { Bug } from '@holdfast/core/model/faults.js';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import '../../http/request.js';
import type { DryRunPlanner } from '../../access/dry-run-planner.js';
import { ROUTE_OPTIONS, type RouteOptions } from '../../access/route.decorator.js';
import { DRY_RUN_TYPE, type DryRunView } from './dry-run.schemas.js';
import { recordOf, rehearse, textsOf } from './rehearse.js';

/**
 * A request with `?dryRun=true` is handled as any other, with transactions that are rolled back: the same checks refuse it, and its answer
 * has its effects.
 */
@Injectable()
export class DryRunInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (request.isWrite !== true || !isDry(request.query)) return next.handle();
    const route = this.reflector.get<RouteOptions | undefined>(ROUTE_OPTIONS, context.getHandler());
    // Refused, not ignored: a caller that requests a dry run must not get a change.
    if (route?.dryRun === undefined) throw invalidQuery('dryRun', 'is not known here');
    return from(rehearseRequest(request, http.getResponse<FastifyReply>(), route.dryRun, next));
  }
}

async function rehearseRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  plan: DryRunPlanner,
  next: CallHandler,
): Promise<DryRunView> {
  const { tenant } = request;
  if (tenant === undefined) throw new Bug('a dry run needs a caller');
  const asked = { parameters: textsOf(request.params), body: recordOf(request.body) };
  const view = await rehearse(tenant, plan, asked, (dry) => {
    request.tenant = dry;
    request.isDryRun = true;
    return lastValueFrom(next.handle(), { defaultValue: undefined });
  });
  void reply.code(200).removeHeader('etag').removeHeader('location').header('content-type', DRY_RUN_TYPE);
  return view;
}

function isDry(query: unknown): boolean {
  const { dryRun } = recordOf(query);
  if (dryRun === undefined || dryRun === 'false') return false;
  if (dryRun === 'true') return true;
  throw invalidQuery('dryRun', 'must be true or false');
}
