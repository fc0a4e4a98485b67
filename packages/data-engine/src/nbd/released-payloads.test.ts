import crypto from 'node:crypto';
import { MIB } from '@holdfast/core/model/bytes.js';
import { afterEach, expect, test } from '@jest/globals';
import { MemoryExport } from '../../test/memory-export.js';
import { serveOnPort } from '../../test/serve-export.js';
import { NbdClient } from './client.js';
import { contiguous, type Payload } from './export.js';

/** Export that lends copies of its bytes, and overwrites each at its release: a later use would be seen. */
class LendingExport extends MemoryExport {
  lent = 0;
  private waiting: (() => void)[] = [];

  override async read(offset: number, lengthBytes: number): Promise<Payload> {
    const bytes = Buffer.from(contiguous(await super.read(offset, lengthBytes)));
    this.lent += 1;
    let released = false;
    const release = () => {
      if (released) throw new Error('released twice');
      released = true;
      bytes.fill(0xdb);
      this.lent -= 1;
      if (this.lent === 0) for (const done of this.waiting.splice(0)) done();
    };
    return Object.assign([bytes], { release });
  }

  /** Resolves when all payloads are released. */
  async returned(): Promise<void> {
    if (this.lent > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

test.each([
  { name: 'small', lengthBytes: 4096 },
  { name: 'larger than a socket takes at once', lengthBytes: 16 * MIB },
])('memory of $name reads is released only after it was sent', async ({ lengthBytes }) => {
  const device = new LendingExport(64 * MIB);
  const data = crypto.randomBytes(lengthBytes);
  await device.write(0, [data]);
  const client = await connect(await serve(device));
  const reads = await Promise.all([1, 2, 3].map(() => client.read(0, lengthBytes)));
  expect(reads.every((payload) => contiguous(payload).equals(data))).toBe(true);
  await device.returned();
});

test('memory of a reply that the client does not read is released when the connection ends', async () => {
  const device = new LendingExport(64 * MIB);
  const client = await connect(await serve(device));
  const read = client.read(0, 32 * MIB);
  while (device.lent === 0) await new Promise((resolve) => setImmediate(resolve));
  client.destroy(new Error('the client has gone'));
  await expect(read).rejects.toThrow('the client has gone');
  await device.returned();
  expect(device.lent).toBe(0);
});

async function serve(device: LendingExport): Promise<number> {
  const { port, stop } = await serveOnPort(device);
  stops.push(stop);
  return port;
}

async function connect(port: number): Promise<NbdClient> {
  const client = await NbdClient.connect({ host: '127.0.0.1', port, exportName: 'disk' }, 5000);
  stops.push(() => client.destroy(new Error('the test has ended')));
  return client;
}
