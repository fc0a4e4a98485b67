import type { WakeUp } from '@holdfast/control/ports/queue.js';
import type { JobBackend, JobWorker } from './backend.js';
import { QUEUE_NAMES, wakeUpOf } from './queues.js';

export type WakeHandlers = {
  [Kind in WakeUp['kind']]: {
    /** How many of this kind one process works on at once. */
    concurrency: number;
    run: (wakeUp: Extract<WakeUp, { kind: Kind }>) => Promise<void>;
  };
};

/** Runs a handler for each wake-up. A handler that throws is reported; the sweep wakes its subject again. */
export class WakeWorkers {
  readonly #workers: JobWorker[];

  constructor(backend: JobBackend, handlers: WakeHandlers, onError: (error: Error) => void) {
    const { volume, cluster } = handlers;
    this.#workers = [
      backend.worker(
        QUEUE_NAMES.volume,
        async (data) => {
          const wakeUp = wakeUpOf('volume', data);
          if (wakeUp?.kind === 'volume') await volume.run(wakeUp);
        },
        { concurrency: volume.concurrency, onError },
      ),
      backend.worker(
        QUEUE_NAMES.cluster,
        async (data) => {
          const wakeUp = wakeUpOf('cluster', data);
          if (wakeUp?.kind === 'cluster') await cluster.run(wakeUp);
        },
        { concurrency: cluster.concurrency, onError },
      ),
    ];
  }

  /** Waits for what is being worked on. */
  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.close()));
  }
}
