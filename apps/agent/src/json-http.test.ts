import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { postJson } from './json-http.js';

const sockets = new Set<net.Socket>();
const silent = net.createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined);
});

afterAll(() => {
  for (const socket of sockets) socket.destroy();
  silent.close();
});

test('a call that waits for a free connection to a silent peer ends within its own limit', async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  // A server that listens on TCP has an address of this kind.
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  // More than there are connections for one peer.
  const slow = Array.from({ length: 70 }, () => postJson(url, 'secret', {}, 20_000).catch(() => undefined));
  const startedAtMs = performance.now();
  await expect(postJson(url, 'secret', {}, 300)).rejects.toMatchObject({ code: 'agent.unreachable' });
  expect(performance.now() - startedAtMs).toBeLessThan(15_000);
  for (const socket of sockets) socket.destroy();
  await Promise.all(slow);
});

test.each([
  { what: 'longer than any agent sends', bytes: 4 * 1024 * 1024 + 3, outcome: 'agent.unreachable' },
  { what: 'as long as the limit', bytes: 4 * 1024 * 1024, outcome: 200 },
])('an answer $what', async ({ bytes, outcome }) => {
  const server = http.createServer((_request, response) => {
    response.on('error', () => undefined);
    response.end(`"${'x'.repeat(bytes - 2)}"`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const answer = await postJson(url, undefined, {}, 60_000).then(
    ({ status }) => status,
    ({ code }) => code,
  );
  server.closeAllConnections();
  server.close();
  expect(answer).toBe(outcome);
});
