import { createHash } from 'node:crypto';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import {
  type IdempotentRequest,
  type Reservation,
  releaseKey,
  reserveKey,
  storeAnswer,
} from '@holdfast/database/queries/idempotency.js';
import { unsureAfter } from '@holdfast/database/sql/errors.js';
import { type Scope, transaction, unsyncedTransaction } from '@holdfast/database/sql/scope.js';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { Databases } from '../http/databases.js';
import { ProcessLife } from '../http/process-life.js';
import '../http/request.js';
import { ROUTE_OPTIONS, type RouteOptions } from './route.decorator.js';
import { UnansweredKeys } from './unanswered-keys.js';

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * A POST with an Idempotency-Key is carried out once: its repeat gets the first one's answer.
 *
 * The key is reserved before the work, with an id for what it creates. When the process dies in between, a repeat runs again with that same
 * id, so that it can't create a second one: at once if the database has noticed the death of the process, otherwise after the lock has
 * expired, and after an outage of the database as soon as it answers again.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly databases: Databases,
    private readonly life: ProcessLife,
    private readonly unanswered: UnansweredKeys,
    private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = request.headers['idempotency-key'];
    // Agents' calls are idempotent anyway, and signing in must create a new session each time. A dry run changes nothing.
    const isKept = request.method === 'POST' && request.isDryRun !== true;
    if (!isKept || key === undefined || request.tenant === undefined) return next.handle();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const route = this.reflector.get<RouteOptions | undefined>(ROUTE_OPTIONS, context.getHandler());
    return from(
      this.run(request, reply, { key: String(key), isSecret: route?.answersSecret === true }, next),
    );
  }

  private async run(
    request: FastifyRequest,
    reply: FastifyReply,
    { key, isSecret }: { key: string; isSecret: boolean },
    next: CallHandler,
  ): Promise<unknown> {
    const idempotent = { ...describeRequest(request, key), holder: this.life.holder };
    const scope = this.databases.organization(idempotent.organizationId);
    const reservation = await this.reserve(scope, idempotent);
    switch (reservation.kind) {
      case 'replay':
        if (isSecret) throw secretNotKept(reservation.body);
        void reply.code(reservation.status).header('idempotency-replayed', 'true');
        return reservation.body;
      case 'other-request':
        throw new StorageFault('idempotency.key_reused', {
          publicMessage: 'this Idempotency-Key was used for another request',
        });
      case 'in-flight':
        throw new StorageFault('idempotency.in_flight', {
          publicMessage: 'the first request with this Idempotency-Key is still running',
        });
      case 'run':
        break;
    }
    request.resourceId = reservation.resourceId;
    try {
      const body: unknown = await lastValueFrom(next.handle(), { defaultValue: undefined });
      const answer = { status: reply.statusCode, body: isSecret ? idIn(body) : body };
      await transaction(scope, (sql) => storeAnswer(sql, idempotent, answer)).catch((error: unknown) => {
        throw unsureAfter(error);
      });
      return body;
    } catch (error) {
      await this.giveUp(scope, idempotent, error);
      throw error;
    }
  }

  /** Commits asynchronously: the request's own changes follow in the same log, so a crash loses either both or only them. */
  private async reserve(scope: Scope, request: IdempotentRequest): Promise<Reservation> {
    try {
      return await unsyncedTransaction(scope, (sql) => reserveKey(sql, request));
    } catch (error) {
      // The key may have been reserved although the answer was lost.
      if (isFault(error, 'store.unavailable')) this.unanswered.add(request);
      throw error;
    }
  }

  /** A refusal changed nothing, so the key is released. After any other error it stays reserved; after a bug until its lock expires. */
  private async giveUp(scope: Scope, request: IdempotentRequest, error: unknown): Promise<void> {
    if (!isFault(error)) return;
    if (error.code === 'store.unavailable') return this.unanswered.add(request);
    // The caller needs the refusal, even if the key can not be released.
    await transaction(scope, (sql) => releaseKey(sql, request)).catch(() => this.unanswered.add(request));
  }
}

/** Stored part of an answer with a secret: the id of the created object. */
function idIn(body: unknown): { id: string } {
  return { id: typeof body === 'object' && body !== null && 'id' in body ? String(body.id) : '' };
}

function secretNotKept(kept: unknown): StorageFault {
  return new StorageFault('idempotency.secret_not_kept', {
    publicMessage: `the first request with this Idempotency-Key has made ${idIn(kept).id}, and its secret was shown once`,
    cures: ['rotate it for another secret'],
  });
}

function describeRequest(request: FastifyRequest, key: string): Omit<IdempotentRequest, 'holder'> {
  if (request.tenant === undefined) throw new Error('only requests of people are described');
  if (!KEY.test(key)) {
    const detail = 'must be 1 to 255 printable characters without spaces';
    throw new StorageFault('request.invalid', {
      publicMessage: `Idempotency-Key ${detail}`,
      errors: [{ pointer: 'Idempotency-Key', detail }],
    });
  }
  const { organizationId, tokenId } = request.tenant.actor;
  const content = JSON.stringify([request.method, request.url, request.body ?? null]);
  const requestHash = createHash('sha256').update(content).digest('hex');
  const now = systemClock.now();
  return { organizationId, tokenId, key, requestHash, resourceId: systemRandom.id(), now };
}
