import crypto from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Connection, connectTo } from './incoming.js';

const KIB = 1024;
const MIB = 1024 * KIB;

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0).reverse()) stop();
});

/** Both ends of a connection, and everything that has arrived at ours. */
async function connected(): Promise<Connection & { peer: net.Socket; chunks: Buffer[] }> {
  const server = net.createServer({ noDelay: true }).listen(0, '127.0.0.1');
  stops.push(() => server.close());
  await once(server, 'listening');
  // The cast: a TCP server that listens has such an address.
  const { port } = server.address() as net.AddressInfo;
  const accepted = once(server, 'connection');
  const connection = connectTo('127.0.0.1', port);
  const chunks: Buffer[] = [];
  connection.incoming.receive = (chunk) => chunks.push(chunk);
  const [peer] = (await accepted) as [net.Socket];
  stops.push(() => {
    connection.socket.destroy();
    peer.destroy();
  });
  return { ...connection, peer, chunks };
}

const bytesOf = (chunks: readonly Buffer[]) => chunks.reduce((sum, { length }) => sum + length, 0);

function arrived(chunks: readonly Buffer[], bytes: number): Promise<number> {
  return eventually(
    `${bytes} bytes`,
    () => bytesOf(chunks),
    (count) => count >= bytes,
  );
}

describe('bytes of a connection that was made here', () => {
  test('stay as they arrived for as long as they are kept', async () => {
    const { peer, chunks } = await connected();
    const sent = crypto.randomBytes(8 * MIB);
    for (let at = 0, step = 1; at < sent.length; at += step, step = Math.min(step * 2, 3 * MIB))
      peer.write(sent.subarray(at, at + step));
    await arrived(chunks, sent.length);
    expect(Buffer.concat(chunks).equals(sent)).toBe(true);
  });

  test('share memory while they are few', async () => {
    const { peer, chunks } = await connected();
    for (let reply = 1; reply <= 10; reply += 1) {
      peer.write(Buffer.alloc(16, reply));
      await arrived(chunks, reply * 16);
    }
    expect(new Set(chunks.map(({ buffer }) => buffer)).size).toBe(1);
  });

  test('wait in the kernel while the socket is paused', async () => {
    const { socket, peer, chunks } = await connected();
    peer.write('first');
    await arrived(chunks, 5);
    socket.pause();
    const sent = crypto.randomBytes(32 * MIB);
    peer.write(sent);
    // Far more than the kernel buffers for a connection: unread bytes stay with the sender.
    await once(peer, 'drain', { signal: AbortSignal.timeout(200) }).catch(() => undefined);
    expect(bytesOf(chunks)).toBe(5);
    expect(peer.writableLength).toBeGreaterThan(0);
    socket.resume();
    await arrived(chunks, 5 + sent.length);
    expect(Buffer.concat(chunks).subarray(5).equals(sent)).toBe(true);
  });

  test('end with the connection', async () => {
    const { socket, peer, chunks } = await connected();
    const closed = once(socket, 'close');
    peer.end('last words');
    await closed;
    expect(Buffer.concat(chunks).toString()).toBe('last words');
  });
});
