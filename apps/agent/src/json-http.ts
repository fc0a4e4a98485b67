/**
 * JSON over HTTP in both directions of the control channel. Node's own client, because host processes should not
 * carry a larger one; connections are kept open between calls.
 */
import http from 'node:http';
import https from 'node:https';
import { MIB } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';

/** Answers are small; what is longer did not come from one of ours. */
const ANSWER_BYTES_MAX = 4 * MIB;

const agents = {
  'http:': new http.Agent({ keepAlive: true, maxSockets: 64, maxFreeSockets: 8 }),
  'https:': new https.Agent({ keepAlive: true, maxSockets: 64, maxFreeSockets: 8 }),
};

export type JsonAnswer = { status: number; body: unknown };

/** @throws StorageFault `agent.unreachable` when there is no complete answer in time. */
export function postJson(url: string, bearer: string, body: unknown, timeoutMs: number): Promise<JsonAnswer> {
  const target = new URL(url);
  const secure = target.protocol === 'https:';
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(
        new StorageFault('agent.unreachable', {
          publicMessage: `${target.host} does not answer: ${error.message}`,
          cause: error,
        }),
      );
    const request = (secure ? https : http).request(
      target,
      {
        method: 'POST',
        agent: secure ? agents['https:'] : agents['http:'],
        headers: {
          authorization: `Bearer ${bearer}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        },
      },
      (response) => {
        readAnswer(response)
          .then(resolve, fail)
          .finally(() => clearTimeout(giveUp));
      },
    );
    const giveUp = setTimeout(
      () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
    request.on('error', (error) => {
      clearTimeout(giveUp);
      fail(error);
    });
    request.end(text);
  });
}

async function readAnswer(response: http.IncomingMessage): Promise<JsonAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    // Node types the stream's chunks as any; without an encoding they are buffers.
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
