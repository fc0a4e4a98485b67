import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** A reader that stalls is disconnected instead of buffered in memory; it resumes where it was. */
const BUFFERED_BYTES_MAX = 1024 * 1024;

/** Starts a stream of server-sent events on a reply's connection. */
export function beginEventStream(reply: FastifyReply): ServerResponse {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    // Proxies must pass each event on at once.
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    // No further request follows on it, and a stopping server waits for open connections.
    connection: 'close',
  });
  return reply.raw;
}

/** Writes to a stream's reader, and disconnects it when it does not read. */
export function writeBounded(response: ServerResponse, text: string): void {
  if (response.writableEnded || response.destroyed) return;
  response.write(text);
  if (response.writableLength > BUFFERED_BYTES_MAX) response.destroy();
}
