/** A search for the night: random operations on real copies, more than `random-operations.test.ts` does. */
import { expect, test } from '@jest/globals';
import { useClusters } from '../../test/engine-cluster.js';
import { type RandomRunOf, runByChance } from '../../test/random-runs.js';

/** To run more, or to repeat a single seed: `HOLDFAST_RANDOM_SEEDS=7 HOLDFAST_RANDOM_OPERATIONS=1000`. */
const SEEDS = (process.env.HOLDFAST_RANDOM_SEEDS ?? '1,2').split(',').map(Number);
const OPERATIONS = Number(process.env.HOLDFAST_RANDOM_OPERATIONS ?? 120);
/** On block disks: fewer, because most of the code is the same. */
const BLOCK_SEEDS = (process.env.HOLDFAST_RANDOM_BLOCK_SEEDS ?? '11').split(',').map(Number);
const ROUNDS = 2;

const clusters = useClusters();
const runs: Pick<RandomRunOf, 'seed' | 'disk'>[] = [
  ...SEEDS.map((seed) => ({ seed, disk: 'folder' as const })),
  ...BLOCK_SEEDS.map((seed) => ({ seed, disk: 'block disk' as const })),
];

test.each(runs)(
  'many operations by chance leave what a plain model says, on equal copies (seed $seed, each on a $disk)',
  async ({ seed, disk }) => {
    const run = runByChance(clusters, { seed, disk, rounds: ROUNDS, operations: OPERATIONS });
    await expect(run).resolves.toBeUndefined();
  },
);
