import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from '@jest/globals';
import { idOf, packed, sealBlob } from '../codec/blobs.js';
import { BLOB_KIND } from '../model/format.js';
import type { RangeTask } from './block-coder.js';
import { ThreadedCoder } from './threaded-coder.js';

const runKey = randomBytes(32);
const idKeys = { 0: randomBytes(32), 1: randomBytes(32) };
const RANGE_BYTES = 512 * 1024;
const coder = new ThreadedCoder(1);
afterAll(() => coder.close());

/** Blobs one behind the other in memory that is longer than they are. */
function rangeOf(contents: readonly Buffer[], memory: Buffer): { task: RangeTask; range: Buffer } {
  let begin = 0;
  const blobs = contents.map((content, number) => {
    const { codec, bytes } = packed(content);
    const facts = { id: idOf(idKeys[0], content), kind: BLOB_KIND.block, codec, rawBytes: content.length };
    const sealed = sealBlob(runKey, number, facts, bytes);
    sealed.copy(memory, begin);
    begin += sealed.length;
    return { ...facts, begin: begin - sealed.length, storedBytes: sealed.length };
  });
  return { task: { runKey, idKeys, blobs }, range: memory.subarray(0, begin) };
}

async function contentsOf({ task, range }: ReturnType<typeof rangeOf>) {
  const contents: Buffer[] = [];
  const memory = await coder.openRange(task, range, async (number, content) => {
    contents[number] = Buffer.from(content);
  });
  return { contents, memory };
}

test('ranges are opened one after the other in the same memory', async () => {
  let memory = Buffer.allocUnsafeSlow(RANGE_BYTES) as Buffer;
  for (const lengthBytes of [100_000, 3000, 70_000, 1]) {
    const given = [randomBytes(lengthBytes), Buffer.alloc(lengthBytes, 'text '), randomBytes(lengthBytes)];
    const opened = await contentsOf(rangeOf(given, memory));
    expect(opened.contents.map((one, number) => one.equals(given[number] as Buffer))).toEqual([
      true,
      true,
      true,
    ]);
    memory = opened.memory;
    expect(memory.length).toBe(RANGE_BYTES);
  }
});

test('a range that comes to more than the one before is opened in other memory', async () => {
  for (const lengthBytes of [1000, 20 * 1024 ** 2]) {
    const given = Buffer.alloc(lengthBytes, 'text ');
    const { contents } = await contentsOf(rangeOf([given], Buffer.allocUnsafeSlow(RANGE_BYTES)));
    expect(contents[0]?.equals(given)).toBe(true);
  }
});

test('two ranges at once do not get in the way of each other', async () => {
  const given = [[randomBytes(90_000)], [randomBytes(90_000)]];
  const opened = await Promise.all(
    given.map((contents) => contentsOf(rangeOf(contents, Buffer.allocUnsafeSlow(RANGE_BYTES)))),
  );
  expect(opened.map(({ contents }, at) => contents[0]?.equals(given[at]?.[0] as Buffer))).toEqual([
    true,
    true,
  ]);
});

test('nothing of a range is used where one of its blobs is changed', async () => {
  const given = rangeOf([randomBytes(5000), randomBytes(5000)], Buffer.allocUnsafeSlow(RANGE_BYTES));
  given.range.writeUInt8(given.range.readUInt8(9000) ^ 1, 9000);
  let used = 0;
  const opening = coder.openRange(given.task, given.range, async () => {
    used += 1;
  });
  await expect(opening).rejects.toMatchObject({ code: 'backup.damaged' });
  expect(used).toBe(0);
});
