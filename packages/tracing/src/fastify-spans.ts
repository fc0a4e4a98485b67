/** A span for each request of a Fastify server. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { beginSpan, type OpenSpan } from './spans.js';

const spans = new WeakMap<object, OpenSpan>();

/** Names the span of a request, for work that follows from it. `undefined`: it has none. */
export function traceparentOfRequest(request: FastifyRequest): string | undefined {
  return spans.get(request)?.traceparent;
}

/**
 * Adds the hooks, ahead of all others. From then on the header `traceparent` of a request names its own span, so that
 * whatever reads the header has the trace that the request is part of.
 *
 * @param isTraced those that get a span without being part of a trace already
 */
export function addSpans(server: FastifyInstance, isTraced: (request: FastifyRequest) => boolean): void {
  server.addHook('onRequest', (request, _reply, done) => {
    const { traceparent } = request.headers;
    const told = typeof traceparent === 'string' ? traceparent : undefined;
    if (told === undefined && !isTraced(request)) return done();
    const attributes = {
      'http.request.method': request.method,
      'http.route': request.routeOptions.url ?? '',
    };
    const name = `${request.method} ${request.routeOptions.url ?? ''}`;
    const span = beginSpan(name, { kind: 'server', attributes, traceparent: told });
    if (span.traceparent === undefined) return done();
    request.headers.traceparent = span.traceparent;
    spans.set(request, span);
    done();
  });
  // Here and not before: the body's parser continues from the socket's events, which belong to no request.
  server.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request);
    if (span === undefined) done();
    else span.run(done);
  });
  server.addHook('onResponse', (request, { statusCode }, done) => {
    const span = spans.get(request);
    span?.set({ 'http.response.status_code': statusCode });
    if (statusCode >= 500) span?.failed(`status ${statusCode}`);
    span?.end();
    done();
  });
}
