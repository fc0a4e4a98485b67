import type { FaultCode } from '@holdfast/core/model/faults.js';
import type { RouteOptions } from '../access/route.decorator.js';
import { INTERNAL, statusOfCode } from '../http/problem.js';

/** Properties of a route that decide its common refusals. */
export type RefusingRoute = {
  method: string;
  options: RouteOptions;
  hasPath: boolean;
  takesIfMatch: boolean;
};

/** Codes by HTTP status: those that a route names (`refuses`), and those that follow from its inputs. */
export function refusalsOf(route: RefusingRoute): ReadonlyMap<number, readonly string[]> {
  const { refuses = [] } = route.options;
  const found = new Map<number, Set<string>>([[INTERNAL.status, new Set([INTERNAL.code])]]);
  const add = (code: FaultCode, status = statusOfCode(code)) =>
    found.set(status, (found.get(status) ?? new Set<string>()).add(code));
  for (const code of [...sharedRefusals(route), ...refuses]) add(code);
  if (mayHaveBody(route)) {
    // A malformed body: not JSON, or of another type.
    add('request.invalid', 400);
    add('request.invalid', 415);
  }
  const byStatus = [...found].sort(([a], [b]) => a - b);
  return new Map(byStatus.map(([status, codes]) => [status, [...codes].sort()]));
}

function sharedRefusals(route: RefusingRoute): FaultCode[] {
  const { method, options, hasPath, takesIfMatch } = route;
  const { access } = options;
  const hasBody = mayHaveBody(route);
  const hasKey = method === 'post' && access !== 'public' && access !== 'agent';
  return [
    'store.unavailable',
    'store.full',
    ...choose(access !== 'public', 'auth.missing', 'auth.forbidden'),
    ...choose(access !== 'public', access === 'agent' ? 'node.identity_refused' : 'auth.invalid'),
    ...choose(access !== 'public' && access !== 'agent', 'request.rate_limited'),
    ...choose(hasPath, 'request.not_found'),
    // Unreadable characters in an address, a query or a body.
    'request.invalid',
    // A request with a body may change something concurrently with another one.
    ...choose(hasBody, 'request.too_large', 'store.conflict'),
    ...choose(hasKey, 'idempotency.key_reused', 'idempotency.in_flight'),
    ...choose(takesIfMatch, 'request.stale'),
  ];
}

/** Fastify reads a body of every method but GET, whether the route uses it or not. */
function mayHaveBody({ method }: RefusingRoute): boolean {
  return method !== 'get';
}

function choose(isSo: boolean, ...codes: FaultCode[]): FaultCode[] {
  return isSo ? codes : [];
}
