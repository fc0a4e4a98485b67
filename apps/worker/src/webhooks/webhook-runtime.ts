/**
 * Runtime of webhooks: finds those with something to deliver, and delivers those that the queue assigns to this worker.
 *
 * Crash behaviour: nothing is remembered here. Due deliveries are rows in Postgres, so a queue that loses its jobs delays them by one
 * interval.
 */
import { dueWebhooks } from '@holdfast/database/webhooks/deliveries.js';
import type { JobWorker } from '@holdfast/jobs/backend.js';
import type { WebhookQueue } from '@holdfast/jobs/webhook-queue.js';
import type { Logger } from 'pino';
import { LongRuns } from '../runtime/long-runs.js';
import { Repeat } from '../runtime/repeat.js';
import { type DeliverParts, deliver } from './deliver.js';

/** Longest delay of an event if its receiver keeps up. */
const LOOK_MS = 1_000;
const DUE_PER_LOOK = 500;
/** Webhooks delivered to at once, beside those whose receivers are slow. */
const CONCURRENCY = 8;

export class WebhookRuntime {
  private readonly look: Repeat;
  private readonly runs: LongRuns;
  private worker: JobWorker | undefined;

  constructor(
    private readonly parts: DeliverParts,
    private readonly queue: WebhookQueue,
    log: Logger,
  ) {
    const onError = (error: unknown) => log.warn({ err: error }, 'delivering to a webhook failed');
    // Deliveries that became due during the run are found by the next one.
    this.runs = new LongRuns({ wakeAgain: async () => undefined, onError });
    this.look = new Repeat(() => this.wakeDue(), LOOK_MS, onError);
  }

  start(): void {
    this.worker = this.queue.work(CONCURRENCY, (id) =>
      this.runs.run(id, (mayAct) => deliver(this.parts, id, mayAct)),
    );
    this.look.start();
  }

  /** Waits for the deliveries in progress. */
  async stop(): Promise<void> {
    await this.look.stop();
    await this.worker?.close();
    await this.runs.stop();
    await this.queue.close();
  }

  private async wakeDue(): Promise<void> {
    const due = await dueWebhooks(this.parts.system, DUE_PER_LOOK);
    await Promise.all(due.map((id) => this.queue.wake(id)));
  }
}
