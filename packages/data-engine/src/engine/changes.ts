/** Fan-out of one change to several copies, with the error of each copy that failed. */
import { isFault } from '@holdfast/core/model/faults.js';
import { isOutOfSpace } from '../base/system-error.js';
import { NbdErrno } from '../nbd/constants.js';
import type { DataLink } from '../nbd/data-link.js';
import { NbdError } from '../nbd/errors.js';
import type { NbdWrite, WriteListener } from '../nbd/export.js';
import type { ReplicaLink } from './replica-link.js';

export type Apply = (client: DataLink) => Promise<void>;
export type Failures = ReadonlyMap<ReplicaLink, unknown>;
export const NO_FAILURES: Failures = new Map();

/**
 * Applies a change to all copies at once. Resolves when each has answered or failed, with the errors of the failed
 * ones.
 */
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

/** A user's write on its way to all copies: one record, which each copy tells of its end. */
export class WriteToAll<Tag> implements WriteListener<ReplicaLink> {
  failures: Map<ReplicaLink, unknown> | undefined;
  private missing: number;

  constructor(
    private readonly owner: { writtenToAll<T>(all: WriteToAll<T>): void },
    readonly write: NbdWrite,
    readonly targets: readonly ReplicaLink[],
    /** Receiver of the outcome. */
    readonly listener: WriteListener<Tag>,
    readonly tag: Tag,
  ) {
    this.missing = targets.length;
  }

  begin(): void {
    for (const link of this.targets) link.client.beginWrite(this.write, this, link);
    if (this.targets.length === 0) this.owner.writtenToAll(this);
  }

  written(link: ReplicaLink, failure: unknown): void {
    if (failure !== undefined) {
      this.failures ??= new Map();
      this.failures.set(link, failure);
    }
    this.missing -= 1;
    if (this.missing === 0) this.owner.writtenToAll(this);
  }
}

/**
 * True when the copy answered with an NBD error, which belongs to the request. Any other error means that the
 * connection failed, and that it is unknown whether the change was applied.
 */
export function isAnswer(error: unknown): error is NbdError {
  return error instanceof NbdError;
}

/** True for any error that means a full disk, however it is reported. */
export function isNoSpace(error: unknown): boolean {
  if (error instanceof NbdError) return error.errno === NbdErrno.NoSpace;
  return isFault(error, 'disk.no_space') || isOutOfSpace(error);
}

/** True where a copy's disk has refused a change for want of space, or because its file system is read-only: what it held is unharmed. */
export function isRefusedChange(error: unknown): boolean {
  return isNoSpace(error) || (error instanceof NbdError && error.errno === NbdErrno.Perm);
}
