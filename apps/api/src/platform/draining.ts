/**
 * Draining of an api process that is to end: it accepts no connection any more, answers what arrives on those that there are, and
 * asks their clients to close them. Without it a request that crosses the end of an idle connection is lost to its client, and one
 * that arrives a moment later is answered 503.
 */
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Time for clients to use their idle connections once more. Proxies that have requests do so within milliseconds. */
const DRAIN_MS = 1_000;

export type Draining = { begin(): Promise<void> };

/** To be called before the server listens. */
export function addDraining(fastify: FastifyInstance): Draining {
  let isDraining = false;
  fastify.addHook('onRequest', async (_request, reply) => {
    if (isDraining) void reply.header('connection', 'close');
  });
  return {
    async begin() {
      isDraining = true;
      // Not its own `close`, which ends idle connections at once.
      net.Server.prototype.close.call(fastify.server);
      await delay(DRAIN_MS);
    },
  };
}
