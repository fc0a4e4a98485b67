import { TIB } from '@holdfast/core/model/bytes.js';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ExactSum } from './exact-sum.js';

function sumOf(values: readonly number[]): ExactSum {
  const sum = new ExactSum();
  for (const value of values) sum.add(value);
  return sum;
}

test('agrees with whole numbers of any size, in any order, with values taken off again', () => {
  const bytes = fc.maxSafeInteger();
  fc.assert(
    fc.property(fc.array(bytes, { minLength: 1, maxLength: 50 }), (values) => {
      const exact = values.reduce((sum, value) => sum + BigInt(value), 0n);
      expect(sumOf(values).toNumber()).toBe(Number(exact));
      expect(sumOf([...values].reverse()).equals(sumOf(values))).toBe(true);
      const backAndForth = sumOf([...values, 7, ...values.map((value) => -value)]);
      expect(backAndForth.equals(sumOf([7]))).toBe(true);
    }),
    { seed: 60, numRuns: 2_000 },
  );
});

test('one byte more on a hundred thousand disks of 16 TiB is seen, where a double would lose it', () => {
  const disks = Array.from({ length: 100_000 }, () => 16 * TIB);
  expect([...disks, 1].reduce((sum, value) => sum + value, 0)).toBe(100_000 * 16 * TIB);
  const sum = sumOf(disks);
  expect(sumOf([...disks, 1]).equals(sum)).toBe(false);
  const both = sumOf([1]);
  both.addSum(sum);
  expect(both.equals(sumOf([...disks, 1]))).toBe(true);
});
