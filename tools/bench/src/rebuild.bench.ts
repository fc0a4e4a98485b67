// Benchmark of rebuilds: full, delta, fast and resync (apps/agent/bench).
import { run as measure } from '@holdfast/agent/bench/rebuild.js';
import { report } from './report.js';
import type { RunOptions } from './run-options.js';

export const run = ({ quick }: RunOptions): Promise<void> => measure({ quick, report });
