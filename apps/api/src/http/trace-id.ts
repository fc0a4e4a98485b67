import type { FastifyRequest } from 'fastify';

/** The trace that the request is part of (W3C Trace Context): the caller's, or with tracing on the request's own. Empty: none. */
export function traceIdOf({ headers }: Pick<FastifyRequest, 'headers'>): string {
  const { traceparent } = headers;
  return typeof traceparent === 'string' ? (/^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent)?.[1] ?? '') : '';
}
