import type { BenchOptions } from '@holdfast/data-engine/bench/figure.js';

/** What the command line says to a benchmark; where figures go is the same for all of them. */
export type RunOptions = Pick<BenchOptions, 'quick'>;
