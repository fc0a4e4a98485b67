// Benchmark of rebuilds: full, delta, fast and resync (apps/agent/bench).
import { run as measure } from '../../apps/agent/bench/rebuild.mjs';
import { report } from './report.mjs';

export const run = ({ quick }) => measure({ quick, report });
