// Memory of the API's process with a thousand event streams that nothing happens on.
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryBytes } from '../reconcile/process-usage.js';
import { report } from '../report.js';
import { get } from './load.js';

const STREAMS = 1_000;
const OF_A_TOKEN = 32;
const MIB = 2 ** 20;
const TARGET_MIB = 100;
/** The process gives memory back to the system after a while only; what rises before that is not the streams'. */
const SETTLE_MS = 3_000;

type StreamLoad = { readonly port: number; readonly pid: number; readonly token: string };

export async function measureStreams({ port, pid, token }: StreamLoad): Promise<void> {
  const tokens: string[] = [];
  for (let made = 0; made * OF_A_TOKEN < STREAMS; made += 1) tokens.push(await newToken(port, token, made));
  await sleep(SETTLE_MS);
  const before = memoryBytes(pid);
  const sockets: net.Socket[] = [];
  for (let opened = 0; opened < STREAMS; opened += 1) {
    sockets.push(await openStream(port, tokens[Math.floor(opened / OF_A_TOKEN)] ?? token));
  }
  await sleep(SETTLE_MS);
  const value = (memoryBytes(pid) - before) / MIB;
  for (const socket of sockets) socket.destroy();
  const row = { bench: 'api', case: `${STREAMS} idle event streams` };
  report({ ...row, metric: 'memory', value, unit: 'MiB', target: TARGET_MIB, better: 'lower' });
}

async function newToken(port: number, token: string, number: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `stream-${number}` }),
  });
  const body: unknown = await answer.json();
  if (answer.status !== 201 || typeof body !== 'object' || body === null || !('token' in body)) {
    throw new Error(`a token was refused: ${JSON.stringify(body)}`);
  }
  return String(body.token);
}

function openStream(port: number, token: string): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => socket.write(get('/api/v1/events/stream', token)));
    socket.once('error', reject);
    socket.once('data', (head: Buffer) => {
      if (head.toString('latin1').startsWith('HTTP/1.1 200')) resolve(socket);
      else reject(new Error(`a stream was refused: ${head.toString('latin1')}`));
    });
  });
}
