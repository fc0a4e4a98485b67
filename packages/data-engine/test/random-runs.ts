/** Runs of operations by chance on a volume with real copies, compared with a plain model. */
import { MIB, type useClusters } from './engine-cluster.js';
import { RandomRun } from './random-run.js';

const BLOCK_DISK_BYTES = 512 * MIB;
/** Steps that an error tells of: the last ones. */
const STEPS_TOLD = 40;

export type RandomRunOf = {
  readonly seed: number;
  readonly disk: 'folder' | 'block disk';
  readonly rounds: number;
  readonly operations: number;
};

export async function runByChance(
  { cluster, nodes }: ReturnType<typeof useClusters>,
  { seed, disk, rounds, operations }: RandomRunOf,
): Promise<void> {
  await nodes().crashExactly();
  if (disk === 'block disk') nodes().blockDiskBytes = BLOCK_DISK_BYTES;
  const volume = await cluster(2 + (seed % 2), 20 * MIB);
  const run = new RandomRun(seed, nodes(), volume);
  try {
    for (let round = 0; round < rounds; round += 1) await run.round(operations);
  } catch (error) {
    const story = run.story.slice(-STEPS_TOLD).join(', ');
    throw new Error(`seed ${seed}, after ${run.steps} steps (… ${story}): ${String(error)}`, {
      cause: error,
    });
  }
}
