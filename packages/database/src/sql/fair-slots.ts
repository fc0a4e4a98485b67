/**
 * Slots that several owners share: connections of a pool, threads. An owner may use some of them only, and among waiting owners the
 * one that uses fewest is next, so that one organization's long queries leave room for the others' short ones.
 */
export type SlotLimits = {
  readonly slots: number;
  /** Slots that one owner may use at once. Fewer than all, or one owner can hold all of them. */
  readonly ofOwner: number;
  /** Callers of one owner that may wait; a further one is refused, since it would only wait longer. */
  readonly waitingOfOwner: number;
  /** Callers that may wait, of all owners. */
  readonly waiting: number;
};

export type SlotRefusal = 'full' | 'gave-up';

/** How long a caller waits for a slot. */
export type Patience = {
  readonly ms: number;
  /** The caller no longer waits for the slot. */
  readonly gone?: AbortSignal | undefined;
};
type Waiter = { readonly begin: () => void };

export class FairSlots {
  private readonly held = new Map<string, number>();
  private readonly waiting = new Map<string, Set<Waiter>>();
  /** When each owner of a slot or a place in line got its last slot, in the order of all slots given. */
  private readonly servedAt = new Map<string, number>();
  private served = 0;
  private heldByAll = 0;
  private waitingOfAll = 0;

  /** @param refuse makes the error for a caller that gets no slot */
  constructor(
    private readonly limits: SlotLimits,
    private readonly refuse: (why: SlotRefusal) => Error,
  ) {}

  /** Slots in use, and callers that wait for one. */
  get load(): { readonly used: number; readonly waiting: number } {
    return { used: this.heldByAll, waiting: this.waitingOfAll };
  }

  /** Runs the work in a slot of the owner's. */
  async use<T>(owner: string, work: () => Promise<T>, patience: Patience): Promise<T> {
    if (!this.hasRoom(owner)) await this.wait(owner, patience);
    else this.take(owner);
    try {
      return await work();
    } finally {
      this.giveBack(owner);
    }
  }

  private hasRoom(owner: string): boolean {
    return this.heldByAll < this.limits.slots && this.heldBy(owner) < this.limits.ofOwner;
  }

  private heldBy(owner: string): number {
    return this.held.get(owner) ?? 0;
  }

  private take(owner: string): void {
    this.held.set(owner, this.heldBy(owner) + 1);
    this.heldByAll += 1;
    this.served += 1;
    this.servedAt.set(owner, this.served);
  }

  private giveBack(owner: string): void {
    const left = this.heldBy(owner) - 1;
    if (left === 0) this.held.delete(owner);
    else this.held.set(owner, left);
    this.heldByAll -= 1;
    this.forgetIdle(owner);
    this.serveNext();
  }

  /** The slot is taken for the waiter here, so that no caller that comes in between can have it. */
  private wait(owner: string, { ms, gone }: Patience): Promise<void> {
    const line = this.waiting.get(owner) ?? new Set<Waiter>();
    const isFull = line.size >= this.limits.waitingOfOwner || this.waitingOfAll >= this.limits.waiting;
    if (isFull) return Promise.reject(this.refuse('full'));
    if (gone?.aborted === true) return Promise.reject(this.refuse('gave-up'));
    return new Promise((resolve, reject) => {
      const stopWaiting = () => {
        clearTimeout(timer);
        gone?.removeEventListener('abort', giveUp);
      };
      const giveUp = () => {
        stopWaiting();
        this.leave(owner, waiter);
        reject(this.refuse('gave-up'));
      };
      const waiter: Waiter = {
        begin: () => {
          stopWaiting();
          resolve();
        },
      };
      // Not AbortSignal.timeout: each of those lives for the whole time, and half of a busy API's requests wait here.
      const timer = setTimeout(giveUp, ms).unref();
      gone?.addEventListener('abort', giveUp, { once: true });
      this.waiting.set(owner, line.add(waiter));
      this.waitingOfAll += 1;
    });
  }

  private serveNext(): void {
    const owner = this.nextOwner();
    if (owner === undefined) return;
    const [waiter] = this.waiting.get(owner) ?? [];
    if (waiter === undefined) return;
    this.take(owner);
    this.leave(owner, waiter);
    waiter.begin();
  }

  private nextOwner(): string | undefined {
    let next: string | undefined;
    for (const owner of this.waiting.keys()) {
      if (!this.hasRoom(owner)) continue;
      if (next === undefined || this.isBefore(owner, next)) next = owner;
    }
    return next;
  }

  /** Fewer slots come first; then the owner that got its last one longer ago. */
  private isBefore(owner: string, other: string): boolean {
    const difference = this.heldBy(owner) - this.heldBy(other);
    if (difference !== 0) return difference < 0;
    return (this.servedAt.get(owner) ?? 0) < (this.servedAt.get(other) ?? 0);
  }

  private forgetIdle(owner: string): void {
    if (!this.held.has(owner) && !this.waiting.has(owner)) this.servedAt.delete(owner);
  }

  private leave(owner: string, waiter: Waiter): void {
    const line = this.waiting.get(owner);
    if (line?.delete(waiter) !== true) return;
    if (line.size === 0) this.waiting.delete(owner);
    this.waitingOfAll -= 1;
    this.forgetIdle(owner);
  }
}
