// Benchmark of TLS on the data path (apps/agent/bench).
import { run as measure } from '../../apps/agent/bench/tls.mjs';
import { report } from './report.mjs';

export const run = ({ quick }) => measure({ quick, report });
