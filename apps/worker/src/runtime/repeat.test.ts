import { describe, expect, test } from '@jest/globals';
import { Repeat } from './repeat.js';

/** A run comes a millisecond after the one before. A repetition that has ended is to fail the test, not to hang it. */
const RUNS_WITHIN_MS = 30_000;

describe('Repeat', () => {
  test(
    'goes on after an error, and not after a stop',
    async () => {
      const errors: unknown[] = [];
      let runs = 0;
      const thirdRun = new Promise<void>((resolve) => {
        const repeat = new Repeat(
          async () => {
            runs += 1;
            if (runs === 2) throw new Error('once');
            if (runs === 3) resolve(repeat.stop());
          },
          1,
          (error) => errors.push(error),
        );
        repeat.start();
      });
      await thirdRun;
      expect(runs).toBe(3);
      expect(errors).toHaveLength(1);
    },
    RUNS_WITHIN_MS,
  );
});
