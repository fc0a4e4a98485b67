import type { Clock } from '@holdfast/control/ports/clock.js';
import type { Queue, WakeUp } from '@holdfast/control/ports/queue.js';

/** A queue that merges equal wake-ups, first come first served. A delayed one waits for its time apart from the others. */
export class SimQueue implements Queue {
  private readonly waiting = new Map<string, WakeUp>();
  private readonly delayed = new Map<string, { wakeUp: WakeUp; atMs: number }>();

  constructor(private readonly clock: Clock) {}

  async wake(wakeUp: WakeUp, { delayMs = 0 }: { delayMs?: number } = {}): Promise<void> {
    const key = `${wakeUp.kind} ${wakeUp.kind === 'volume' ? wakeUp.volumeId : wakeUp.clusterId}`;
    if (delayMs === 0) this.waiting.set(key, wakeUp);
    else this.delayed.set(key, { wakeUp, atMs: this.clock.now().getTime() + delayMs });
  }

  get isWaiting(): boolean {
    return this.waiting.size > 0;
  }

  /** When the first of those that are delayed is to be delivered; `undefined`: none is. */
  get nextMs(): number | undefined {
    if (this.delayed.size === 0) return undefined;
    return Math.min(...[...this.delayed.values()].map(({ atMs }) => atMs));
  }

  take(): WakeUp | undefined {
    this.release();
    const [first] = this.waiting;
    if (first === undefined) return undefined;
    this.waiting.delete(first[0]);
    return first[1];
  }

  private release(): void {
    for (const [key, { wakeUp, atMs }] of this.delayed) {
      if (atMs > this.clock.now().getTime()) continue;
      this.delayed.delete(key);
      this.waiting.set(key, wakeUp);
    }
  }
}
