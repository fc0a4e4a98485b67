import type { FastifyRequest } from 'fastify';

/** What is drained at most; a client that means to send more is cut off, as before. */
const DRAINED_BYTES_MAX = 32 * 1024 * 1024;
/** A client that stalls meanwhile holds a connection no longer than this. */
const DRAIN_TIMEOUT_MS = 10_000;

/**
 * Reads and forgets a body that is going to be refused for its size. Most clients send all of it before they look for
 * an answer: refused at once, they would see a broken pipe instead of the 413 that says why.
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
