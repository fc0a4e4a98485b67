/** Reads whose bytes are received right where the caller wants them: what lands there, and when it no longer may. */
import crypto from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { KIB, MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MemoryExport } from '../../test/memory-export.js';
import { serveOnPort } from '../../test/serve-export.js';
import { NbdClient } from './client.js';
import { contiguous } from './export.js';
import { connectTo } from './incoming.js';
import { ReadAssembly } from './read-assembly.js';

const WINDOW_BYTES = 4 * MIB;

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

describe('reads into memory of the caller', () => {
  test('are filled with what other reads of the same connection give, whatever is between them', async () => {
    const device = new MemoryExport(32 * MIB);
    await device.write(0, [crypto.randomBytes(24 * MIB)]);
    const { client } = await served(device);
    // Far more than the kernel buffers, so that some bytes come with the heads of replies and most in pieces of their own.
    const windows = Array.from({ length: 6 }, () => Buffer.alloc(WINDOW_BYTES, 0xee));
    const [small] = await Promise.all([
      client.read(12_288, 4 * KIB),
      ...windows.map((window, index) =>
        client.readEachInto([{ offset: index * WINDOW_BYTES, buffer: window }]),
      ),
      client.blockStatus(0, 32 * MIB, 10),
    ]);
    expect(Buffer.concat(windows).equals(device.bytes.subarray(0, 24 * MIB))).toBe(true);
    expect(contiguous(small).equals(device.bytes.subarray(12_288, 16_384))).toBe(true);
    const rest = Buffer.alloc(100, 0xee);
    await client.readEachInto([{ offset: 24 * MIB - 50, buffer: rest }]);
    expect(rest.equals(device.bytes.subarray(24 * MIB - 50, 24 * MIB + 50))).toBe(true);
  });

  test('keep their refusals apart from the reads beside them', async () => {
    const device = new MemoryExport(8 * MIB);
    await device.write(0, [crypto.randomBytes(8 * MIB)]);
    const { client } = await served(device);
    const window = Buffer.alloc(WINDOW_BYTES);
    const [refused] = await Promise.allSettled([
      client.readEachInto([{ offset: 6 * MIB, buffer: Buffer.alloc(WINDOW_BYTES) }]),
      client.readEachInto([{ offset: 0, buffer: window }]),
    ]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { name: 'NbdError' } });
    expect(window.equals(device.bytes.subarray(0, WINDOW_BYTES))).toBe(true);
  });

  test.each([
    { way: 'close', lengthBytes: WINDOW_BYTES },
    { way: 'destroy', lengthBytes: WINDOW_BYTES },
    // Too few bytes to be received on their own.
    { way: 'close', lengthBytes: 48 * KIB },
  ] as const)(
    'after $way nothing is received into $lengthBytes bytes any more, although the server goes on',
    async ({ way, lengthBytes }) => {
      const device = new MemoryExport(8 * MIB);
      await device.write(0, [Buffer.alloc(8 * MIB, 0xaa)]);
      const { client, relay } = await served(device);
      relay.limitBytes = relay.passedBytes + lengthBytes / 4;
      const window = Buffer.alloc(lengthBytes);
      const read = client.readEachInto([{ offset: 0, buffer: window }]);
      await eventually(
        'the first bytes',
        () => window[0],
        (byte) => byte === 0xaa,
      );
      expect(window.at(-1)).toBe(0);
      if (way === 'close') client.close();
      else client.destroy(new Error('not wanted'));
      await expect(read).rejects.toThrow();
      window.fill(0x11);
      relay.goOn();
      await relay.ended;
      expect(window.equals(Buffer.alloc(lengthBytes, 0x11))).toBe(true);
    },
  );

  test('several reads end when the last one has, also where the first was refused', async () => {
    const device = new MemoryExport(8 * MIB);
    await device.write(0, [Buffer.alloc(8 * MIB, 0xaa)]);
    const { client, relay } = await served(device);
    relay.limitBytes = relay.passedBytes + 16 * KIB;
    const [refused, last] = [Buffer.alloc(4 * KIB), Buffer.alloc(64 * KIB)];
    let hasEnded = false;
    const reads = client.readEachInto([
      { offset: 8 * MIB, buffer: refused },
      { offset: 0, buffer: last },
    ]);
    const ended = reads.catch((error: unknown) => error).finally(() => (hasEnded = true));
    await eventually(
      'the first bytes',
      () => last[0],
      (byte) => byte === 0xaa,
    );
    expect([hasEnded, client.inFlight]).toEqual([false, 1]);
    relay.goOn();
    expect(await ended).toMatchObject({ name: 'NbdError' });
    expect(last.equals(Buffer.alloc(last.length, 0xaa))).toBe(true);
    await client.readEachInto([]);
  });
});

