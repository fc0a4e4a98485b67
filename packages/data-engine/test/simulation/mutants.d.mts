import type { Mutant } from './runner.d.mts';

export const MUTANTS: readonly Mutant[];
/** Mutants that are found by this seed are tried in each quick test run. */
export const QUICK_SEED_MAX: number;
