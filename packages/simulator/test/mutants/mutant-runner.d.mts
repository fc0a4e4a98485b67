import type { Mutant } from './mutants.mjs';

export function compile(mutant: Pick<Mutant, 'name' | 'changes'>): string;
export function firstFailure(
  folder: string,
  range: { readonly first: number; readonly last: number; readonly hours: number },
): Promise<{ readonly seed: number; readonly problems: readonly string[] } | undefined>;
export function clean(): void;
