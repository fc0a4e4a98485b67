/**
 * Clients that stop in the middle of something, on a volume with three real copies: no other client waits for them.
 */
import crypto from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Engine } from '../src/engine/engine.js';
import type { NbdClient } from '../src/nbd/client.js';
import { contiguous } from '../src/nbd/export.js';
import { MIB, modes, useClusters } from './engine-cluster.js';
import { ServedVolume } from './served-volume.js';

const stops: (() => unknown)[] = [];
// Before the clusters' own hook, which ends the copies.
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});
const clusters = useClusters();

async function served(): Promise<{ engine: Engine; volume: ServedVolume; client: NbdClient }> {
  const cluster = await clusters.cluster(3);
  const engine = await cluster.start(1);
  const volume = await ServedVolume.start(engine);
  stops.push(() => volume.stop());
  const client = await volume.connect();
  stops.push(() => client.close());
  return { engine, volume, client };
}

/** A connection by the oldest handshake, which needs no answer before the first request. */
async function raw({ port, exportName }: ServedVolume): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => socket.destroy());
  stops.push(() => socket.destroy());
  await once(socket, 'connect');
  const option = Buffer.from('\0\0\0\x03IHAVEOPT\0\0\0\x01\0\0\0\0', 'latin1');
  option.writeUInt32BE(exportName.length, 16);
  socket.write(Buffer.concat([option, Buffer.from(exportName)]));
  return socket;
}

function request(type: number, offset: number, lengthBytes: number): Buffer {
  const frame = Buffer.alloc(28);
  frame.writeUInt32BE(0x25609513, 0);
  frame.writeUInt16BE(type, 6);
  frame.writeUInt32BE(offset, 20);
  frame.writeUInt32BE(lengthBytes, 24);
  return frame;
}

async function writesAndReads(client: NbdClient, offset: number): Promise<void> {
  const data = crypto.randomBytes(MIB);
  await client.write(offset, [data], data.length, { fua: true });
  expect(contiguous(await client.read(offset, data.length)).equals(data)).toBe(true);
}

describe('a client that stops', () => {
  test('in the middle of a write delays no other client, and nothing of its write is done', async () => {
    const { engine, volume, client } = await served();
    const before = Buffer.alloc(4 * MIB, 1);
    await client.write(0, [before], before.length, { fua: false });
    const stalled = await raw(volume);
    stalled.write(Buffer.concat([request(1, 0, 4 * MIB), Buffer.alloc(3 * MIB, 2)]));
    await eventually(
      'most of the write has arrived',
      () => stalled.writableLength,
      (unsent) => unsent === 0,
    );
    // Over the same range, and elsewhere.
    expect(contiguous(await client.read(0, before.length)).equals(before)).toBe(true);
    await writesAndReads(client, MIB);
    await writesAndReads(await volume.connect(), 32 * MIB);
    stalled.destroy();
    await client.flush();
    expect(contiguous(await client.read(0, MIB)).equals(before.subarray(0, MIB))).toBe(true);
    expect(modes(engine)).toEqual(['RW', 'RW', 'RW']);
  });

  test('reading its replies delays no other client, on its volume or on another one', async () => {
    const { engine, volume, client } = await served();
    const other = await served();
    await client.write(0, [Buffer.alloc(16 * MIB, 1)], 16 * MIB, { fua: false });
    const stalled = await raw(volume);
    stalled.pause();
    for (let i = 0; i < 200; i += 1) stalled.write(request(0, 0, MIB));
    const held = () => Math.max(...volume.connections.map(({ unsentBytes }) => unsentBytes));
    await eventually('replies that the client does not fetch', held, (bytes) => bytes > 4 * MIB);
    for (let i = 0; i < 8; i += 1) {
      await writesAndReads(client, i * MIB);
      await writesAndReads(other.client, i * MIB);
    }
    // Sixteen may wait in the server, in addition to those that were in flight.
    expect(held()).toBeLessThan(16 * MIB + 65 * MIB);
    expect(modes(engine)).toEqual(['RW', 'RW', 'RW']);
    expect(modes(other.engine)).toEqual(['RW', 'RW', 'RW']);
  });

  test('in its handshake, or says nothing at all, delays no other client', async () => {
    const { volume, client } = await served();
    const silent = Array.from({ length: 200 }, () => net.connect(volume.port, '127.0.0.1'));
    for (const socket of silent) {
      socket.on('error', () => socket.destroy());
      stops.push(() => socket.destroy());
      socket.write(Buffer.from('\0\0\0\x03IHAVEOPT', 'latin1'));
    }
    await writesAndReads(client, 0);
    await writesAndReads(await volume.connect(), MIB);
  });
});
