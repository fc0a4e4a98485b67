import { beforeEach, describe, expect, test } from '@jest/globals';
import { DiskPace } from './disk-pace.js';

const BLOCK_BYTES = 4096;
let nowMs: number;
let pace: DiskPace;

beforeEach(() => {
  nowMs = 1_000;
  pace = new DiskPace({ nowMs: () => nowMs });
});

function threadTakes(ms: number, lengthBytes = BLOCK_BYTES): void {
  const ended = pace.beginThreaded(lengthBytes);
  nowMs += ms;
  ended();
}

function fourFastCalls(): void {
  for (let call = 0; call < 4; call += 1) threadTakes(0.1);
}

describe('the pace of a disk', () => {
  test('lets the event loop wait once threads had four transfers back fast, one after the other', () => {
    for (let call = 0; call < 3; call += 1) threadTakes(0.1);
    expect(pace.mayWait(BLOCK_BYTES)).toBe(false);
    threadTakes(0.1);
    expect(pace.mayWait(BLOCK_BYTES)).toBe(true);
  });

  test.each([
    { name: 'a slow transfer in between', between: () => threadTakes(2) },
    { name: 'a sync instead of the last one', between: () => threadTakes(0.1, 0) },
    { name: 'a long transfer instead of the last one', between: () => threadTakes(0.1, 1_048_576) },
  ])('asks for four in a row: $name does not do', ({ between }) => {
    for (let call = 0; call < 3; call += 1) threadTakes(0.1);
    between();
    expect(pace.mayWait(BLOCK_BYTES)).toBe(false);
  });

  test('leaves everything to threads while one of them works, and transfers beside another one uncounted', () => {
    fourFastCalls();
    const ended = pace.beginThreaded(BLOCK_BYTES);
    expect(pace.mayWait(BLOCK_BYTES)).toBe(false);
    threadTakes(50);
    ended();
    // The first one took 50 ms as well, and was alone when it began.
    expect(pace.mayWait(BLOCK_BYTES)).toBe(false);
    fourFastCalls();
    expect(pace.mayWait(BLOCK_BYTES)).toBe(true);
  });

  test('never waits while the process does something that goes on without the disk', () => {
    fourFastCalls();
    const ends = [pace.beginIndependent(), pace.beginIndependent()];
    expect(pace.mayWait(BLOCK_BYTES)).toBe(false);
    ends[0]?.();
    expect(pace.mayWait(BLOCK_BYTES)).toBe(false);
    ends[1]?.();
    expect(pace.mayWait(BLOCK_BYTES)).toBe(true);
  });

  test('never waits for a long transfer', () => {
    fourFastCalls();
    expect([pace.mayWait(32 * 1024), pace.mayWait(32 * 1024 + 1)]).toEqual([true, false]);
  });

  test('copies into memory whatever threads do, up to 128 KiB, and not beside what goes on without the disk', () => {
    const ended = pace.beginThreaded(BLOCK_BYTES);
    expect([pace.mayCopy(BLOCK_BYTES), pace.mayCopy(128 * 1024), pace.mayCopy(128 * 1024 + 1)]).toEqual([
      true,
      true,
      false,
    ]);
    ended();
    const end = pace.beginIndependent();
    expect(pace.mayCopy(BLOCK_BYTES)).toBe(false);
    end();
  });

  test('leaves copies to threads after one that took more than 8 ms, for twenty times as long', () => {
    const copyTakes = (ms: number) =>
      pace.copy(() => {
        nowMs += ms;
      });
    copyTakes(8);
    expect(pace.mayCopy(BLOCK_BYTES)).toBe(true);
    copyTakes(9);
    nowMs += 179;
    expect(pace.mayCopy(BLOCK_BYTES)).toBe(false);
    nowMs += 1;
    expect(pace.mayCopy(BLOCK_BYTES)).toBe(true);
  });

  test('learns nothing about transfers from copies', () => {
    for (let call = 0; call < 4; call += 1) pace.copy(() => undefined);
    expect(pace.mayWait(BLOCK_BYTES)).toBe(false);
  });

  test('goes back to threads after a slow call, for twenty times as long, and until they are fast again', () => {
    fourFastCalls();
    pace.wait(() => {
      nowMs += 10;
    });
    fourFastCalls();
    nowMs += 198;
    expect(pace.mayWait(BLOCK_BYTES)).toBe(false);
    nowMs += 2;
    expect(pace.mayWait(BLOCK_BYTES)).toBe(true);
  });

  test('counts a call that failed slowly as well', () => {
    fourFastCalls();
    const fails = () => {
      nowMs += 10;
      throw new Error('EIO');
    };
    expect(() => pace.wait(fails)).toThrow('EIO');
    expect(pace.mayWait(BLOCK_BYTES)).toBe(false);
  });
});
