import { describe, expect, test } from '@jest/globals';
import { ReadWriteOverlap } from './read-write-overlap.js';

const BLOCK = 4096;
const ignore = () => undefined;

/** Work that ends when the test calls `end`. */
function held<T>(): { promise: Promise<T>; end: (value: T) => void } {
  let end: (value: T) => void = ignore;
  const promise = new Promise<T>((resolve) => {
    end = resolve;
  });
  return { promise, end };
}

/** Lets every promise go on that needs no event. */
async function turnOfTheLoop(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('a read beside writes', () => {
  test('waits for a write of its blocks that is under way', async () => {
    const overlap = new ReadWriteOverlap();
    const write = overlap.beginWrite(0, BLOCK);
    let asked = 0;
    const reading = overlap.read(0, BLOCK, async () => (asked += 1), ignore);
    await turnOfTheLoop();
    expect(asked).toBe(0);
    overlap.endWrite(write);
    expect(await reading).toBe(1);
  });

  test('is done again when a write of its blocks began meanwhile', async () => {
    const overlap = new ReadWriteOverlap();
    const first = held<string>();
    const results = [first.promise, Promise.resolve('after')];
    const discarded: string[] = [];
    const reading = overlap.read(
      0,
      BLOCK,
      () => results.shift() ?? Promise.reject(new Error('read too often')),
      (one) => void discarded.push(one),
    );
    await turnOfTheLoop();
    overlap.endWrite(overlap.beginWrite(0, BLOCK));
    first.end('torn');
    expect(await reading).toBe('after');
    expect(discarded).toEqual(['torn']);
  });

  test('is done again when a write of its blocks was made in one call meanwhile', async () => {
    const overlap = new ReadWriteOverlap();
    const first = held<string>();
    const results = [first.promise, Promise.resolve('after')];
    const reading = overlap.read(
      0,
      BLOCK,
      () => results.shift() ?? Promise.reject(new Error('twice')),
      ignore,
    );
    await turnOfTheLoop();
    overlap.disturb(0, BLOCK);
    first.end('torn');
    expect(await reading).toBe('after');
  });

  test('passes by writes of other blocks', async () => {
    const overlap = new ReadWriteOverlap();
    overlap.beginWrite(BLOCK, 2 * BLOCK);
    expect(overlap.isQuiet(0, BLOCK)).toBe(true);
    expect(await overlap.read(0, BLOCK, async () => 'read', ignore)).toBe('read');
  });

  test('holds writes up once it was disturbed three times, and lets them go when it has ended', async () => {
    const overlap = new ReadWriteOverlap();
    let attempts = 0;
    let last = held<void>();
    const reading = overlap.read(
      0,
      BLOCK,
      async () => {
        attempts += 1;
        last = held<void>();
        return last.promise;
      },
      ignore,
    );
    for (let disturbed = 0; disturbed < 3; disturbed += 1) {
      await turnOfTheLoop();
      expect(overlap.mayWrite(0, BLOCK)).toBeUndefined();
      overlap.endWrite(overlap.beginWrite(0, BLOCK));
      last.end();
    }
    await turnOfTheLoop();
    expect(attempts).toBe(4);
    const waiting = overlap.mayWrite(0, BLOCK);
    expect(waiting).toBeInstanceOf(Promise);
    expect(overlap.mayWrite(BLOCK, 2 * BLOCK)).toBeUndefined();
    last.end();
    await Promise.all([reading, waiting]);
    expect(overlap.mayWrite(0, BLOCK)).toBeUndefined();
  });
});
