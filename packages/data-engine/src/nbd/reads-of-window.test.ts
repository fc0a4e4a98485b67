/** Reads of one window that arrive together, on a device that makes them as one: they are answered each on its own. */
import crypto from 'node:crypto';
import { KIB, MIB } from '@holdfast/core/model/bytes.js';
import { afterEach, expect, test } from '@jest/globals';
import { MemoryExport } from '../../test/memory-export.js';
import { serveOnPort } from '../../test/serve-export.js';
import { NbdClient } from './client.js';
import { NbdErrno } from './constants.js';
import { NbdError } from './errors.js';
import { type ByteSpan, type Payload, pooledPayload } from './export.js';

const BLOCK_BYTES = 4 * KIB;

class RangesExport extends MemoryExport {
  /** Number of ranges per request. */
  readonly asked: number[] = [];
  released = 0;
  /** Where nothing can be read. */
  brokenAt: number | undefined;

  override async read(offset: number, lengthBytes: number): Promise<Payload> {
    if (offset === this.brokenAt) throw new NbdError(NbdErrno.Io, 'broken');
    return super.read(offset, lengthBytes);
  }

  async readRanges(ranges: readonly ByteSpan[]): Promise<Payload> {
    this.asked.push(ranges.length);
    if (ranges.some(({ offset }) => offset === this.brokenAt)) throw new Error('broken');
    const pieces = ranges.map(({ offset, lengthBytes }) => this.bytes.subarray(offset, offset + lengthBytes));
    return pooledPayload(pieces, () => {
      this.released += 1;
    });
  }
}

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function served(): Promise<{ device: RangesExport; client: NbdClient }> {
  const device = new RangesExport(16 * MIB);
  await device.write(0, [crypto.randomBytes(16 * MIB)]);
  const { port, stop } = await serveOnPort(device);
  stops.push(stop);
  const client = await NbdClient.connect({ host: '127.0.0.1', port, exportName: 'd' }, 5000);
  stops.push(() => client.close());
  return { device, client };
}

const readsOf = (offsets: readonly number[], lengthBytes = BLOCK_BYTES) =>
  offsets.map((offset) => ({ offset, buffer: Buffer.alloc(lengthBytes) }));

test.each([
  { name: 'small ones, whose replies leave as one message', lengthBytes: BLOCK_BYTES },
  { name: 'large ones', lengthBytes: 512 * KIB },
])('of several windows: $name', async ({ lengthBytes }) => {
  const { device, client } = await served();
  const reads = readsOf([0, MIB, 3 * MIB, 4 * MIB, 6 * MIB, 12 * MIB], lengthBytes);
  await client.readEachInto(reads);
  for (const { offset, buffer } of reads)
    expect(buffer.equals(device.bytes.subarray(offset, offset + lengthBytes))).toBe(true);
  expect(device.asked).toEqual([3, 2]);
  // A range that is alone in its window is an ordinary read.
  expect([device.released, device.reads]).toEqual([2, 1]);
});

test('more than a connection begins at a time', async () => {
  const { device, client } = await served();
  const reads = readsOf(Array.from({ length: 1000 }, (_, index) => 4 * KIB * index));
  await client.readEachInto(reads);
  expect(Buffer.concat(reads.map(({ buffer }) => buffer)).equals(device.bytes.subarray(0, 4000 * KIB))).toBe(
    true,
  );
  expect(Math.max(...device.asked)).toBe(256);
});

test('one that fails fails alone', async () => {
  const { device, client } = await served();
  device.brokenAt = MIB;
  const results = await Promise.allSettled([
    client.read(0, 512),
    ...[0, MIB, 2 * MIB].map((at) => client.read(at, BLOCK_BYTES)),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(results[2]).toMatchObject({ reason: { errno: NbdErrno.Io } });
  expect(device.asked).toEqual([3]);
});

test('one past the end is refused, and those beside it are answered', async () => {
  const { device, client } = await served();
  const results = await Promise.allSettled(
    [15 * MIB, 16 * MIB - BLOCK_BYTES, 16 * MIB].map((at) => client.read(at, BLOCK_BYTES)),
  );
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect(device.asked).toEqual([2]);
});
