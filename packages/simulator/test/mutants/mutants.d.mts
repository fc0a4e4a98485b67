export type Mutant = {
  readonly name: string;
  /** The first seed that finds it. */
  readonly seed: number;
  readonly hole: string;
  readonly changes: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
};

export const MUTANTS: readonly Mutant[];
