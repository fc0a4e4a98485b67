import type { Queue, WakeUp } from '@holdfast/control/ports/queue.js';
import type { JobBackend, JobQueue } from './backend.js';
import { jobOf, QUEUE_NAMES } from './queues.js';

/** Failed jobs that are kept for inspection. They are not retried: the sweep wakes their volumes and clusters again. */
const FAILED_KEPT = 100;

/** The control plane's `Queue` port on BullMQ. */
export class WakeQueue implements Queue {
  private readonly queues: Record<WakeUp['kind'], JobQueue>;

  constructor(backend: JobBackend, onError: (error: Error) => void) {
    this.queues = {
      volume: backend.queue(QUEUE_NAMES.volume, onError),
      cluster: backend.queue(QUEUE_NAMES.cluster, onError),
    };
  }

  /**
   * Adds a wake-up. A volume or cluster has one waiting job at most. `keepLastIfActive`: a wake-up that comes while its
   * job runs leads to one more run. A delayed wake-up has an id of its own, because it must not swallow an immediate
   * one.
   */
  async wake(wakeUp: WakeUp, { delayMs = 0 }: { delayMs?: number } = {}): Promise<void> {
    const job = jobOf(wakeUp);
    await this.queues[wakeUp.kind].add('wake', job, {
      deduplication: { id: delayMs > 0 ? `${job.id}-later` : job.id, keepLastIfActive: true },
      delay: delayMs,
      removeOnComplete: true,
      removeOnFail: { count: FAILED_KEPT },
    });
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.queues).map((queue) => queue.close()));
  }
}
