// Benchmark of the memory of agents with many idle volumes, and of a volume's maps (apps/agent/bench).
import { run as measure } from '../../apps/agent/bench/memory.mjs';
import { report } from './report.mjs';

export const run = () => measure({ report });
