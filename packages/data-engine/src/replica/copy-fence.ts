/**
 * Fencing of a copy: only the engine that opened it last may change it, at that epoch and under the lease it got.
 *
 * The check runs at the moment of each change's effect, not when its command arrives: a command may queue behind a
 * fence, or be delivered long after its caller gave it up.
 */
import crypto from 'node:crypto';
import { staleEpoch, stateChanged } from '../protocol/replica-faults.js';
import type { HeadChange, Opening, Term } from '../protocol/term.js';

/** Leases start at a random number, so that a lease of an earlier process is not mistaken for one of this process. */
const FIRST_LEASE_MAX = 2 ** 40;

/** The part of the copy's stored metadata that fencing needs. */
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
   * Revokes all earlier leases if the opening asks for it and has not been carried out already.
   *
   * @returns true if it did
   * @throws StorageFault `replica.state_changed` when a later opening holds the copy
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
   * Checks a command. One of this epoch with an older lease comes from an engine that has started over with this
   * copy: that engine still runs, and must not take the refusal for a newer engine's.
   *
   * @throws StorageFault `engine.stale_epoch` when something newer has opened the copy, `replica.state_changed`
   */
  require(term: Term | undefined): void {
    if (term === undefined) return;
    const { epoch } = this.stored();
    if (term.epoch !== epoch) throw staleEpoch(term.epoch, epoch);
    if (!this.isLease(term)) throw stateChanged();
  }

  /** Checks a change on a data connection. @throws StorageFault `engine.stale_epoch` */
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

  /**
   * Idempotency: true if the head is already the one that the command makes. @throws StorageFault
   * `replica.state_changed`
   */
  isDone({ headId, expectedHeadId }: HeadChange = {}): boolean {
    const now = this.stored().layers.at(-1)?.id;
    if (headId !== undefined && headId === now) return true;
    if (expectedHeadId !== undefined && expectedHeadId !== now) throw stateChanged();
    return false;
  }
}
