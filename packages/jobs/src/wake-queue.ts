import type { Queue, WakeUp } from '@holdfast/control/ports/queue.js';
import type { JobBackend, JobQueue } from './backend.js';
import { jobOf, QUEUE_NAMES } from './queues.js';

/** Failed jobs are kept for a look; the sweep brings their subjects back, so they are not tried again themselves. */
const FAILED_KEPT = 100;

/** Control's `Queue` on BullMQ. */
export class WakeQueue implements Queue {
  readonly #queues: Record<WakeUp['kind'], JobQueue>;

  constructor(backend: JobBackend, onError: (error: Error) => void) {
    this.#queues = {
      volume: backend.queue(QUEUE_NAMES.volume, onError),
      cluster: backend.queue(QUEUE_NAMES.cluster, onError),
    };
  }

  /**
   * One waiting job for each subject. `keepLastIfActive` makes a wake-up that comes while its subject is worked on
   * lead to one more run. A delayed one must not swallow an immediate one, so it has an identity of its own.
   */
  async wake(wakeUp: WakeUp, { delayMs = 0 }: { delayMs?: number } = {}): Promise<void> {
    const job = jobOf(wakeUp);
    await this.#queues[wakeUp.kind].add('wake', job, {
      deduplication: { id: delayMs > 0 ? `${job.id}-later` : job.id, keepLastIfActive: true },
      delay: delayMs,
      removeOnComplete: true,
      removeOnFail: { count: FAILED_KEPT },
    });
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#queues).map((queue) => queue.close()));
  }
}
