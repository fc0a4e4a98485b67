import { invalidQuery } from '@holdfast/core/listing/filter.js';
import { Bug } from '@holdfast/core/model/faults.js';
import { bytesOf } from '@holdfast/core/policy/copy-effects.js';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import '../platform/request.js';
import { ROUTE_OPTIONS, type RouteOptions } from '../platform/route.decorator.js';
import type { Rehearsed, Tenant } from '../platform/tenant.js';
import { DRY_RUN_TYPE, type DryRunView } from './dry-run.schemas.js';
import type { DryRunPlanner, PlannedEffects } from './planned-effects.js';

/** Copies in one answer; the sums are of all. */
const COPIES_MAX = 1_000;

/**
 * A request with `?dryRun=true` is handled as any other, with transactions that are rolled back: what would refuse it refuses it,
 * and its answer is what it would come to.
 */
@Injectable()
export class DryRunInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (request.isWrite !== true || !isDry(request.query)) return next.handle();
    const route = this.reflector.get<RouteOptions | undefined>(ROUTE_OPTIONS, context.getHandler());
    // Not done silently: whoever asks for a dry run must not get a change.
    if (route?.dryRun === undefined) throw invalidQuery('dryRun', 'is not known here');
    return from(rehearse(request, http.getResponse<FastifyReply>(), route.dryRun, next));
  }
}

async function rehearse(
  request: FastifyRequest,
  reply: FastifyReply,
  plan: DryRunPlanner,
  next: CallHandler,
): Promise<DryRunView> {
  const { tenant } = request;
  if (tenant === undefined) throw new Bug('a dry run needs a caller');
  const dry = tenant.rehearsing();
  request.tenant = dry;
  request.isDryRun = true;
  // Read before: the handler may ask for what the plan is about to be changed by.
  const planned = await lastValueFrom(next.handle(), { defaultValue: undefined }).then(() =>
    plan(dry, { parameters: textsOf(request.params), body: recordOf(request.body) }),
  );
  await dry.noteDryRun();
  void reply.code(200).removeHeader('etag').removeHeader('location').header('content-type', DRY_RUN_TYPE);
  return viewOf(dry, planned);
}

function isDry(query: unknown): boolean {
  const { dryRun } = recordOf(query);
  if (dryRun === undefined || dryRun === 'false') return false;
  if (dryRun === 'true') return true;
  throw invalidQuery('dryRun', 'must be true or false');
}

function viewOf({ rehearsed }: Tenant, { copies, notes }: PlannedEffects): DryRunView {
  const { changes, events }: Rehearsed = rehearsed ?? { changes: [], events: [] };
  const { removed, copied } = bytesOf(copies);
  const last = changes.at(-1);
  return {
    dryRun: true,
    changes: changes.length > 0,
    before: last?.before ?? null,
    after: last?.after ?? null,
    events: events.map(({ type, message }) => ({ type, message })),
    copies: changes.length === 0 ? [] : copies.slice(0, COPIES_MAX).map(copyView),
    copyCount: changes.length === 0 ? 0 : copies.length,
    bytesRemoved: changes.length === 0 ? 0 : removed,
    bytesCopied: changes.length === 0 ? 0 : copied,
    notes: changes.length === 0 ? [] : [...notes],
  };
}

function copyView({
  replicaId,
  nodeId,
  diskId,
  ...copy
}: PlannedEffects['copies'][number]): DryRunView['copies'][number] {
  return { ...copy, replicaId: replicaId ?? null, nodeId: nodeId ?? null, diskId: diskId ?? null };
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function textsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(recordOf(value)).map(([name, text]) => [name, String(text).toLowerCase()]),
  );
}
