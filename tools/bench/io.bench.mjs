// Benchmark of I/O through the engine (apps/agent/bench).
import { run as measure } from '../../apps/agent/bench/io.mjs';
import { report } from './report.mjs';

export const run = ({ quick }) => measure({ quick, report });
