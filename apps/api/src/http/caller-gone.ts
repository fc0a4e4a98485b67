import type { ServerResponse } from 'node:http';

/**
 * Signal that is aborted when the caller's connection ends before its answer has been sent. Fastify's own signal listens to the
 * request, which has ended as soon as its body was read.
 */
export function callerGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const look = () => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.destroyed) look();
  else response.once('close', look);
  return controller.signal;
}
