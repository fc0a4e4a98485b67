/** Servers that violate the protocol, such as a faulty replica: requests end, and memory is bounded. */
import { once } from 'node:events';
import net from 'node:net';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { NbdClient } from './client.js';
import { NbdError, ProtocolError } from './errors.js';
import { contiguous } from './export.js';
import { infoReplies, metaContextReply, optionReply } from './handshake-frames.js';

const KIB = 1024;
const MIB = 1024 * KIB;
/** The first request id of our client. */
const FIRST_COOKIE = 1;
const INFO = { sizeBytes: 64 * MIB, readOnly: false, blockSizeMinBytes: 1 };

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const GREETING = Buffer.from('NBDMAGICIHAVEOPT\0\x03', 'latin1');
/** Everything that a correct server sends before the first request; our client asks in this order. */
const HANDSHAKE = Buffer.concat([
  GREETING,
  optionReply(8, 1),
  metaContextReply(10, true),
  optionReply(10, 1),
  infoReplies(7, INFO),
]);

/** Length of what our client sends before its first request: flags, and three options with the name `d`. */
const HANDSHAKE_BYTES = 4 + 16 + (16 + 5 + 4 + 4 + 15) + (16 + 5 + 2);

const data = (at: number, lengthBytes: number) =>
  chunk(1, Buffer.concat([words(0, at), Buffer.alloc(lengthBytes)]));
const NONE = chunk(0, Buffer.alloc(0), { done: true });

describe('a server that answers a read of 64 KiB wrongly', () => {
  test.each([
    {
      name: 'with the same bytes for ever',
      replies: [data(0, 64 * KIB), data(0, 64 * KIB)],
      says: 'overlaps',
    },
    {
      name: 'with parts that overlap',
      replies: [data(0, 40 * KIB), data(8 * KIB, 40 * KIB)],
      says: 'overlaps',
    },
    { name: 'with a gap', replies: [data(0, 4 * KIB), data(8 * KIB, 4 * KIB), NONE], says: 'gaps' },
    { name: 'with too little', replies: [data(0, 4 * KIB), NONE], says: 'wrong length' },
    { name: 'with bytes from elsewhere', replies: [data(64 * KIB, 4 * KIB)], says: 'outside' },
    { name: 'with crumbs', replies: Array.from({ length: 200 }, (_, i) => data(i, 1)), says: 'crumbs' },
    {
      name: 'with nothing at all in them',
      replies: Array.from({ length: 200 }, () => data(0, 0)),
      says: 'crumbs',
    },
    { name: 'with a hole of four gigabytes', replies: [chunk(2, words(0, 0, 2 ** 32 - 1))], says: 'longer' },
    {
      name: 'with a chunk that is too long',
      replies: [words(0x668e33ef, 1, 0, 1, 2 ** 31)],
      says: 'a reply of',
    },
    { name: 'for another request', replies: [chunk(1, words(0, 0), { cookie: 9 })], says: 'to no request' },
    { name: 'with another magic', replies: [Buffer.alloc(20, 1)], says: 'wrong magic' },
    { name: 'with an unknown chunk', replies: [chunk(77, Buffer.alloc(4))], says: 'unexpected chunk' },
  ])('a reply $name fails the request', async ({ replies, says }) => {
    const port = await server(HANDSHAKE, (socket) => socket.write(Buffer.concat(replies)));
    const client = await connect(port);
    await expect(client.read(0, 64 * KIB)).rejects.toThrow(says);
    expect(client.closed).toBe(true);
    const other = await connect(port);
    await expect(other.readEachInto([{ offset: 0, buffer: Buffer.alloc(64 * KIB) }])).rejects.toThrow(says);
    expect(other.closed).toBe(true);
  });

  test.each([
    { name: 'an empty extent', replies: [chunk(5, words(1, 0, 0), { done: true })], says: 'an empty extent' },
    { name: 'no extents', replies: [NONE], says: 'without extents' },
    {
      name: 'extents without end',
      replies: [chunk(5, words(1, 4096, 0)), chunk(5, words(1, 4096, 0))],
      says: 'two',
    },
    { name: 'half an extent', replies: [chunk(5, words(1, 4096), { done: true })], says: 'malformed' },
  ])('or a block status with $name', async ({ replies, says }) => {
    const port = await server(HANDSHAKE, (socket) => socket.write(Buffer.concat(replies)));
    const client = await connect(port);
    await expect(client.blockStatus(0, 64 * KIB, 10)).rejects.toThrow(says);
    expect(client.closed).toBe(true);
  });
});

describe('a server that does not do the handshake', () => {
  test.each([
    { name: 'speaks something else', says: 'fixed newstyle', frames: Buffer.alloc(64, 1) },
    {
      name: 'speaks the oldest style',
      says: 'fixed newstyle',
      frames: Buffer.from('NBDMAGICIHAVEOPT\0\0', 'latin1'),
    },
    { name: 'answers another option', says: 'wrong magic or option', frames: optionReply(99, 1) },
    {
      name: 'answers at length',
      says: 'an option reply of',
      frames: words(0x3e889, 0x45565a9, 8, 1, 2 ** 31),
    },
    { name: 'answers for ever', says: 'too many', frames: Buffer.concat(Array(40).fill(optionReply(8, 3))) },
    {
      name: 'describes nothing',
      says: 'did not describe',
      frames: Buffer.concat([8, 10, 7].map((o) => optionReply(o, 1))),
    },
  ])('a server that $name is refused', async ({ name, says, frames }) => {
    const greeted = name.startsWith('speaks') ? frames : Buffer.concat([GREETING, frames]);
    const port = await server(greeted, () => undefined);
    await expect(connect(port)).rejects.toThrow(says);
  });

  test('says nothing, and is given up after the time that was set', async () => {
    const port = await server(Buffer.alloc(0), () => undefined);
    const connecting = NbdClient.connect({ host: '127.0.0.1', port, exportName: 'd' }, 50);
    await expect(connecting).rejects.toThrow('no NBD handshake within 50 ms');
  });
});

