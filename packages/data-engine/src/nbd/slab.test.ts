import crypto from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { MemoryExport } from '../../test/memory-export.js';
import { ByteQueue } from './byte-queue.js';
import { NbdClient } from './client.js';
import { contiguous, type Payload } from './export.js';
import { NbdServer, serveExport } from './server.js';
import { SLAB_BYTES, Slab } from './slab.js';

const KIB = 1024;
const SIZE_BYTES = 8 * 1024 * KIB;

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function clientOf(device: MemoryExport): Promise<NbdClient> {
  const server = new NbdServer({
    directory: { describe: () => device },
    accept: (socket, negotiated, rest) => {
      stops.push(() => void socket.destroy());
      serveExport(socket, negotiated, rest, device);
    },
  });
  const { port } = await server.listen('127.0.0.1', 0);
  stops.push(() => server.close());
  const client = await NbdClient.connect({ host: '127.0.0.1', port, exportName: 'disk' }, 5000);
  stops.push(() => client.destroy(new Error('the test has ended')));
  return client;
}

test('a payload keeps its bytes until it is released, whatever arrives and is released around it', async () => {
  const device = new MemoryExport(SIZE_BYTES);
  const content = crypto.randomBytes(SIZE_BYTES);
  await device.write(0, [content]);
  const client = await clientOf(device);
  const kept: { payload: Payload; offset: number; lengthBytes: number }[] = [];
  const sameAsWritten = ({ payload, offset, lengthBytes }: (typeof kept)[number]) =>
    contiguous(payload).equals(content.subarray(offset, offset + lengthBytes));
  for (let round = 0; round < 200; round += 1) {
    const reads = Array.from({ length: 8 }, async () => {
      const lengthBytes = crypto.randomInt(1, round % 10 === 0 ? 600 * KIB : 24 * KIB);
      const offset = crypto.randomInt(SIZE_BYTES - lengthBytes);
      return { payload: await client.read(offset, lengthBytes), offset, lengthBytes };
    });
    kept.push(...(await Promise.all(reads)));
    while (kept.length > 12) {
      const [one] = kept.splice(crypto.randomInt(kept.length), 1);
      if (one === undefined) break;
      expect(sameAsWritten(one)).toBe(true);
      // Some holders never release: their slabs must not come back either.
      if (crypto.randomInt(4) > 0) one.payload.release?.();
    }
  }
  expect(kept.every(sameAsWritten)).toBe(true);
});

test('released payloads give their memory back: thousands of reads fill the same few slabs', async () => {
  const device = new MemoryExport(SIZE_BYTES);
  const client = await clientOf(device);
  const memory = new Set<ArrayBufferLike>();
  for (let index = 0; index < 500; index += 1) {
    const payload = await client.read((index % 16) * 256 * KIB, 256 * KIB);
    for (const { buffer } of payload) memory.add(buffer);
    payload.release?.();
  }
  // One of them is filled while the bytes of the one before are still in use.
  expect(memory.size).toBeLessThanOrEqual(4);
});

test('a second release of the same payload changes nothing', () => {
  const slab = Slab.take();
  const queue = new ByteQueue();
  slab.hold();
  queue.push(slab.buffer.subarray(0, 10), slab);
  const first = queue.takePayload(4);
  const second = queue.takePayload(6);
  first.release?.();
  first.release?.();
  expect(slab.isUnused).toBe(false);
  second.release?.();
  expect(slab.isUnused).toBe(true);
});

test('a slab is given out again only when it is retired and unused', () => {
  const slab = Slab.take();
  slab.hold();
  slab.retire();
  const other = Slab.take();
  expect(other).not.toBe(slab);
  slab.release();
  expect(Slab.take()).toBe(slab);
  expect(slab.buffer).toHaveLength(SLAB_BYTES);
});
