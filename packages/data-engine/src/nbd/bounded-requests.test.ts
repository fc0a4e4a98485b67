import { once } from 'node:events';
import net from 'node:net';
import { KIB, MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterEach, expect, test } from '@jest/globals';
import { MemoryExport } from '../../test/memory-export.js';
import {
  Command,
  NbdErrno,
  PAYLOAD_BYTES_MAX,
  REQUEST_BYTES,
  REQUEST_MAGIC,
  SIMPLE_REPLY_BYTES,
} from './constants.js';
import { NbdError } from './errors.js';
import type { NbdWrite, Payload, WriteListener } from './export.js';
import { NbdServerConnection } from './server-connection.js';

/** Export that answers each READ when the test says so. */
class PatientExport extends MemoryExport {
  readonly waiting: (() => void)[] = [];
  begun = 0;

  override async read(offset: number, lengthBytes: number): Promise<Payload> {
    this.begun += 1;
    await new Promise<void>((resolve) => this.waiting.push(resolve));
    return super.read(offset, lengthBytes);
  }
}

/** Export with everything in memory. */
class ReadyExport extends MemoryExport {
  answered = 0;

  readNow(offset: number, lengthBytes: number): Payload {
    this.answered += 1;
    return [this.bytes.subarray(offset, offset + lengthBytes)];
  }
}

/** Export whose writes have ended before their beginning returns. */
class InstantExport extends MemoryExport {
  begun = 0;

  beginWrite<Tag>(_: NbdWrite, listener: WriteListener<Tag>, tag: Tag): void {
    this.begun += 1;
    listener.written(tag, this.begun % 2 === 0 ? new NbdError(NbdErrno.Io, 'refused') : undefined);
  }
}

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

test('requests of one chunk begin as there is room for them, and all are answered', async () => {
  const target = new PatientExport(MIB);
  const client = await join(target);
  let received = 0;
  client.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  client.write(reads(200, MIB));

  expect((await steady(() => target.begun)) * MIB).toBeLessThanOrEqual(2 * PAYLOAD_BYTES_MAX);
  const answering = setInterval(() => {
    for (const answer of target.waiting.splice(0)) answer();
  }, 1);
  stops.push(() => clearInterval(answering));
  const wantedBytes = 200 * (SIMPLE_REPLY_BYTES + MIB);
  await eventually(
    'all replies',
    async () => received,
    (bytes) => bytes === wantedBytes,
  );
  expect(target.begun).toBe(200);
});

test('a client that does not read its replies gets no more of them, until it does', async () => {
  const target = new ReadyExport(MIB);
  const client = await join(target);
  client.write(reads(2000, 64 * KIB));
  // 16 MiB in this process, plus what the kernel buffers for both ends.
  expect((await steady(() => target.answered)) * 64 * KIB).toBeLessThan(48 * MIB);

  let received = 0;
  client.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  const wantedBytes = 2000 * (SIMPLE_REPLY_BYTES + 64 * KIB);
  await eventually(
    'all replies',
    async () => received,
    (bytes) => bytes === wantedBytes,
  );
});

test('writes that end at once are each begun once, and answered, also those that are refused', async () => {
  const target = new InstantExport(MIB);
  const client = await join(target);
  let received = 0;
  client.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  // Far apart, so that none are joined.
  const frames = requests(Command.Write, 300, (index) => ({
    offset: (index % 2) * 512 * KIB,
    lengthBytes: 1,
  }));
  const payload = Buffer.alloc(1);
  client.write(Buffer.concat(frames.flatMap((frame) => [frame, payload])));
  await eventually(
    'all replies',
    async () => received,
    (bytes) => bytes === 300 * SIMPLE_REPLY_BYTES,
  );
  expect(target.begun).toBe(300);
});

/** A client of this export, past the handshake, that has not begun to read. */
async function join(target: MemoryExport): Promise<net.Socket> {
  const server = net.createServer((socket) => {
    const options = { structuredReplies: false, allocationContext: false };
    new NbdServerConnection(socket, target, options).start(Buffer.alloc(0), Buffer.alloc(0));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on TCP');
  const client = net.connect(address.port, '127.0.0.1');
  stops.push(() => {
    client.destroy();
    server.close();
  });
  return client;
}

/** That many READs as one chunk of the network. */
function reads(count: number, lengthBytes: number): Buffer {
  return Buffer.concat(requests(Command.Read, count, () => ({ offset: 0, lengthBytes })));
}

function requests(
  type: number,
  count: number,
  rangeOf: (index: number) => { offset: number; lengthBytes: number },
): Buffer[] {
  return Array.from({ length: count }, (_, index) => {
    const { offset, lengthBytes } = rangeOf(index);
    const frame = Buffer.alloc(REQUEST_BYTES);
    frame.writeUInt32BE(REQUEST_MAGIC, 0);
    frame.writeUInt16BE(type, 6);
    frame.writeUInt32BE(index, 12);
    frame.writeUInt32BE(offset, 20);
    frame.writeUInt32BE(lengthBytes, 24);
    return frame;
  });
}

/** Resolves when the number has stayed the same for a while. */
async function steady(count: () => number): Promise<number> {
  for (;;) {
    const before = count();
    await new Promise((resolve) => setTimeout(resolve, 100));
    if (count() === before && before > 0) return before;
  }
}
