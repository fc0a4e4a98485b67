/**
 * JSON over HTTP: the client side of the control channel, and of heartbeats. Node's own client, because host processes
 * should not carry a larger one; connections are kept open between calls.
 */
import http from 'node:http';
import https from 'node:https';
import { MIB } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { systemCode } from '@holdfast/data-engine/base/system-error.js';

/** Largest answer that is read, in bytes. Agents and the API send less; a longer one did not come from them. */
const ANSWER_BYTES_MAX = 4 * MIB;

const agents = {
  'http:': new http.Agent({ keepAlive: true, maxSockets: 64, maxFreeSockets: 8 }),
  'https:': new https.Agent({ keepAlive: true, maxSockets: 64, maxFreeSockets: 8 }),
};

export type JsonAnswer = { status: number; body: unknown };

/**
 * Sends a call that is safe to repeat, and repeats it once if the other side closed a kept-alive connection just as it
 * was used again.
 *
 * @param bearer secret that the call carries; `undefined`: none
 * @param connections those to use for HTTPS, with the certificate that they show; left out: plain ones
 * @throws StorageFault `agent.unreachable` when there is no complete answer in time
 */
export async function postJson(
  url: string,
  bearer: string | undefined,
  body: unknown,
  timeoutMs: number,
  connections?: https.Agent,
): Promise<JsonAnswer> {
  const call = { target: new URL(url), bearer, text: JSON.stringify(body), timeoutMs, connections };
  try {
    return await send(call).catch((error: unknown) => {
      if (error instanceof StaleConnection) return send(call);
      throw error;
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new StorageFault('agent.unreachable', {
      publicMessage: `${call.target.host} does not answer: ${message}`,
      cause: error,
    });
  }
}

/** The other side had closed the connection before it read the call. */
class StaleConnection extends Error {}

type Call = {
  target: URL;
  bearer: string | undefined;
  text: string;
  timeoutMs: number;
  connections: https.Agent | undefined;
};

function send({ target, bearer, text, timeoutMs, connections }: Call): Promise<JsonAnswer> {
  const secure = target.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const headers = {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    };
    const agent = secure ? (connections ?? agents['https:']) : agents['http:'];
    const request = (secure ? https : http).request(target, { method: 'POST', agent, headers });
    const giveUp = setTimeout(() => {
      const error = new Error(`no answer within ${timeoutMs} ms`);
      // Rejected here too: a request that still waits for a free connection reports its end only when it gets one.
      reject(error);
      request.destroy(error);
    }, timeoutMs);
    request.on('response', (response) => {
      readAnswer(response)
        .then(resolve, reject)
        .finally(() => clearTimeout(giveUp));
    });
    request.on('error', (error) => {
      clearTimeout(giveUp);
      const isStale = request.reusedSocket && systemCode(error) === 'ECONNRESET';
      reject(isStale ? new StaleConnection(error.message) : error);
    });
    request.end(text);
  });
}

async function readAnswer(response: http.IncomingMessage): Promise<JsonAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    // The cast: Node types the stream's chunks as any; without an encoding they are buffers.
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > ANSWER_BYTES_MAX) throw new Error('the answer is too long');
    chunks.push(bytes);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  return { status: response.statusCode ?? 0, body: parse(text) };
}

function parse(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the answer is not JSON');
  }
}

/** Same host and port over TLS: the other side detects TLS by the first byte of a connection. */
export function overTls(url: string): string {
  const { protocol, hostname, port, pathname } = new URL(url);
  const implied = protocol === 'https:' ? '443' : '80';
  return `https://${hostname}:${port === '' ? implied : port}${pathname.replace(/\/+$/, '')}`;
}
