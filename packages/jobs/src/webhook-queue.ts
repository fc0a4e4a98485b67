/** Queue of webhooks with deliveries: assigns each to a worker. Due deliveries and their times are in Postgres. */
import { asId, type WebhookId } from '@holdfast/core/model/ids.js';
import type { JobBackend, JobQueue, JobWorker } from './backend.js';
import { type Job, jobSchema } from './queues.js';

const QUEUE_NAME = 'holdfast-webhook';
/** Failed jobs that are kept for inspection: the sweep wakes their webhooks again. */
const FAILED_KEPT = 100;

export class WebhookQueue {
  private readonly queue: JobQueue;

  constructor(
    private readonly backend: JobBackend,
    private readonly onError: (error: Error) => void,
  ) {
    this.queue = backend.queue(QUEUE_NAME, onError);
  }

  /** A webhook has one waiting job at most. */
  async wake(id: WebhookId): Promise<void> {
    const job: Job = { id };
    await this.queue.add('deliver', job, {
      deduplication: { id },
      removeOnComplete: true,
      removeOnFail: { count: FAILED_KEPT },
    });
  }

  work(concurrency: number, run: (id: WebhookId) => Promise<void>): JobWorker {
    const handle = async (data: unknown) => {
      const parsed = jobSchema.safeParse(data);
      if (parsed.success) await run(asId(parsed.data.id));
    };
    return this.backend.worker(QUEUE_NAME, handle, { concurrency, onError: this.onError });
  }

  close(): Promise<void> {
    return this.queue.close();
  }
}
