import { expect, test } from '@jest/globals';
import { useClusters } from '../../test/engine-cluster.js';
import { runByChance } from '../../test/random-runs.js';

/** `random-operations.night.test.ts` does ten times as many. */
const OPERATIONS = 40;

const clusters = useClusters();

test.each([
  { seed: 1, disk: 'folder' },
  { seed: 11, disk: 'block disk' },
] as const)(
  'operations by chance leave what a plain model says, on equal copies (seed $seed, each on a $disk)',
  async ({ seed, disk }) => {
    const run = runByChance(clusters, { seed, disk, rounds: 1, operations: OPERATIONS });
    await expect(run).resolves.toBeUndefined();
  },
);
