export type Change = { readonly find: string; readonly replace: string };

export type Fault = {
  readonly room: string;
  readonly name: string;
  /** Which rule is broken, in one sentence. */
  readonly breaks: string;
  /** Below the repository, as `foundBy` is. */
  readonly file: string;
  readonly changes: readonly Change[];
  readonly foundBy: string;
  readonly onDist?: boolean;
};

type Choice = {
  readonly only?: readonly string[];
  readonly sample?: number | undefined;
  readonly seed?: number;
  readonly tier?: 'test' | 'all';
};

export const FAULTS: readonly Fault[];
export const SIMULATED_FAULTS: readonly string[];
export function isLong(suite: string): boolean;
export function chooseFaults(faults: readonly Fault[], choice: Choice): Fault[];
export function withFault(text: string, fault: Pick<Fault, 'name' | 'file' | 'changes'>): string;
