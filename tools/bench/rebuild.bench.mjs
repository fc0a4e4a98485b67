// Rebuilds: the figures of full, delta, fast and resync by themselves (apps/agent/bench).
import { run as measure } from '../../apps/agent/bench/rebuild.mjs';
import { report } from './report.mjs';

export const run = ({ quick }) => measure({ quick, report });
