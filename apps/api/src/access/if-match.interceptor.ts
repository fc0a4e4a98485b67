import { StorageFault } from '@holdfast/core/model/faults.js';
import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { from, mergeMap, type Observable } from 'rxjs';
import type { Config } from '../config/config.js';
import { isKnown } from '../http/entity-tags.js';
import { readIfMatch } from '../http/request.js';
import { CONFIG } from '../http/tokens.js';
import { secretOf } from './authenticator.js';
import { cookieName } from './cookies.js';
import { handlerParameters } from './handler-parameters.js';

/**
 * `If-Match` on writes whose handlers compare no version: a snapshot or a token has none. The client only has the tag of its read, a hash
 * of the whole answer, so the read is repeated as the same user, and its tag compared. Ignoring the header would be a broken promise.
 *
 * The read comes just before the write and not in its transaction: a change between them is not noticed. Objects with a version are
 * compared under their lock.
 */
@Injectable()
export class IfMatchInterceptor implements NestInterceptor {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const given = request.headers['if-match'];
    const isWrite = request.isWrite === true && request.method !== 'GET' && request.method !== 'HEAD';
    const isAsked = given !== undefined && given.trim() !== '*';
    if (!isAsked || !isWrite || request.tenant === undefined || takesVersion(context)) return next.handle();
    return from(this.requireCurrent(request, given)).pipe(mergeMap(() => next.handle()));
  }

  /** @throws StorageFault `request.stale` */
  private async requireCurrent(request: FastifyRequest, given: string): Promise<void> {
    for (const address of readAddresses(request)) {
      const { statusCode, headers } = await this.read(request, address);
      // A missing object is refused by the handler, with its own code.
      if (statusCode === 404 || isKnown(given, String(headers.etag))) return;
    }
    throw new StorageFault('request.stale', { publicMessage: `If-Match ${given} is not the current ETag` });
  }

  private read(request: FastifyRequest, url: string) {
    const secret = secretOf(request, cookieName('session', request, this.config));
    const headers = { authorization: `Bearer ${secret}`, 'x-request-id': request.id };
    return request.server.inject({ method: 'GET', url, headers, remoteAddress: request.ip });
  }
}

function takesVersion(context: ExecutionContext): boolean {
  const parameters = handlerParameters(context.getClass(), context.getHandler().name);
  return parameters.some(({ factory }) => factory === readIfMatch);
}

/** Addresses at which the target of a write can be read: its own; for an action or a creation below an object, the object's. */
function readAddresses(request: FastifyRequest): string[] {
  const { server, routeOptions, method } = request;
  const route = routeOptions.url ?? '';
  const address = request.url.split('?')[0] ?? '';
  const isRead = (url: string) => server.hasRoute({ method: 'GET', url });
  const object = /^(?<route>.+:\w+)\/[\w-]+$/.exec(route)?.groups?.route;
  return [
    ...(isRead(route) ? [address] : []),
    ...(method === 'POST' && object !== undefined && isRead(object)
      ? [address.slice(0, address.lastIndexOf('/'))]
      : []),
  ];
}
