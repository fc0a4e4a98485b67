import type { Mutant } from './runner.d.mts';

export const MUTANTS: readonly Mutant[];
