export type Change = { readonly file: string; readonly find: string; readonly replace: string };
type Broken = {
  readonly name: string;
  readonly hole: string;
  readonly faults: readonly string[];
  readonly disks?: 'folder' | 'block';
  readonly changes: readonly Change[];
};
/** Found by this seed first, or by hand only. */
export type Mutant = Broken & ({ readonly seed: number } | { readonly isByHand: true });
export type Failure = { readonly seed: number; readonly failure: string; readonly story: readonly string[] };

export function compile(mutant?: Mutant): string;
export function search(options: {
  folder: string;
  first: number;
  last: number;
  workers?: number;
  args?: readonly string[];
  isFinal?: (result: { seed: number; failure: string | null }) => boolean;
  timeoutMs?: number;
}): Promise<{ seeds: number; failures: Failure[] }>;
