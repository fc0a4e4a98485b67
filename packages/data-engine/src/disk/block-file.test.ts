import crypto from 'node:crypto';
import nodeFs, { readSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { KIB, MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { alignedBytes, isAlignedBuffer, leaseAligned } from './aligned-buffers.js';
import { BlockFile } from './block-file.js';
import { supportsDirectIo } from './folder/direct-io.js';

const SIZE_BYTES = 16 * MIB;
let folder: string;

beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-file-'));
});

afterEach(() => fs.rm(folder, { recursive: true, force: true }));

describe.each([
  { direct: true, cachesSmallWrites: false },
  { direct: true, cachesSmallWrites: true },
  { direct: false, cachesSmallWrites: false },
])('a file with direct: $direct, small writes in the page cache: $cachesSmallWrites', (options) => {
  let file: BlockFile;

  beforeEach(async () => {
    // Cases that the disk under the tests does not support are not run on it.
    const direct = options.direct && (await supportsDirectIo(folder));
    const { cachesSmallWrites } = options;
    file = await BlockFile.create(path.join(folder, 'data'), SIZE_BYTES, { direct, cachesSmallWrites });
  });

  afterEach(() => file.close());

  // Each case writes whole blocks at 8 KiB, cut into pieces as the network might deliver them.
  test.each([
    { name: 'one block', pieces: [4096] },
    { name: 'a block in two pieces', pieces: [1000, 3096] },
    { name: 'a megabyte in uneven pieces', pieces: [36, 65_500, 700_000, MIB - 765_536] },
    { name: 'more than the longest buffer', pieces: [3 * MIB + 1, 5 * MIB - 1] },
  ])('gives back $name', async ({ pieces }) => {
    const payload = pieces.map((length) => crypto.randomBytes(length));
    const data = Buffer.concat(payload);
    await file.write(payload, 8192);

    const whole = Buffer.alloc(data.length);
    await file.readInto(whole, 8192);
    expect(whole.equals(data)).toBe(true);
    // Neither the offset nor the length nor the memory of this one is aligned.
    const part = Buffer.alloc(data.length - 200);
    await file.readInto(part, 8192 + 100);
    expect(part.equals(data.subarray(100, -100))).toBe(true);
  });

  test('takes aligned memory as it is', async () => {
    const { buffer, release } = leaseAligned(8192);
    crypto.randomFillSync(buffer);
    const data = Buffer.from(buffer);
    await file.write([buffer], 0);
    buffer.fill(0);
    await file.readInto(buffer, 0);
    expect(buffer.equals(data)).toBe(true);
    release();
  });

  test('reads zeros past its end, also when it ends within a block', async () => {
    await file.write([Buffer.alloc(4096, 7)], 0);
    await file.resize(1000);
    const { buffer, release } = leaseAligned(8192);
    await file.readInto(buffer.fill(9), 0);
    expect(buffer.equals(Buffer.concat([Buffer.alloc(1000, 7), Buffer.alloc(7192)]))).toBe(true);
    release();
  });

  test('reads through the page cache what is on the disk at that moment', async () => {
    const { buffer, release } = leaseAligned(8192);
    const bytes = (fill: number) => Buffer.alloc(8192, fill);
    await file.write([bytes(1)], 4096);
    expect(file.readCachedNow(buffer, 4096)).toBe(false);
    await file.readCached(buffer, 4096);
    expect(buffer.equals(bytes(1))).toBe(true);
    await eventually(
      'what was read is in memory',
      async () => file.readCachedNow(buffer.fill(9), 4096),
      Boolean,
    );
    expect(buffer.equals(bytes(1))).toBe(true);

    const changes = [
      { change: () => file.write([bytes(2)], 4096), want: bytes(2) },
      { change: () => file.zero(4096, 8192, true), want: bytes(0) },
      { change: () => file.write([bytes(3)], 4096), want: bytes(3) },
      { change: () => file.resize(4096), want: bytes(0) },
    ];
    for (const { change, want } of changes) {
      await change();
      // Cached or not: never the old content.
      if (file.readCachedNow(buffer, 4096)) expect(buffer.equals(want)).toBe(true);
      await file.readCached(buffer, 4096);
      expect(buffer.equals(want)).toBe(true);
    }
    release();
  });

  test('is past the page cache exactly where it says so', async () => {
    const flags = fs.constants.O_DIRECT;
    const open = await fs.readdir('/proc/self/fd');
    const infos = await Promise.all(
      open.map(async (fd) =>
        (await fs.readlink(`/proc/self/fd/${fd}`).catch(() => '')) === file.path
          ? Number.parseInt(
              /flags:\s+(\d+)/.exec(await fs.readFile(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '',
              8,
            )
          : undefined,
      ),
    );
    const [info] = infos.filter((one) => one !== undefined);
    const expected = options.direct && (await supportsDirectIo(folder));
    expect(((info ?? 0) & flags) !== 0).toBe(expected);
  });
});

test('a write and a read that are alone are done when the call returns, once the disk was fast', async () => {
  if (!(await supportsDirectIo(folder))) return;
  const file = await BlockFile.create(path.join(folder, 'alone'), SIZE_BYTES, { direct: true });
  const plain = await fs.open(file.path);
  const { buffer, release } = leaseAligned(4096);
  const seen = Buffer.alloc(4096);
  await file.readCached(buffer, 0);
  await eventually(
    'the event loop writes and reads',
    async () => {
      // By a thread, as the first ones are.
      for (let call = 0; call < 4; call += 1) await file.write([Buffer.alloc(4096, 1)], 8192);
      const wanted = crypto.randomBytes(4096);
      const writing = file.write([wanted.subarray(0, 100), wanted.subarray(100)], 4096, true);
      readSync(plain.fd, seen, 0, 4096, 4096);
      const isWritten = seen.equals(wanted);
      await writing;
      return isWritten && file.readCachedNow(buffer, 4096, true) && buffer.equals(wanted);
    },
    Boolean,
  );
  release();
  await plain.close();
  await file.close();
});

describe('a direct file whose small writes go through the page cache', () => {
  let file: BlockFile;
  let inMemory: Buffer;
  let release: () => void;

  beforeEach(async () => {
    file = await BlockFile.create(path.join(folder, 'cached'), SIZE_BYTES, {
      direct: true,
      cachesSmallWrites: true,
    });
    ({ buffer: inMemory, release } = leaseAligned(128 * KIB));
    // Opens the other descriptor, and loads the call that tells what is in memory.
    await eventually(
      'a read is told to be in memory',
      async () => {
        await file.readCached(inMemory, 0);
        return file.readCachedNow(inMemory, 0);
      },
      Boolean,
    );
  });

  afterEach(async () => {
    release();
    await file.close();
  });

  test.each([128 * KIB, MIB])(
    'keeps a write of %d bytes in memory, and long ones not',
    async (lengthBytes) => {
      const small = crypto.randomBytes(lengthBytes);
      await file.write([small.subarray(0, 5000), small.subarray(5000)], MIB);
      expect(file.readCachedNow(inMemory, MIB)).toBe(true);
      expect(inMemory.equals(small.subarray(0, 128 * KIB))).toBe(true);
      await file.write([crypto.randomBytes(MIB + 4096)], 2 * MIB);
      expect(file.readCachedNow(inMemory, 2 * MIB)).toBe(false);
    },
  );

  test('gives what is only in memory to who reads past it, and to who opens it after a sync', async () => {
    const data = crypto.randomBytes(8192);
    await file.write([data], 4096);
    const past = Buffer.alloc(8192);
    await file.readInto(past, 4096);
    expect(past.equals(data)).toBe(true);
    await file.write([data], 65_536);
    await file.syncData();
    const other = await BlockFile.open(file.path, { direct: true });
    await other.readStored(past.fill(0), 65_536);
    await other.close();
    expect(past.equals(data)).toBe(true);
  });

  test('a long write over small ones leaves the long one, and small ones over it stay', async () => {
    const long = crypto.randomBytes(MIB + 4096);
    const small = crypto.randomBytes(4096);
    await file.write([Buffer.alloc(4096, 1)], 8192);
    await file.write([long], 0);
    await file.write([small], 12_288);
    await file.syncData();
    small.copy(long, 12_288);
    const whole = Buffer.alloc(MIB + 4096);
    await file.readInto(whole, 0);
    expect(whole.equals(long)).toBe(true);
    await file.readCached(whole.fill(0), 0);
    expect(whole.equals(long)).toBe(true);
  });

  test('lets only so much wait, and syncs it by itself', async () => {
    let syncs = 0;
    const { fdatasync } = nodeFs;
    nodeFs.fdatasync = Object.assign(
      (...args: Parameters<typeof fdatasync>) => {
        syncs += 1;
        fdatasync(...args);
      },
      { __promisify__: fdatasync.__promisify__ },
    );
    try {
      // As many as the allowance of a fast disk and some more: other suites of this process may have raised it.
      for (let block = 0; block < 4000; block += 1) await file.write([Buffer.alloc(4096, 3)], block * 4096);
      await eventually(
        'a sync began',
        async () => syncs,
        (count) => count > 0,
      );
    } finally {
      nodeFs.fdatasync = fdatasync;
    }
  });

  test('after a failed sync, drops what the disk may not have', async () => {
    const { fdatasync } = nodeFs;
    await file.write([Buffer.alloc(128 * KIB, 5)], 0);
    await file.syncData();
    expect(file.readCachedNow(inMemory, 0)).toBe(true);
    nodeFs.fdatasync = Object.assign(
      (_: number, done: (error: Error) => void) => setImmediate(() => done(new Error('EIO'))),
      { __promisify__: fdatasync.__promisify__ },
    );
    try {
      await expect(file.syncData()).rejects.toThrow('may be lost');
    } finally {
      nodeFs.fdatasync = fdatasync;
    }
    expect(file.readCachedNow(inMemory, 0)).toBe(false);
  });

  test('so it does where the sync was that of an opening which has cached nothing', async () => {
    await file.write([Buffer.alloc(128 * KIB, 5)], 0);
    await file.syncData();
    expect(file.readCachedNow(inMemory, 0)).toBe(true);
    // As the metadata of a block disk has one, beside that of the data, and a copy that was just opened.
    const other = await BlockFile.open(file.path, { direct: false });
    const { fdatasync } = nodeFs;
    nodeFs.fdatasync = Object.assign(
      (_: number, done: (error: Error) => void) => setImmediate(() => done(new Error('EIO'))),
      { __promisify__: fdatasync.__promisify__ },
    );
    try {
      await expect(other.syncData()).rejects.toThrow('may be lost');
    } finally {
      nodeFs.fdatasync = fdatasync;
      await other.close();
    }
    expect(file.readCachedNow(inMemory, 0)).toBe(false);
  });
});

test('a buffer that was given back is given out again', () => {
  const first = leaseAligned(4096);
  first.release();
  const second = leaseAligned(4096);
  expect(second.buffer.byteOffset).toBe(first.buffer.byteOffset);
  expect(second.buffer.buffer).toBe(first.buffer.buffer);
  second.release();
});

test('two buffers in use share no byte', () => {
  const leases = Array.from({ length: 3000 }, () => leaseAligned(4096));
  for (const [index, { buffer }] of leases.entries()) buffer.fill(index % 251);
  expect(leases.every(({ buffer }, index) => buffer[0] === index % 251 && buffer[4095] === index % 251)).toBe(
    true,
  );
  for (const { release } of leases) release();
});

test.each([
  { name: 'aligned memory', buffer: () => alignedBytes(8192), aligned: true },
  { name: 'its second block', buffer: () => alignedBytes(8192).subarray(4096), aligned: true },
  { name: 'a place within a block', buffer: () => alignedBytes(8192).subarray(512, 4608), aligned: false },
  { name: 'a part of a block', buffer: () => alignedBytes(8192).subarray(0, 100), aligned: false },
  { name: 'memory of any other kind', buffer: () => Buffer.alloc(8192), aligned: false },
])('$name is aligned: $aligned', ({ buffer, aligned }) => {
  expect(isAlignedBuffer(buffer())).toBe(aligned);
});
