/**
 * A request with an unsupported method for an existing address: 405 with the supported methods (RFC 9110), instead of a 404, which suggests
 * a wrong address. The addresses are those of the OpenAPI document, so this reveals nothing.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { sendProblem } from './send-problem.js';

type KnownAddress = { readonly pattern: RegExp; readonly methods: Set<string> };

/** To be called before any route is added. */
export function refuseOtherMethods(fastify: FastifyInstance): void {
  const known = new Map<string, KnownAddress>();
  fastify.addHook('onRoute', ({ url, method }: RouteOptions) => {
    const address = known.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() };
    known.set(url, address);
    for (const one of [method].flat()) address.methods.add(one);
  });
  fastify.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const allowed = methodsAt(known, pathOf(request));
    if (allowed.length === 0) return;
    const fault = new StorageFault('request.method_not_allowed', {
      publicMessage: `${request.method} is not for this address, which takes ${allowed.join(', ')}`,
    });
    return sendProblem(fault, request, reply.header('allow', allowed.join(', ')));
  });
}

function methodsAt(known: ReadonlyMap<string, KnownAddress>, path: string): string[] {
  const found = [...known.values()].filter(({ pattern }) => pattern.test(path));
  return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
}

function pathOf({ url }: FastifyRequest): string {
  return URL.canParse(url, 'http://localhost') ? new URL(url, 'http://localhost').pathname : '';
}

/** Parameters stand for a part of an address, a star for all that follows. */
function patternOf(route: string): RegExp {
  const parts = route.split(/(:\w+|\*)/).map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
}
