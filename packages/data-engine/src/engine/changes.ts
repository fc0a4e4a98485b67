/** Applies one change to several copies, and says which of them failed. */
import { isFault } from '@holdfast/core/model/faults.js';
import { NbdErrno } from '../nbd/constants.js';
import type { DataLink } from '../nbd/data-link.js';
import { NbdError } from '../nbd/errors.js';
import { systemCode } from '../replica/system-error.js';
import type { ReplicaLink } from './replica-link.js';

export type Apply = (client: DataLink) => Promise<void>;
export type Failures = ReadonlyMap<ReplicaLink, unknown>;
export const NO_FAILURES: Failures = new Map();

/** Applies a change to all copies at once; resolves when each has answered or failed, with the errors of those. */
export function failuresOf(targets: readonly ReplicaLink[], apply: Apply): Promise<Failures> {
  let failures: Map<ReplicaLink, unknown> | undefined;
  return new Promise((resolve) => {
    let missing = targets.length;
    const ended = () => {
      missing -= 1;
      if (missing === 0) resolve(failures ?? NO_FAILURES);
    };
    for (const link of targets) {
      apply(link.client).then(ended, (error: unknown) => {
        failures ??= new Map();
        failures.set(link, error);
        ended();
      });
    }
    if (missing === 0) resolve(NO_FAILURES);
  });
}

/** The copy answered, with an error: that belongs to the request. Else nobody knows what became of it. */
export function isAnswer(error: unknown): error is NbdError {
  return error instanceof NbdError;
}

/** A disk is full, in whatever words it comes. */
export function isNoSpace(error: unknown): boolean {
  if (error instanceof NbdError) return error.errno === NbdErrno.NoSpace;
  const code = systemCode(error);
  return isFault(error, 'disk.no_space') || code === 'ENOSPC' || code === 'EDQUOT';
}
