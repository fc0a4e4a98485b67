import type { WakeUp } from '@holdfast/control/ports/queue.js';
import type { JobBackend, JobWorker } from './backend.js';
import { QUEUE_NAMES, wakeUpOf } from './queues.js';

export type WakeHandlers = {
  [Kind in WakeUp['kind']]: {
    /** Most jobs of this kind that one process runs at once. */
    concurrency: number;
    run: (wakeUp: Extract<WakeUp, { kind: Kind }>) => Promise<void>;
  };
};

/** Runs a handler for each wake-up. One that throws is reported; the sweep wakes the same volume or cluster again. */
export class WakeWorkers {
  private readonly workers: JobWorker[];

  constructor(backend: JobBackend, handlers: WakeHandlers, onError: (error: Error) => void) {
    const { volume, cluster } = handlers;
    this.workers = [
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

  /** Waits for the jobs that are running. */
  async close(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.close()));
  }
}
