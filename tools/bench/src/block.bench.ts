// Benchmark of a copy on a block disk beside one on a folder of the same file system (packages/data-engine/bench).
import { run as measure } from '@holdfast/data-engine/bench/block-disk.js';
import { report } from './report.js';
import type { RunOptions } from './run-options.js';

export const run = ({ quick }: RunOptions): Promise<void> => measure({ quick, report });
