import type { Fault } from './fault-table.d.mts';

export type Result = {
  readonly name: string;
  readonly room: string;
  readonly verdict: 'found' | 'timed out' | 'missed' | 'crashed' | 'unproven';
  /** The suite that found it, or that proves nothing. */
  readonly by: string | undefined;
  readonly seconds: number;
};

type RunOptions = {
  readonly repositoryRoot: string;
  readonly tier: 'test' | 'all';
  readonly withRelated?: boolean;
  readonly havePassed?: boolean;
  readonly limits?: Partial<Record<'finderMs' | 'relatedMs' | 'listMs' | 'buildMs', number>>;
  readonly onResult?: (result: Result) => void;
};

export function runFaults(faults: readonly Fault[], options: RunOptions): Promise<Result[]>;
export function isFound(result: Result): boolean;
