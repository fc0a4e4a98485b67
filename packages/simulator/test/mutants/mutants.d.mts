export type Mutant = {
  readonly name: string;
  /** The first seed that finds it. */
  readonly seed: number;
  readonly hole: string;
  readonly changes: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
};

/** Mutants that a seed up to this one finds are planted in each run of `npm test`. */
export const QUICK_SEED_MAX: number;
export const MUTANTS: readonly Mutant[];
