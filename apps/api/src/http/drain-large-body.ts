import type { FastifyRequest } from 'fastify';

/** Maximum bytes to drain; a client that sends more is disconnected. */
const DRAINED_BYTES_MAX = 32 * 1024 * 1024;
/** Maximum time to drain a stalled client. */
const DRAIN_TIMEOUT_MS = 10_000;

/**
 * Reads and discards a body that will be refused for its size. Most clients send all of it before they read the answer: refused at once,
 * they would see a broken pipe instead of the 413.
 */
export async function drainLargeBody(request: FastifyRequest): Promise<void> {
  const length = Number(request.headers['content-length'] ?? 0);
  const limit = request.routeOptions.bodyLimit ?? request.server.initialConfig.bodyLimit ?? 0;
  if (!(length > limit) || length > DRAINED_BYTES_MAX) return;
  const { raw } = request;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, DRAIN_TIMEOUT_MS);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    raw.once('end', done);
    raw.once('close', done);
    raw.resume();
  });
}
