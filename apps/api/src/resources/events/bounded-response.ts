import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** A reader that takes nothing is cut off rather than kept in memory; it resumes where it was. */
const BUFFERED_BYTES_MAX = 1024 * 1024;

/** Takes the connection of a reply for a stream of server-sent events. */
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
    // Nothing else comes on it once the stream has ended, and a stopping server waits for open connections.
    connection: 'close',
  });
  return reply.raw;
}

/** Writes to a stream's reader, and cuts it off when it does not read. */
export function writeBounded(response: ServerResponse, text: string): void {
  if (response.writableEnded || response.destroyed) return;
  response.write(text);
  if (response.writableLength > BUFFERED_BYTES_MAX) response.destroy();
}
