import { once } from 'node:events';
import net from 'node:net';
import { KIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterEach, expect, test } from '@jest/globals';
import { MemoryExport } from '../../test/memory-export.js';
import { NbdClient } from './client.js';
import { Command, REQUEST_BYTES, REQUEST_MAGIC, SIMPLE_REPLY_BYTES } from './constants.js';
import type { Payload } from './export.js';
import { NbdServer, serveExport } from './server.js';
import { NbdServerConnection } from './server-connection.js';
import { Intake } from './taken-over.js';

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** Retains the bytes that it is given, like a copy that has not answered yet. */
class KeepingExport extends MemoryExport {
  readonly kept: Payload[] = [];

  override async write(offset: number, payload: Payload): Promise<void> {
    this.kept.push(payload);
    await super.write(offset, payload);
  }
}

/** A client at an NBD server, and the server's end of its connection. */
async function connect(device: MemoryExport): Promise<{ client: NbdClient; accepted: net.Socket }> {
  const ends: net.Socket[] = [];
  const server = new NbdServer({
    directory: { describe: () => device },
    accept: (socket, negotiated, rest) => {
      ends.push(socket);
      serveExport(socket, negotiated, rest, device);
    },
  });
  const { port } = await server.listen('127.0.0.1', 0);
  stops.push(() => server.close());
  const client = await NbdClient.connect({ host: '127.0.0.1', port, exportName: 'disk' }, 5000);
  stops.push(() => client.destroy(new Error('the test has ended')));
  const [accepted] = ends;
  if (accepted === undefined) throw new Error('the server has accepted nothing');
  return { client, accepted };
}

test('small requests that come one by one lie in the same memory, each with its own bytes', async () => {
  const device = new KeepingExport(1024 * KIB);
  const { client } = await connect(device);
  const count = 64;
  for (let index = 0; index < count; index += 1) {
    const data = Buffer.alloc(4 * KIB, index);
    await client.write(index * data.length, [data], data.length, { fua: false });
  }
  const pieces = device.kept.flat();
  expect(new Set(pieces.map(({ buffer }) => buffer)).size).toBeLessThan(count / 2);
  const isOwn = device.kept.map((payload, index) =>
    payload.every((piece) => piece.every((byte) => byte === index)),
  );
  expect(isOwn).toEqual(isOwn.map(() => true));
});

test('what arrived before the connection was taken over is served first', async () => {
  const device = new MemoryExport(64 * KIB);
  const options = { structuredReplies: false, allocationContext: false };
  const server = net.createServer(async (socket) => {
    await eventually(
      'a request',
      async () => socket.readableLength,
      (bytes) => bytes > 0,
    );
    new NbdServerConnection(socket, device, options).start(Buffer.from('hello'), Buffer.alloc(0));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(() => void server.close());
  // The cast: a server that listens on TCP has an address of this kind.
  const client = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
  stops.push(() => void client.destroy());
  client.write(flushRequest());
  const [chunk] = await once(client, 'data');
  expect(String(chunk).startsWith('hello')).toBe(true);
  await eventually(
    'the answer',
    async () => client.bytesRead,
    (bytes) => bytes === 5 + SIMPLE_REPLY_BYTES,
  );
});

test('the socket that accepted a connection ends it, and ends with it', async () => {
  const ended = await connect(new MemoryExport(64 * KIB));
  const closed = new Promise((resolve) => ended.client.onClose(resolve));
  ended.accepted.destroy();
  await closed;

  const left = await connect(new MemoryExport(64 * KIB));
  const close = once(left.accepted, 'close');
  left.client.destroy(new Error('the client leaves'));
  await close;
});

test('a connection has little memory until much arrives within a second, and again when less does', () => {
  let nowMs = 0;
  const intake = new Intake({ nowMs: () => nowMs });
  const sizes: number[] = [];
  for (const tookMs of [5000, 999, 999, 5000, 5000]) {
    sizes.push(intake.room().length / KIB);
    nowMs += tookMs;
    intake.take(intake.room().length);
  }
  expect(sizes).toEqual([16, 16, 256, 256, 16]);
});

test('no two reads get the same bytes of memory', () => {
  const intake = new Intake({ nowMs: () => 0 });
  const taken: Buffer[] = [];
  for (let index = 0; index < 300; index += 1) {
    const length = Math.min(intake.room().length, 7 * KIB);
    intake.room().fill(index % 256, 0, length);
    taken.push(intake.take(length));
  }
  expect(taken.every((bytes, index) => bytes.every((byte) => byte === index % 256))).toBe(true);
});

function flushRequest(): Buffer {
  const frame = Buffer.alloc(REQUEST_BYTES);
  frame.writeUInt32BE(REQUEST_MAGIC, 0);
  frame.writeUInt16BE(Command.Flush, 6);
  return frame;
}
