import { KIB } from '@holdfast/core/model/bytes.js';
import { describe, expect, test } from '@jest/globals';
import { DiskAllowance, WriteBackBudget } from './write-back-budget.js';

const BLOCK_BYTES = 4 * KIB;

/** Ends a test of a budget without a bound; the largest that there is holds 16 MiB. */
const WRITES_MAX = 10_000;

/** Writes until the budget is exhausted. @returns the number of writes */
function fill(budget: WriteBackBudget, lengthBytes = BLOCK_BYTES): number {
  let taken = 0;
  while (budget.take(lengthBytes)) {
    taken += 1;
    if (taken > WRITES_MAX) throw new Error('any number of writes may wait');
  }
  return taken;
}

describe('what may wait in the page cache', () => {
  test('is bounded until a sync has covered it', () => {
    const budget = new WriteBackBudget(new DiskAllowance());
    const taken = fill(budget);
    expect(taken).toBeGreaterThan(200);
    const ended = budget.beginSync();
    expect(budget.take(BLOCK_BYTES)).toBe(false);
    ended(true, 10);
    expect(budget.take(BLOCK_BYTES)).toBe(true);
  });

  test('counts what is written during a sync for the next one', () => {
    const budget = new WriteBackBudget(new DiskAllowance());
    const ended = budget.beginSync();
    const taken = fill(budget);
    ended(true, 10);
    expect(budget.take(BLOCK_BYTES)).toBe(false);
    budget.beginSync()(true, 10);
    expect(fill(budget)).toBeGreaterThanOrEqual(taken);
  });

  test('grows while syncs are short, to an end', () => {
    const budget = new WriteBackBudget(new DiskAllowance());
    const amounts = Array.from({ length: 8 }, () => {
      const taken = fill(budget);
      budget.beginSync()(true, 20);
      return taken;
    });
    expect(amounts[1]).toBeGreaterThan(amounts[0] ?? 0);
    expect(amounts[7]).toBe(amounts[6]);
    expect((amounts[7] ?? 0) * BLOCK_BYTES).toBeLessThan(16 * 1024 * KIB);
  });

  test('shrinks to what the disk writes in a quarter of a second', () => {
    const budget = new WriteBackBudget(new DiskAllowance());
    const before = fill(budget);
    // A disk with 100 places a second: the next flush is to wait for some tens of them.
    budget.beginSync()(true, 10 * before);
    const taken = fill(budget);
    expect(taken).toBeLessThan(before / 2);
    expect(taken).toBeGreaterThan(0);
  });

  test('counts long writes by their bytes too', () => {
    const budget = new WriteBackBudget(new DiskAllowance());
    const small = fill(budget);
    budget.beginSync()(true, 200);
    expect(fill(budget, 128 * KIB)).toBeLessThan(small);
  });

  test('is for a new file what the disk has shown with others', () => {
    const disk = new DiskAllowance();
    const first = new WriteBackBudget(disk);
    const before = fill(first);
    first.beginSync()(true, 20);
    expect(fill(new WriteBackBudget(disk))).toBeGreaterThan(before);
  });

  test('asks for a sync at its half, and for none while one is under way', () => {
    const budget = new WriteBackBudget(new DiskAllowance());
    expect(budget.wantsSync).toBe(false);
    fill(budget);
    expect(budget.wantsSync).toBe(true);
    const ended = budget.beginSync();
    expect(budget.wantsSync).toBe(false);
    ended(true, 10);
    expect(budget.wantsSync).toBe(false);
  });

  test('is given back by no sync that failed', () => {
    const budget = new WriteBackBudget(new DiskAllowance());
    fill(budget);
    budget.beginSync()(false, 0);
    expect(budget.take(BLOCK_BYTES)).toBe(false);
  });

  test('is given back once by two syncs that cover the same', () => {
    const budget = new WriteBackBudget(new DiskAllowance());
    const first = budget.beginSync();
    const taken = fill(budget);
    const [second, third] = [budget.beginSync(), budget.beginSync()];
    third(true, 200);
    second(true, 200);
    first(true, 200);
    expect(fill(budget)).toBeLessThanOrEqual(2 * taken + 1);
  });
});
