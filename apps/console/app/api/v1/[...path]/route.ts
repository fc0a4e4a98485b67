/**
 * Passes the browser's calls on to the API, so that both share one origin: the session's cookie stays first-party and
 * the API's address is read when the console starts, not when it is built. Bodies and event streams pass unbuffered.
 */
import { askApi } from '../../../../src/api/ask-api';

const API_ORIGIN = process.env.HOLDFAST_API_ORIGIN ?? 'http://127.0.0.1:7400';

/** As much as the API reads of a user's request. */
const BODY_BYTES_MAX = 256 * 1024;

/** Headers of one connection, which must not travel to the next (RFC 9110 section 7.6.1), and what fetch sets itself. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'content-encoding',
];

async function pass(request: Request): Promise<Response> {
  const url = new URL(request.url);
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  try {
    const answer = await askApi(`${API_ORIGIN}${url.pathname}${url.search}`, {
      method: request.method,
      // Who asks, by which host and protocol, is in there since server.mjs.
      headers: withoutHopByHop(request.headers),
      body: hasBody ? await bounded(request) : null,
      signal: request.signal,
      redirect: 'manual',
      cache: 'no-store',
    });
    return new Response(answer.body, { status: answer.status, headers: withoutHopByHop(answer.headers) });
  } catch (error) {
    return error instanceof TooLarge ? tooLarge() : unreachable();
  }
}

class TooLarge extends Error {}

/** The body, up to the API's limit. Nothing of a larger one is kept, whatever the sender. */
async function bounded(request: Request): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request.body ?? []) {
    bytes += part.byteLength;
    if (bytes > BODY_BYTES_MAX) throw new TooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function tooLarge(): Response {
  const problem = {
    type: 'about:blank',
    title: 'The request is too large',
    status: 413,
    code: 'request.too_large',
    detail: `A request may have ${BODY_BYTES_MAX} bytes.`,
  };
  return Response.json(problem, { status: 413, headers: { 'content-type': 'application/problem+json' } });
}

function withoutHopByHop(headers: Headers): Headers {
  const copy = new Headers(headers);
  for (const name of HOP_BY_HOP) copy.delete(name);
  return copy;
}

function unreachable(): Response {
  const problem = {
    type: 'about:blank',
    title: 'The API does not answer',
    status: 502,
    code: 'console.api_unreachable',
    detail: 'The console runs, but the API behind it does not answer. It is probably being restarted.',
  };
  return Response.json(problem, { status: 502, headers: { 'content-type': 'application/problem+json' } });
}

export const dynamic = 'force-dynamic';
export { pass as DELETE, pass as GET, pass as PATCH, pass as POST, pass as PUT };
