import type { Queue, WakeUp } from '@holdfast/control/ports/queue.js';
import type { JobBackend, JobQueue } from './backend.js';
import { HandedOver } from './handed-over.js';
import { jobOf, QUEUE_NAMES } from './queues.js';

/** Failed jobs that are kept for inspection. They are not retried: the sweep wakes their volumes and clusters again. */
const FAILED_KEPT = 100;

/** The control plane's `Queue` port on BullMQ. */
export class WakeQueue implements Queue {
  /** What waits in the queue, as far as this process knows: its workers say what begins. */
  readonly handedOver = new HandedOver(() => performance.now());
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
    // Before it is added, because it may begin before this hears that it was.
    if (delayMs === 0) this.handedOver.note(wakeUp);
    try {
      await this.add(wakeUp, delayMs);
    } catch (error) {
      this.handedOver.began(wakeUp);
      throw error;
    }
  }

  private async add(wakeUp: WakeUp, delayMs: number): Promise<void> {
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
