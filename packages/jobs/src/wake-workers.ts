import { LANES, type Lane } from '@holdfast/core/policy/work-lane.js';
import type { JobBackend, JobWorker } from './backend.js';
import {
  CLUSTER_QUEUE,
  type ClusterWakeUp,
  clusterWakeUp,
  VOLUME_QUEUES,
  type VolumeWakeUp,
  volumeWakeUp,
} from './queues.js';

export type WakeHandlers = {
  volume: {
    /** Maximum jobs that one process runs at once, of each lane. */
    concurrency: Readonly<Record<Lane, number>>;
    /** @param turn of the job in its lane */
    run: (wakeUp: VolumeWakeUp, turn: number) => Promise<void>;
    /** Nothing waits in the lane. */
    onIdle?: (lane: Lane) => void;
  };
  cluster: { concurrency: number; run: (wakeUp: ClusterWakeUp) => Promise<void> };
};

/** Runs a handler for each wake-up. One that throws is reported; the sweep wakes the same volume or cluster again. */
export class WakeWorkers {
  private readonly workers: JobWorker[];

  constructor(backend: JobBackend, handlers: WakeHandlers, onError: (error: Error) => void) {
    const { volume, cluster } = handlers;
    this.workers = LANES.map((lane) =>
      backend.worker(
        VOLUME_QUEUES[lane],
        async (data, turn) => {
          const wakeUp = volumeWakeUp(lane, data);
          if (wakeUp !== undefined) await volume.run(wakeUp, turn);
        },
        { concurrency: volume.concurrency[lane], onIdle: () => volume.onIdle?.(lane), onError },
      ),
    );
    this.workers.push(
      backend.worker(
        CLUSTER_QUEUE,
        async (data) => {
          const wakeUp = clusterWakeUp(data);
          if (wakeUp !== undefined) await cluster.run(wakeUp);
        },
        { concurrency: cluster.concurrency, onError },
      ),
    );
  }

  /** Waits for the jobs that are running. */
  async close(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.close()));
  }
}