describe('servers that answer anything', () => {
  test('150 of them, by seed: each request ends, with what was sent for it or with an error that says why', async () => {
    const seen = { answered: 0, refused: 0, broken: 0, closed: 0 };
    for (let seed = 0; seed < 150; seed += 1) {
      const random = new SeededRandom(seed);
      /** Requests that the server has answered in any way; undefined once it may have been any of them. */
      let named: Set<number> | undefined = new Set();
      const port = await server(HANDSHAKE, (socket) => {
        for (let frames = random.below(12); frames > 0; frames -= 1) {
          const cookie = random.below(9);
          const bytes = chunk(
            random.pick([0, 1, 2, 5, 0x8001, 0x8002, 3]),
            Buffer.concat([
              words(random.below(2), random.below(64 * KIB)),
              random.bytes(random.below(4 * KIB)),
            ]),
            { done: random.chance(2), cookie },
          );
          named?.add(cookie);
          if (random.chance(3)) {
            bytes[random.below(bytes.length)] = random.below(256);
            named = undefined;
          }
          socket.write(random.chance(5) ? bytes.subarray(0, random.below(bytes.length)) : bytes);
        }
        socket.end();
      });
      const client = await connect(port);
      const results = await Promise.allSettled([
        client.read(0, 4 * KIB),
        client.read(8 * KIB, 512),
        client.write(0, [Buffer.alloc(512)], 512, { fua: true }),
        client.flush(),
        client.trim(0, 4 * KIB, { fua: false }),
        client.writeZeroes(0, 4 * KIB, { fua: false, mayPunch: true }),
        client.blockStatus(0, MIB, 10),
        client.readEachInto([{ offset: 0, buffer: Buffer.alloc(4 * KIB) }]),
      ]);
      const byCookie = results.map((result, index) => ({ result, cookie: FIRST_COOKIE + index }));
      for (const { result, cookie } of byCookie) {
        if (result.status === 'fulfilled') {
          expect({ seed, cookie, isNamed: named?.has(cookie) ?? true }).toEqual({
            seed,
            cookie,
            isNamed: true,
          });
          seen.answered += 1;
        } else if (result.reason instanceof NbdError) seen.refused += 1;
        else if (result.reason instanceof ProtocolError) seen.broken += 1;
        else {
          // Any other error would be a bug in the client.
          expect({ seed, says: String(result.reason) }).toMatchObject({
            says: expect.stringMatching(
              /^Error: .*(the connection was closed|the server closed the connection|ECONNRESET|EPIPE)/,
            ),
          });
          seen.closed += 1;
        }
      }
      const [first, second] = results;
      if (first?.status === 'fulfilled') expect(contiguous(first.value)).toHaveLength(4 * KIB);
      if (second?.status === 'fulfilled') expect(contiguous(second.value)).toHaveLength(512);
      expect({ seed, inFlight: client.inFlight, closed: client.closed }).toEqual({
        seed,
        inFlight: 0,
        closed: true,
      });
      client.destroy(new Error('done'));
      for (const stop of stops.splice(0)) await stop();
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  });
});

/** A server that sends this handshake, and then answers the first bytes of the transmission with the replies. */
async function server(handshake: Buffer, replies: (socket: net.Socket) => void): Promise<number> {
  const listening = net.createServer((socket) => {
    socket.on('error', () => socket.destroy());
    stops.push(() => void socket.destroy());
    socket.write(handshake);
    let seenBytes = 0;
    socket.on('data', (chunk: Buffer) => {
      // The handshake of our client is shorter than this, and its first request longer than the rest.
      const before = seenBytes;
      seenBytes += chunk.length;
      if (before < HANDSHAKE_BYTES && seenBytes >= HANDSHAKE_BYTES + 28) replies(socket);
      else if (before >= HANDSHAKE_BYTES && before < HANDSHAKE_BYTES + 28) replies(socket);
    });
  });
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  stops.push(async () => {
    listening.close();
    await once(listening, 'close');
  });
  const address = listening.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function connect(port: number): Promise<NbdClient> {
  return NbdClient.connect({ host: '127.0.0.1', port, exportName: 'd' }, 5000);
}

/** One chunk of a structured reply to the client's first request. */
function chunk(type: number, data: Buffer, { done = false, cookie = 1 } = {}): Buffer {
  const head = Buffer.alloc(20);
  head.writeUInt32BE(0x668e33ef, 0);
  head.writeUInt16BE(done ? 1 : 0, 4);
  head.writeUInt16BE(type, 6);
  head.writeUInt32BE(cookie, 12);
  head.writeUInt32BE(data.length, 16);
  return Buffer.concat([head, data]);
}

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}
