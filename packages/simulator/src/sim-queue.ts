import type { Queue, WakeUp } from '@holdfast/control/ports/queue.js';

/** A queue that merges equal wake-ups, first come first served. A delay only puts one behind the others. */
export class SimQueue implements Queue {
  private readonly waiting = new Map<string, WakeUp>();

  async wake(wakeUp: WakeUp): Promise<void> {
    const id = wakeUp.kind === 'volume' ? wakeUp.volumeId : wakeUp.clusterId;
    this.waiting.set(`${wakeUp.kind} ${id}`, wakeUp);
  }

  take(): WakeUp | undefined {
    const first = [...this.waiting][0];
    if (first === undefined) return undefined;
    this.waiting.delete(first[0]);
    return first[1];
  }
}
