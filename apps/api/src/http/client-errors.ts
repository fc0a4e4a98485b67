/**
 * Refusals before there is a request: bytes that are not HTTP, headers without an end, an incomplete request. Fastify does not run for
 * these, so the answer is written to the socket, as the usual problem document.
 */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { systemRandom } from '@holdfast/database/clock-and-random.js';
import type { ConnectionError } from 'fastify';
import { problemOf } from './problem.js';

type Refusal = { readonly status: number; readonly detail: string };

const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'address and headers together are longer than 16 KiB' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'the request was not received completely in time' },
};
const NO_HTTP: Refusal = { status: 400, detail: 'what was sent is no HTTP request' };

/** Fastify's `clientErrorHandler`. */
export function answerClientError(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable) socket.write(refusalOf(error.code));
  socket.destroy(error);
}

function refusalOf(code: string): string {
  const { status, detail } = REFUSALS[code] ?? NO_HTTP;
  const requestId = systemRandom.id();
  const fault = new StorageFault(status === 431 ? 'request.too_large' : 'request.invalid', {
    publicMessage: detail,
  });
  const body = JSON.stringify(problemOf(fault, requestId, status));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'x-content-type-options: nosniff',
    'cache-control: no-store',
    'connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
