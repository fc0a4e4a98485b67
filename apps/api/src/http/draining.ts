/**
 * Draining of an api process that is to end: it accepts no connection any more, answers what arrives on those that there are, and
 * asks their clients to close them. Without it a request that crosses the end of an idle connection is lost to its client, and one
 * that arrives a moment later is answered 503.
 */
import net from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Time for clients to use their idle connections once more. Proxies that have requests do so within milliseconds. */
const DRAIN_MS = 1_000;

/** A turn of the event loop in which hardly a connection can have come in. */
const SHORT_TURN_MS = 1;
/** Such turns are rare on a busy machine, and an end must not wait for one. */
const SHORT_TURN_AWAITED_MS = 500;

export type Draining = { begin(): Promise<void> };

/**
 * To be called before the server listens.
 *
 * @param begun ends what requests would wait for longer than a process that is to end has time
 */
export function addDraining(fastify: FastifyInstance, begun: () => void): Draining {
  let isDraining = false;
  fastify.addHook('onRequest', async (_request, reply) => {
    if (isDraining) void reply.header('connection', 'close');
  });
  return {
    async begin() {
      isDraining = true;
      begun();
      await shortTurn();
      // Not its own `close`, which ends idle connections at once.
      net.Server.prototype.close.call(fastify.server);
      await delay(DRAIN_MS);
    },
  };
}

/**
 * Connections that the kernel has accepted and this process has not yet are reset when it stops listening. Each turn accepts all
 * that wait, so right after a short one there is hardly any.
 */
async function shortTurn(): Promise<void> {
  const untilMs = performance.now() + SHORT_TURN_AWAITED_MS;
  let atMs = performance.now();
  while (atMs < untilMs) {
    await nextTurn();
    const turnMs = performance.now() - atMs;
    if (turnMs < SHORT_TURN_MS) return;
    atMs += turnMs;
  }
}
