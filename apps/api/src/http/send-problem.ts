/** Every refusal and every failure becomes a problem document here. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { faultOf, INTERNAL, inTrace, internalProblem, problemOf } from './problem.js';
import './request.js';
import { traceIdOf } from './trace-id.js';

/** The error's code. */
export function codeOf(error: unknown): string {
  return faultOf(error)?.fault.code ?? INTERNAL.code;
}

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
  // A stream has started: its client sees its end, and resumes.
  if (reply.sent || reply.raw.headersSent) {
    request.log.error({ err: error }, 'failed after the answer had begun');
    reply.raw.destroy();
    return undefined;
  }
  const known = faultOf(error);
  if (known === undefined) request.log.error({ err: error }, 'request failed');
  const problem =
    known === undefined ? internalProblem(request.id) : problemOf(known.fault, request.id, known.status);
  request.refusal = problem.code;
  if (problem.status === 401) void reply.header('www-authenticate', 'Bearer realm="holdfast"');
  if (problem.retryable) {
    void reply.header('retry-after', String(known?.fault.details.retryAfterSeconds ?? 1));
  }
  return reply
    .code(problem.status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(inTrace(problem, traceIdOf(request))));
}
