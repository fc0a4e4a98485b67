/** Clients that violate the protocol: whatever they send, other clients are not affected, and memory is bounded. */
import { once } from 'node:events';
import net from 'node:net';
import { eventually } from '@holdfast/testkit/eventually.js';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MemoryExport } from '../../test/memory-export.js';
import { NbdClient } from './client.js';
import { contiguous, type Payload } from './export.js';
import { NbdServer, serveExport } from './server.js';
import type { NbdServerConnection } from './server-connection.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const NAME = 'disk';
const CLIENT_FLAGS = Buffer.from([0, 0, 0, 3]);

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const GO = option(7, named(Buffer.alloc(2)));

describe('clients that say anything', () => {
  test('400 of them, by seed, and one that goes on beside them', async () => {
    const device = new MemoryExport(4 * MIB);
    const { port, sockets } = await serve(device);
    const honest = await connect(port);
    // The others write into the first two megabytes only.
    const mine = 3 * MIB;
    for (let seed = 0; seed < 400; seed += 40) {
      const others = Array.from({ length: 40 }, (_, i) => misbehave(port, seed + i));
      const data = new SeededRandom(seed).bytes(64 * KIB);
      await honest.write(mine, [data], data.length, { fua: false });
      await Promise.all(others);
      const read = contiguous(await honest.read(mine, data.length));
      expect({ seed, same: read.equals(data) }).toEqual({ seed, same: true });
    }
    for (const stop of stops.splice(2)) await stop();
    await eventually(
      'only the honest one is left',
      () => sockets.size,
      (size) => size === 1,
    );
    await connect(port);
  });
});

/** A device whose reads wait, and that counts its requests meanwhile. */
class WaitingExport extends MemoryExport {
  private open: () => void = () => undefined;
  private readonly gate = new Promise<void>((resolve) => {
    this.open = resolve;
  });
  begun = 0;
  askedBytes = 0;

  override async read(offset: number, lengthBytes: number): Promise<Payload> {
    this.begun += 1;
    this.askedBytes += lengthBytes;
    await this.gate;
    return super.read(offset, lengthBytes);
  }

  release(): void {
    this.open();
  }
}

describe('clients that ask for more than they may hold', () => {
  test.each([
    { name: 'small ones', lengthBytes: 4 * KIB, reads: 256, bytesMax: MIB },
    { name: 'the largest there are', lengthBytes: 32 * MIB, reads: 2, bytesMax: 64 * MIB },
  ])(
    'of thousands of reads in one piece, $name, only so many begin',
    async ({ lengthBytes, reads, bytesMax }) => {
      const device = new WaitingExport(32 * MIB);
      const { port } = await serve(device);
      const socket = await rawSocket(port);
      socket.write(Buffer.concat([CLIENT_FLAGS, GO]));
      await once(socket, 'data');
      const flood = Buffer.concat(Array.from({ length: 3000 }, () => request(0, 0, lengthBytes)));
      socket.write(flood);
      await eventually(
        'the first reads',
        () => device.begun,
        (begun) => begun >= reads,
      );
      // A second connection to the same device is served, and by then the flood has long arrived.
      const other = await connect(port);
      const written = other.write(0, [Buffer.alloc(4096)], 4096, { fua: false });
      await written;
      expect(device).toMatchObject({ begun: reads, askedBytes: reads * lengthBytes });
      expect(device.askedBytes).toBeLessThanOrEqual(bytesMax);
      socket.destroy();
      device.release();
    },
  );

  test('one that never reads its replies makes the server hold 16 MiB and a request, then gets them all', async () => {
    const device = new MemoryExport(MIB);
    device.bytes.fill(7);
    let reads = 0;
    const read = device.read.bind(device);
    device.read = (offset, lengthBytes) => {
      reads += 1;
      return read(offset, lengthBytes);
    };
    const { port, connections } = await serve(device, 30_000);
    // Before the flood, which its handshake would have to wait for.
    const other = await connect(port);
    const socket = await rawSocket(port);
    socket.pause();
    const asked = 2000;
    const replyBytes = 16 + 64 * KIB;
    socket.write(Buffer.concat([CLIENT_FLAGS, option(1, Buffer.from(NAME))]));
    for (let i = 0; i < asked; i += 1) socket.write(request(0, 0, 64 * KIB));

    // Other clients are served meanwhile, and the replies that the server holds for this one have stopped growing.
    const heldBytes = () => Math.max(...connections.map(({ unsentBytes }) => unsentBytes));
    let before = -1;
    await eventually(
      'the server stops reading on',
      async () => {
        await other.read(0, 4096);
        const still = reads - before === 1;
        before = reads;
        // On a busy machine the flood itself may not have been read yet.
        return still && heldBytes() > MIB;
      },
      (hasStopped) => hasStopped,
    );
    expect(reads).toBeLessThan(asked / 2);
    expect(heldBytes()).toBeLessThan(16 * MIB + 256 * replyBytes);

    let arrivedBytes = 0;
    const all = 18 + 10 + asked * replyBytes;
    socket.on('data', (chunk: Buffer) => {
      arrivedBytes += chunk.length;
    });
    socket.resume();
    await eventually(
      'all replies',
      () => arrivedBytes,
      (bytes) => bytes === all,
    );
  });
});

