/**
 * Sends one request with Node's `http`. Node's own `fetch` does the same, but takes longer to load than the rest of a command: 0.1 s of
 * processor time for its compiled parser.
 */
import http from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

/** Statuses of answers without a body, which `Response` takes none for. */
const EMPTY_STATUSES = new Set([204, 205, 304]);

/**
 * @param timeoutMs for the whole answer
 * @throws Error as Node's `http` has it, or a `TimeoutError`, if there is no answer
 */
export async function sendOnce(request: Request, timeoutMs: number): Promise<Response> {
  const url = new URL(request.url);
  const client = url.protocol === 'https:' ? await import('node:https') : http;
  const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
  const headers = Object.fromEntries(request.headers);
  if (body !== undefined) headers['content-length'] = String(body.length);
  const signal = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const outgoing = client.request(url, { method: request.method, headers, signal }, (answer) =>
      resolve(responseOf(answer)),
    );
    // Node reports the end of the time as an abort of its own, and why as the signal's reason.
    outgoing.on('error', (error) => reject(signal.aborted ? signal.reason : error));
    outgoing.end(body);
  });
}

function responseOf(answer: http.IncomingMessage): Response {
  // Always there for an answer that a client has received.
  const status = answer.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, values] of Object.entries(answer.headersDistinct))
    for (const value of values ?? []) headers.append(name, value);
  if (EMPTY_STATUSES.has(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  // The same type at run time; Node and the standard's library declare it separately.
  const body = Readable.toWeb(answer) as ReadableStream<Uint8Array> as globalThis.ReadableStream;
  return new Response(body, { status, headers });
}
