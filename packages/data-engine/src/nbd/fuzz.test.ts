import { describe, expect, test } from '@jest/globals';
import { ByteQueue } from './byte-queue.js';
import { ProtocolError } from './errors.js';
import { ReadAssembly } from './read-assembly.js';
import { ReplyReader } from './replies.js';
import { RequestReader } from './requests.js';
import { ServerHandshake } from './server-handshake.js';

describe('fuzzing', () => {
  test('whatever a client sends, the handshake answers, asks for more or closes', () =>
    forEachSeed((seed) => {
      const random = generator(seed);
      const replies: Buffer[] = [];
      const info = { sizeBytes: 4096, readOnly: false, blockSizeMinBytes: 1 };
      const directory = {
        describe: (name: string) => (name.length % 2 === 0 ? info : undefined),
      };
      const handshake = new ServerHandshake(directory, (frame) => replies.push(frame));
      const frames = Array.from({ length: 20 }, () =>
        random(8) === 0 ? randomBytes(random, random(60)) : optionFrame(random),
      );
      const bytes = Buffer.concat([Buffer.from([0, 0, 0, random(4)]), ...frames]);
      let last = 'more';
      for (const piece of pieces(random, bytes)) {
        last = handshake.feed(piece).kind;
        if (last !== 'more') break;
      }
      expect(['more', 'close', 'chosen']).toContain(last);
    }));

  test('whatever arrives, requests and replies are read or refused, never misread', () =>
    forEachSeed((seed) => {
      const random = generator(seed + 1_000_000);
      for (const kind of ['requests', 'replies'] as const) {
        const queue = new ByteQueue();
        const reader =
          kind === 'requests' ? new RequestReader(queue) : new ReplyReader(queue, () => someRead(random));
        const bytes = randomBytes(random, 2000);
        for (let at = 0; at + 28 <= bytes.length; at += 28 + random(100)) {
          bytes.writeUInt32BE([0x25609513, 0x67446698, 0x668e33ef][random(3)] ?? 0, at);
          bytes.writeUInt32BE(random(300), Math.min(at + 16, bytes.length - 4));
        }
        try {
          for (const piece of pieces(random, bytes)) {
            queue.push(piece);
            while (reader.next() !== undefined);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }
    }));

  test('requests come out as they went in, however they were cut', () =>
    forEachSeed((seed) => {
      const random = generator(seed + 2_000_000);
      const queue = new ByteQueue();
      const reader = new RequestReader(queue);
      const sent = Array.from({ length: 30 }, (_, cookie) => ({
        type: random(2) === 0 ? 1 : random(8),
        cookie,
        offset: random(2 ** 31),
        payload: randomBytes(random, random(300)),
      }));
      const frames = sent.flatMap(({ type, cookie, offset, payload }) => {
        const header = Buffer.alloc(28);
        header.writeUInt32BE(0x25609513, 0);
        header.writeUInt16BE(type, 6);
        header.writeUInt32BE(cookie, 12);
        header.writeUInt32BE(offset, 20);
        header.writeUInt32BE(payload.length, 24);
        return type === 1 ? [header, payload] : [header];
      });
      const received = [];
      for (const piece of pieces(random, Buffer.concat(frames))) {
        queue.push(piece);
        for (let next = reader.next(); next !== undefined; next = reader.next()) received.push(next);
      }
      expect(
        received.map(({ type, cookie, offset, lengthBytes, payload }) => ({
          type,
          cookie: cookie[1],
          offset,
          lengthBytes,
          data: Buffer.concat(payload).toString('hex'),
        })),
      ).toEqual(
        sent.map(({ type, cookie, offset, payload }) => ({
          type,
          cookie,
          offset,
          lengthBytes: payload.length,
          data: type === 1 ? payload.toString('hex') : '',
        })),
      );
      expect(queue.length).toBe(0);
    }));
});

/** A small seeded generator (mulberry32), so that a failing run can be repeated from its seed. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

function randomBytes(random: (below: number) => number, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random(256)));
}

/** Cuts bytes into pieces at random places, as a network does. */
function* pieces(random: (below: number) => number, bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + random(Math.min(64, bytes.length - at));
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

function optionFrame(random: (below: number) => number): Buffer {
  const option = [1, 2, 3, 5, 6, 7, 8, 9, 10, 99][random(10)] ?? 0;
  const data = randomBytes(random, random(40));
  // Half of them carry plausible lengths, so that the parsers get beyond their first check.
  if (data.length > 8 && random(2) === 0) data.writeUInt32BE(random(data.length), 0);
  const head = Buffer.alloc(16);
  head.write('IHAVEOPT', 0, 'latin1');
  head.writeUInt32BE(option, 8);
  head.writeUInt32BE(data.length, 12);
  return Buffer.concat([head, data]);
}

/** Runs a case for many seeds; a failure names its seed. */
function forEachSeed(check: (seed: number) => void): void {
  for (let seed = 0; seed < 300; seed += 1) {
    try {
      check(seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
}

/** A read that is answered: one whose bytes are handed over, or one with memory of its own. */
function someRead(random: (below: number) => number): ReadAssembly {
  const lengthBytes = random(200);
  return new ReadAssembly(0, lengthBytes, random(2) === 0 ? Buffer.alloc(lengthBytes) : undefined);
}
