import { once } from 'node:events';
import net from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Listener } from './listener.js';

/** Takes connections, and says nothing until they end. */
let server: net.Server;
let url: string;
beforeEach(async () => {
  server = net.createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  url = `postgres://holdfast@127.0.0.1:${address.port}/holdfast`;
});
afterEach(() => void server.close());

function listen(troubles: unknown[] = []): Listener {
  return new Listener({
    url,
    applicationName: 'test',
    channels: ['change'],
    onNotification: () => undefined,
    onConnected: () => undefined,
    onTrouble: (error) => troubles.push(error),
  });
}

test('a listener that is stopped while it connects has stopped, without trouble', async () => {
  const troubles: unknown[] = [];
  const listener = listen(troubles);
  const [accepted] = (await once(server, 'connection')) as [net.Socket];
  await once(accepted, 'data');
  await listener.stop();
  expect([listener.isConnected, troubles]).toEqual([false, []]);
});

test('a listener whose connection is cut while it connects tries again', async () => {
  const troubles: unknown[] = [];
  const listener = listen(troubles);
  const [first] = (await once(server, 'connection')) as [net.Socket];
  first.destroy();
  await once(server, 'connection');
  expect(troubles).not.toEqual([]);
  await listener.stop();
});