test('holes are cleared there, and a reply without chunks is put there as well', () => {
  const memory = Buffer.alloc(8 * KIB, 0xee);
  const chunks = new ReadAssembly(0, memory.length, memory);
  expect(chunks.place(4 * KIB, 4 * KIB)).toBe(4 * KIB);
  chunks.hole(0, 4 * KIB);
  chunks.requireWhole();
  expect(memory.equals(Buffer.concat([Buffer.alloc(4 * KIB), Buffer.alloc(4 * KIB, 0xee)]))).toBe(true);
  const whole = new ReadAssembly(0, memory.length, memory);
  whole.whole([Buffer.alloc(4 * KIB, 1), Buffer.alloc(4 * KIB, 2)]);
  whole.requireWhole();
  expect(memory.equals(Buffer.concat([Buffer.alloc(4 * KIB, 1), Buffer.alloc(4 * KIB, 2)]))).toBe(true);
});

test('a connection receives into the place that it is told, and into slabs again afterwards', async () => {
  const server = await listening(net.createServer({ noDelay: true }));
  const accepted = once(server, 'connection');
  const { socket, incoming } = connectTo('127.0.0.1', portOf(server));
  stops.push(() => socket.destroy());
  const memory = Buffer.alloc(256 * KIB);
  let place = memory;
  const others: Buffer[] = [];
  incoming.receive = (chunk) => others.push(Buffer.from(chunk));
  incoming.destination = () => (place.length > 0 ? place : undefined);
  incoming.landed = (count) => {
    place = place.subarray(count);
  };
  // The cast: what a server of TCP connections gives.
  const [peer] = (await accepted) as [net.Socket];
  stops.push(() => peer.destroy());
  const sent = crypto.randomBytes(300 * KIB);
  // The place of the very first bytes was chosen before anything was known of them.
  peer.write('!');
  await eventually(
    'the first byte',
    () => others.length,
    (count) => count === 1,
  );
  peer.end(sent);
  await once(socket, 'close');
  expect(memory.equals(sent.subarray(0, memory.length))).toBe(true);
  expect(Buffer.concat(others).subarray(1).equals(sent.subarray(memory.length))).toBe(true);
});

/** Passes bytes on between a client and a server. */
type Relay = {
  readonly port: number;
  /** Holds the server's bytes back once so many were passed on. */
  limitBytes: number;
  passedBytes: number;
  readonly goOn: () => void;
  /** Resolves when the client has closed its connection. */
  readonly ended: Promise<unknown>;
};

async function served(device: MemoryExport): Promise<{ client: NbdClient; relay: Relay }> {
  const { port, stop } = await serveOnPort(device);
  stops.push(stop);
  const relay = await relayTo(port);
  const client = await NbdClient.connect({ host: '127.0.0.1', port: relay.port, exportName: 'd' }, 5000);
  stops.push(() => client.close());
  return { client, relay };
}

async function relayTo(port: number): Promise<Relay> {
  const server = net.createServer({ noDelay: true });
  let goOn: () => void = () => undefined;
  const ended = once(server, 'connection').then(([near]: net.Socket[]) => {
    if (near === undefined) throw new Error('a connection without a socket');
    const far = net.connect({ host: '127.0.0.1', port, noDelay: true });
    for (const socket of [near, far]) {
      socket.on('error', () => undefined);
      stops.push(() => socket.destroy());
    }
    near.pipe(far);
    far.on('data', (chunk: Buffer) => {
      const passed = chunk.subarray(0, Math.max(0, relay.limitBytes - relay.passedBytes));
      relay.passedBytes += passed.length;
      near.write(passed);
      if (passed.length === chunk.length) return;
      far.pause();
      far.unshift(chunk.subarray(passed.length));
    });
    goOn = () => {
      relay.limitBytes = Number.POSITIVE_INFINITY;
      far.resume();
    };
    return new Promise((resolve) => near.once('close', resolve));
  });
  await listening(server);
  const limitBytes = Number.POSITIVE_INFINITY;
  const relay = { port: portOf(server), limitBytes, passedBytes: 0, goOn: () => goOn(), ended };
  return relay;
}

async function listening(server: net.Server): Promise<net.Server> {
  server.listen(0, '127.0.0.1');
  stops.push(() => server.close());
  await once(server, 'listening');
  return server;
}

function portOf(server: net.Server): number {
  // The cast: a server that listens on TCP has such an address.
  return (server.address() as net.AddressInfo).port;
}