/**
 * @param handshakeTimeoutMs short for clients that send nothing; a busy machine may take longer for one that sends everything at once
 */
async function serve(
  device: MemoryExport,
  handshakeTimeoutMs = 500,
): Promise<{ port: number; sockets: Set<net.Socket>; connections: readonly NbdServerConnection[] }> {
  const sockets = new Set<net.Socket>();
  const connections: NbdServerConnection[] = [];
  const server = new NbdServer({
    directory: {
      describe: (name) => (name === NAME ? device : undefined),
    },
    accept: (socket, negotiated, rest) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      connections.push(serveExport(socket, negotiated, rest, device));
    },
    tls: { offer: 'allow', accept: (socket) => void socket.destroy() },
    handshakeTimeoutMs,
  });
  const { port } = await server.listen('127.0.0.1', 0);
  stops.push(async () => {
    for (const socket of sockets) socket.destroy();
    await server.close();
  });
  return { port, sockets, connections };
}

async function connect(port: number): Promise<NbdClient> {
  const client = await NbdClient.connect({ host: '127.0.0.1', port, exportName: NAME }, 5000);
  stops.push(() => client.close());
  return client;
}

async function rawSocket(port: number): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => socket.destroy());
  stops.push(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

function option(code: number, data: Buffer = Buffer.alloc(0), declaredBytes = data.length): Buffer {
  const head = Buffer.alloc(16);
  head.write('IHAVEOPT', 0, 'latin1');
  head.writeUInt32BE(code, 8);
  head.writeUInt32BE(declaredBytes, 12);
  return Buffer.concat([head, data]);
}

function named(...more: Buffer[]): Buffer {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(NAME.length, 0);
  return Buffer.concat([prefix, Buffer.from(NAME), ...more]);
}

function request(type: number, offset: number, lengthBytes: number, flags = 0): Buffer {
  const frame = Buffer.alloc(28);
  frame.writeUInt32BE(0x25609513, 0);
  frame.writeUInt16BE(flags, 4);
  frame.writeUInt16BE(type, 6);
  frame.writeUInt32BE(offset, 20);
  frame.writeUInt32BE(lengthBytes, 24);
  return frame;
}

/** A random conversation of a client: most frames are well-formed, but out of place together. */
function conversation(random: SeededRandom): Buffer {
  const huge = () => random.pick([0, 1, 2 ** 16, 2 ** 24, 2 ** 31, 2 ** 32 - 1]);
  const count = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value, 0);
    return bytes;
  };
  const context = Buffer.concat([count(15), Buffer.from('base:allocation')]);
  const options = [
    () => option(3),
    () => option(5, random.chance(4) ? Buffer.from('x') : undefined),
    () => option(6, named(Buffer.from([0, 1, 0, 3]))),
    () => option(8),
    () => option(9, named(count(0))),
    () => option(10, named(count(huge()), ...Array.from({ length: random.below(900) }, () => context))),
    () => option(10, named(count(1), count(huge()), Buffer.from('base'))),
    () => option(random.pick([4, 11, 99, 2 ** 31]), random.bytes(random.below(40))),
    () => option(random.pick([1, 6, 7, 10]), Buffer.alloc(0), huge()),
    () => GO,
  ];
  const requests = [
    () => request(random.below(10), random.below(2 ** 31), huge(), random.below(2 ** 16)),
    () => request(0, random.below(MIB), random.below(128 * KIB)),
    () => Buffer.concat([request(1, random.below(MIB), 8 * KIB), random.bytes(random.below(9 * KIB))]),
    () => request(7, 0, huge(), 8 * random.below(2)),
    () => random.bytes(random.below(200)),
  ];
  const frames = [
    random.chance(20) ? random.bytes(4) : CLIENT_FLAGS,
    ...Array.from({ length: random.below(6) }, () => random.pick(options)()),
    ...(random.chance(3) ? [] : [GO]),
    ...Array.from({ length: random.below(12) }, () => random.pick(requests)()),
  ];
  const bytes = Buffer.concat(frames);
  for (let flips = random.chance(2) ? 0 : random.below(4); flips > 0; flips -= 1) {
    bytes[random.below(bytes.length)] = random.below(256);
  }
  return random.chance(3) ? bytes.subarray(0, random.below(bytes.length)) : bytes;
}

/** Sends it in pieces, then ends, resets or falls silent. */
async function misbehave(port: number, seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const socket = await rawSocket(port);
  socket.resume();
  const bytes = conversation(random);
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + random.below(random.pick([20, 2000, 100_000]));
    if (!socket.destroyed) socket.write(bytes.subarray(at, end));
    at = end;
    if (random.chance(3)) await new Promise(setImmediate);
  }
  const ending = random.pick(['end', 'reset', 'silence'] as const);
  if (ending === 'end') socket.end();
  if (ending === 'reset') socket.resetAndDestroy();
}
