/**
 * Draining of an API process before its end: it accepts no new connections, answers requests on existing ones, and asks their clients to
 * close them. Otherwise a request sent while an idle connection is closed would be lost, and a later one answered 503.
 */
import net from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Time for clients to use their idle connections once more. Busy proxies do so within milliseconds. */
const DRAIN_MS = 1_000;

/** Maximum duration of an event-loop turn in which hardly a connection can have arrived. */
const SHORT_TURN_MS = 1;
/** Such turns are rare on a busy machine, and an end must not wait for one. */
const SHORT_TURN_AWAITED_MS = 500;

export type Draining = { begin(): Promise<void> };

/**
 * To be called before the server listens.
 *
 * @param begun ends long waits of requests
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
 * Connections that the kernel has accepted and this process has not yet are reset when it stops listening. Each turn accepts all that wait,
 * so right after a short turn there is hardly any.
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
