/**
 * Who may change a copy: the engine that opened it last, at the epoch and under the lease that it got then.
 *
 * Every change asks here at the moment of its effect, not when its command arrives: a command may wait behind a fence,
 * or be delivered long after its caller has given it up.
 */
import crypto from 'node:crypto';
import { staleEpoch, stateChanged } from './replica-faults.js';

/** What a command was sent under. Without a lease only the epoch counts: the caller has not opened the copy itself. */
export type Term = { readonly epoch: number; readonly lease?: number | undefined };

/** The state that a command is about, and the one it makes. Absent: whatever state the copy is in. */
export type HeadChange = {
  /** The head that the caller knows. With another one the command is refused. */
  readonly expectedHeadId?: string | undefined;
  /** The head that the command makes. A copy that has it already has done the command already. */
  readonly headId?: string | undefined;
};

/** How an engine takes hold of a copy. */
export type Opening = {
  /** It begins anew with this copy: what is still on its way from before is refused, of the same epoch too. */
  readonly afresh?: boolean | undefined;
  /** Counted by the engine, so that an opening that is late, or delivered twice, does not end the one that holds. */
  readonly count?: number | undefined;
  /** Which grant of the epoch it works under; absent where the control plane names none. */
  readonly grantId?: string | undefined;
};

/** Leases begin anywhere, so that one of an earlier process is not taken for one of this. */
const FIRST_LEASE_MAX = 2 ** 40;

/** What the copy has stored of itself, as far as it matters here. */
type Stored = {
  readonly epoch: number;
  readonly grantId?: string | null | undefined;
  readonly layers: readonly { readonly id: string }[];
};

export class CopyFence {
  private current = crypto.randomInt(1, FIRST_LEASE_MAX);
  private newest: { epoch: number; count: number } | undefined;

  constructor(private readonly stored: () => Stored) {}

  get lease(): number {
    return this.current;
  }

  renewLease(): void {
    this.current += 1;
  }

  /**
   * Ends all leases of before, where the opening asks for that and has not been carried out already.
   *
   * @returns whether it did @throws StorageFault `replica.state_changed` when a later opening holds the copy
   */
  renewFor({ afresh, count }: Opening): boolean {
    const { epoch } = this.stored();
    if (count !== undefined) {
      const last = this.newest?.epoch === epoch ? this.newest.count : -1;
      if (count < last) throw stateChanged();
      if (count === last) return false;
      this.newest = { epoch, count };
    }
    if (afresh !== true) return false;
    this.renewLease();
    return true;
  }

  /**
   * For a command. One of the same epoch and an older lease comes from an engine that has begun anew with this copy: it
   * runs, and must not take the refusal for a successor.
   *
   * @throws StorageFault `engine.stale_epoch` when something newer has opened the copy, `replica.state_changed`
   */
  require(term: Term | undefined): void {
    if (term === undefined) return;
    const { epoch } = this.stored();
    if (term.epoch !== epoch) throw staleEpoch(term.epoch, epoch);
    if (!this.isLease(term)) throw stateChanged();
  }

  /** For a change on a data connection. @throws StorageFault `engine.stale_epoch` */
  requireConnection(term: Term): void {
    const { epoch } = this.stored();
    if (term.epoch !== epoch || !this.isLease(term)) throw staleEpoch(term.epoch, epoch);
  }

  private isLease({ lease = this.current }: Term): boolean {
    return lease === this.current;
  }

  /** @throws StorageFault `engine.stale_epoch` when a higher epoch, or another grant of this one, has opened the copy */
  requireMayOpen(epoch: number, { grantId }: Opening): void {
    const { epoch: newest, grantId: granted } = this.stored();
    if (epoch < newest) throw staleEpoch(epoch, newest);
    const isOther = grantId !== undefined && granted !== undefined && granted !== null && granted !== grantId;
    if (epoch === newest && isOther) throw staleEpoch(epoch, newest);
  }

  /** True when the head is already the one that the command makes. @throws StorageFault `replica.state_changed` */
  isDone({ headId, expectedHeadId }: HeadChange = {}): boolean {
    const now = this.stored().layers.at(-1)?.id;
    if (headId !== undefined && headId === now) return true;
    if (expectedHeadId !== undefined && expectedHeadId !== now) throw stateChanged();
    return false;
  }
}
