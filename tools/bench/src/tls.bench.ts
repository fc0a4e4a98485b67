// Benchmark of TLS on the data path (apps/agent/bench).
import { run as measure } from '@holdfast/agent/bench/tls.js';
import { report } from './report.js';
import type { RunOptions } from './run-options.js';

export const run = ({ quick }: RunOptions): Promise<void> => measure({ quick, report });
