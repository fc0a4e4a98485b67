import { EventEmitter, once } from 'node:events';
import net from 'node:net';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Channel, IpcPeer } from './ipc-peer.js';

type Methods = { take: { params: null; result: string } };

/** Two ends of a channel in one process: a message that one sends arrives at the other in a later turn. */
function channelPair(): [Channel, Channel] {
  const [near, far] = [new EventEmitter(), new EventEmitter()];
  const end = (own: EventEmitter, other: EventEmitter): Channel =>
    Object.assign(own, {
      send: (message: unknown, handle: net.Socket | undefined, callback: (error: Error | null) => void) => {
        setImmediate(() => other.emit('message', structuredClone(message), handle));
        callback(null);
        return true;
      },
    });
  return [end(near, far), end(far, near)];
}

let server: net.Server;
let client: net.Socket;
let served: net.Socket;
beforeEach(async () => {
  server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const accepted = once(server, 'connection');
  client = net.connect({ port: typeof address === 'object' ? (address?.port ?? 0) : 0, host: '127.0.0.1' });
  client.on('error', () => undefined);
  [served] = (await accepted) as [net.Socket];
});
afterEach(() => {
  client.destroy();
  served.destroy();
  server.close();
});

test('a connection that is passed along stays open where it is taken', async () => {
  const [near, far] = channelPair();
  new IpcPeer<Methods, Methods>(far).handle(
    'take',
    async (_params, socket) => `taken: ${socket !== undefined}`,
  );
  expect(await new IpcPeer<Methods, Methods>(near).call('take', null, served)).toBe('taken: true');
  expect(served.destroyed).toBe(false);
});

test('a connection that is passed along is closed where nobody takes it', async () => {
  const [near, far] = channelPair();
  new IpcPeer<Methods, Methods>(far).handle('take', async () => {
    throw new Error('the engine is gone');
  });
  const closed = once(client, 'close');
  await expect(new IpcPeer<Methods, Methods>(near).call('take', null, served)).rejects.toThrow();
  client.resume();
  await closed;
});

test('a call to a process that ends fails, and so does a later one', async () => {
  const emitter = new EventEmitter();
  const near: Channel = Object.assign(emitter, {
    send: (_message: unknown, _handle: unknown, callback: (error: Error | null) => void) => {
      callback(null);
      return true;
    },
  });
  const peer = new IpcPeer<Methods, Methods>(near);
  const call = peer.call('take', null);
  emitter.emit('disconnect');
  await expect(call).rejects.toMatchObject({ code: 'agent.unreachable' });
  await expect(peer.call('take', null)).rejects.toMatchObject({ code: 'agent.unreachable' });
});

test('a fault keeps its code and the epoch that it names', async () => {
  const [near, far] = channelPair();
  new IpcPeer<Methods, Methods>(far).handle('take', async () => {
    throw new StorageFault('engine.stale_epoch', { publicMessage: 'too old', context: { newest: 7 } });
  });
  await expect(new IpcPeer<Methods, Methods>(near).call('take', null)).rejects.toMatchObject({
    code: 'engine.stale_epoch',
    details: { context: { newest: 7 } },
  });
});
