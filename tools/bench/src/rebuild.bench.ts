// Benchmark of rebuilds: full, delta, fast and resync between agents (apps/agent/bench), and of a whole one on the local stack.
import { run as measure } from '@holdfast/agent/bench/rebuild.js';
import { GIB, MIB } from '@holdfast/core/model/bytes.js';
import { measureWholeRebuild } from './rebuild/whole-rebuild.js';
import { report } from './report.js';
import type { RunOptions } from './run-options.js';

export async function run({ quick }: RunOptions): Promise<void> {
  await measure({ quick, report });
  await measureWholeRebuild(quick ? 256 * MIB : GIB);
}
