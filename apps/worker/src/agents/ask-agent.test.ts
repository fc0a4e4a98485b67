import net from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { askAgent } from './ask-agent.js';

const servers: net.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(
  port = 0,
  onConnection = (socket: net.Socket) => void socket.destroy(),
): Promise<string> {
  const server = net.createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  servers.push(server);
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

/** The address of an agent on this machine, whose port is closed. */
async function closedUrl(): Promise<string> {
  const url = await listen();
  const server = servers.pop();
  await new Promise((resolve) => server?.close(resolve));
  return url;
}

test('an agent is gone whose port is closed', async () => {
  expect(await askAgent(await closedUrl())).toBe('gone');
});

test.each([
  { what: 'closes it', onConnection: (socket: net.Socket) => void socket.destroy() },
  { what: 'says no HTTP', onConnection: (socket: net.Socket) => void socket.end('hello\n') },
  {
    what: 'is not well',
    onConnection: (socket: net.Socket) => void socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n'),
  },
])('one that takes the connection and $what is there', async ({ onConnection }) => {
  expect(await askAgent(await listen(0, onConnection))).toBe('answers');
});

test('one whose successor listens a moment later is there', async () => {
  const url = await closedUrl();
  const asked = askAgent(url);
  setTimeout(() => void listen(Number(new URL(url).port)), 50);
  expect(await asked).toBe('answers');
});

test('one that takes the connection and says nothing is silent, as a stopped process is', async () => {
  const sockets: net.Socket[] = [];
  const url = await listen(0, (socket) => void sockets.push(socket));
  expect(await askAgent(url)).toBe('silent');
  for (const socket of sockets) socket.destroy();
});

test('of a name that is not known, and of an unknown address, nothing is heard', async () => {
  expect(await askAgent('http://no-such-agent.invalid:7500')).toBe('silent');
  expect(await askAgent(undefined)).toBe('silent');
});
