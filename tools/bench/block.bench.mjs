// Benchmark of a copy on a block disk beside one on a folder of the same file system (packages/data-engine/bench).
import { run as measure } from '../../packages/data-engine/bench/block-disk.mjs';
import { report } from './report.mjs';

export const run = ({ quick }) => measure({ report, quick });
