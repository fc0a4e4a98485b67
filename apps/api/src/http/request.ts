import { StorageFault } from '@holdfast/core/model/faults.js';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when the request arrives: makes a signal that is aborted when the caller disconnects. */
    callerGone?: () => AbortSignal;
    /** Code of the problem in its answer. */
    refusal?: string;
    /** Set by the guard: the route changes something, so its refusal is recorded in the audit log. */
    isWrite?: boolean;
    /** Set by the dry-run interceptor: the request's changes are rolled back. */
    isDryRun?: boolean;
    /** Set by the idempotency interceptor, before the handler asks for it. */
    resourceId?: string;
  }
}

export function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}

/**
 * The version that `If-Match` names; undefined when there is no such header, or it matches anything. Of several the newest: versions only
 * grow, so the others are older.
 */
export function readIfMatch(_data: unknown, context: ExecutionContext): number | undefined {
  const header = requestOf(context).headers['if-match'];
  if (header === undefined || header.trim() === '*') return undefined;
  const versions = header.split(',').flatMap((tag) => {
    const match = /^\s*"(\d{1,15})(?:-[\w-]+)?"\s*$/.exec(tag);
    return match === null ? [] : [Number(match[1])];
  });
  if (versions.length > 0) return Math.max(...versions);
  // No resource has such a tag, so it is not the current one.
  throw new StorageFault('request.stale', { publicMessage: `If-Match ${header} is not the current ETag` });
}

/** A handler's parameter for `readIfMatch`. The OpenAPI document knows by it which routes take the header. */
export const IfMatch = createParamDecorator(readIfMatch);

/** The tag of a resource's version, as RFC 9110 quotes it. */
export function etagOf(version: number | string): string {
  return `"${version}"`;
}

/** The view of a resource as the answer, with its tag. */
export function tagged<View extends { readonly version: number }>(reply: FastifyReply, view: View): View {
  void reply.header('etag', etagOf(view.version));
  return view;
}
