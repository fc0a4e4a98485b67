import { describe, test } from '@jest/globals';
import { MIB, useClusters } from '../../test/engine-cluster.js';
import { RandomRun } from '../../test/random-run.js';

/** To run more, or to repeat a single seed: `HOLDFAST_RANDOM_SEEDS=7 HOLDFAST_RANDOM_OPERATIONS=1000`. */
const SEEDS = (process.env.HOLDFAST_RANDOM_SEEDS ?? '1,2').split(',').map(Number);
const OPERATIONS = Number(process.env.HOLDFAST_RANDOM_OPERATIONS ?? 120);
/** On block disks: fewer, because most of what they do is the same. */
const BLOCK_SEEDS = (process.env.HOLDFAST_RANDOM_BLOCK_SEEDS ?? '11').split(',').map(Number);
const BLOCK_DISK_BYTES = 512 * MIB;
const ROUNDS = 2;

const { cluster, nodes } = useClusters();

describe('operations by chance', () => {
  test.each([
    ...SEEDS.map((seed) => ({ seed, disk: 'folder' })),
    ...BLOCK_SEEDS.map((seed) => ({ seed, disk: 'block disk' })),
  ])(
    'leave what a plain model says, on equal copies (seed $seed, each on a $disk)',
    async ({ seed, disk }) => {
      await nodes().crashExactly();
      if (disk === 'block disk') nodes().blockDiskBytes = BLOCK_DISK_BYTES;
      const volume = await cluster(2 + (seed % 2), 20 * MIB);
      const run = new RandomRun(seed, nodes(), volume);
      try {
        for (let round = 0; round < ROUNDS; round += 1) await run.round(OPERATIONS);
      } catch (error) {
        const story = run.story.slice(-40).join(', ');
        throw new Error(`seed ${seed}, after ${run.steps} steps (… ${story}): ${String(error)}`, {
          cause: error,
        });
      }
    },
  );
});
