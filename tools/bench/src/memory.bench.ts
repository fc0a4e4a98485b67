// Benchmark of the memory of agents with many idle volumes, and of a volume's maps (apps/agent/bench).
import { run as measure } from '@holdfast/agent/bench/memory.js';
import { report } from './report.js';

export const run = (): Promise<void> => measure({ report });
