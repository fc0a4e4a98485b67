/**
 * Wake-ups that this process has put into the queue and has not seen begin. The queue would merge another one of the same
 * subject, but each costs it a transaction: while 100,000 volumes wait, a sweep would add them all every five seconds.
 *
 * Only the sweep asks. Whatever brings news is queued in any case: another process may be at work on its subject.
 */
import type { Queue, WakeUp } from '@holdfast/control/ports/queue.js';

/** Two sweeps: after this a job may be lost, or another process has done it. */
const AWAITED_MS_MAX = 10_000;

export class InFlightJobs {
  /** When each was put into the queue, the oldest first. */
  private readonly sinceMs = new Map<string, number>();

  /** @param nowMs a clock that never goes back */
  constructor(private readonly nowMs: () => number) {}

  note(wakeUp: WakeUp): void {
    const key = keyOf(wakeUp);
    this.sinceMs.delete(key);
    this.sinceMs.set(key, this.nowMs());
    this.forgetOld();
  }

  /** It has begun, or it could not be put into the queue. */
  began(wakeUp: WakeUp): void {
    this.sinceMs.delete(keyOf(wakeUp));
  }

  isAwaited(wakeUp: WakeUp): boolean {
    this.forgetOld();
    return this.sinceMs.has(keyOf(wakeUp));
  }

  private forgetOld(): void {
    for (const [key, since] of this.sinceMs) {
      if (this.nowMs() - since < AWAITED_MS_MAX) return;
      this.sinceMs.delete(key);
    }
  }
}

/** The queue as the sweep sees it: nothing is added that is awaited already. */
export function withoutAwaited(queue: Queue, inFlightJobs: InFlightJobs): Queue {
  return {
    async wake(wakeUp, options) {
      if (!inFlightJobs.isAwaited(wakeUp)) await queue.wake(wakeUp, options);
    },
  };
}

function keyOf(wakeUp: WakeUp): string {
  return wakeUp.kind === 'volume' ? wakeUp.volumeId : wakeUp.clusterId;
}
