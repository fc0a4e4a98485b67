import type { Queue, WakeUp } from '@holdfast/control/ports/queue.js';
import type { Lane } from '@holdfast/core/policy/work-lane.js';
import type { JobBackend, JobQueue } from './backend.js';
import { InFlightJobs } from './in-flight-jobs.js';
import { CLUSTER_QUEUE, jobOf, VOLUME_QUEUES, type VolumeWakeUp } from './queues.js';
import { Turns } from './turns.js';

/** Failed jobs that are kept for inspection. They are not retried: the sweep wakes their volumes and clusters again. */
const FAILED_KEPT = 100;
/** Lane and party of wake-ups that name none: those of reconcilers themselves take turns as one party. */
const UNNAMED_LANE: Lane = 'request';
const UNNAMED_PARTY = '';
/** A job that was delayed has waited for a time, and goes first when that has come. */
const DELAYED_TURN = 1;

/** The control plane's `Queue` port on BullMQ. */
export class WakeQueue implements Queue {
  /** Waiting jobs, as far as this process knows: its workers report starts. */
  readonly inFlightJobs = new InFlightJobs(() => performance.now());
  private readonly turns: Readonly<Record<Lane, Turns>> = {
    safety: new Turns(),
    request: new Turns(),
    bulk: new Turns(),
  };
  private readonly volumes: Readonly<Record<Lane, JobQueue>>;
  private readonly clusters: JobQueue;

  constructor(backend: JobBackend, onError: (error: Error) => void) {
    this.volumes = {
      safety: backend.queue(VOLUME_QUEUES.safety, onError),
      request: backend.queue(VOLUME_QUEUES.request, onError),
      bulk: backend.queue(VOLUME_QUEUES.bulk, onError),
    };
    this.clusters = backend.queue(CLUSTER_QUEUE, onError);
  }

  /**
   * Adds a wake-up. In each lane a volume has one waiting job at most, and so has a cluster. `keepLastIfActive`: a wake-up that comes
   * while its job runs leads to one more run. A delayed wake-up has an id of its own, because it must not replace an immediate one.
   */
  async wake(wakeUp: WakeUp, { delayMs = 0 }: { delayMs?: number } = {}): Promise<void> {
    // Before it is added, because it may begin before this hears that it was.
    if (delayMs === 0) this.inFlightJobs.note(wakeUp);
    try {
      await this.add(wakeUp, delayMs);
    } catch (error) {
      this.inFlightJobs.began(wakeUp);
      throw error;
    }
  }

  /** A worker of this process has begun a volume's job. */
  began(wakeUp: VolumeWakeUp, turn: number): void {
    this.inFlightJobs.began(wakeUp);
    this.turns[wakeUp.lane].began(wakeUp.volumeId, turn);
  }

  /** Workers have found nothing more that waits in a lane. */
  idle(lane: Lane): void {
    this.turns[lane].reset();
  }

  private async add(wakeUp: WakeUp, delayMs: number): Promise<void> {
    const job = jobOf(wakeUp);
    const { queue, ...turn } = this.placeOf(wakeUp, delayMs);
    await queue.add('wake', job, {
      ...turn,
      deduplication: { id: delayMs > 0 ? `${job.id}-later` : job.id, keepLastIfActive: true },
      delay: delayMs,
      removeOnComplete: true,
      removeOnFail: { count: FAILED_KEPT },
    });
  }

  private placeOf(wakeUp: WakeUp, delayMs: number): { queue: JobQueue; priority?: number } {
    if (wakeUp.kind === 'cluster') return { queue: this.clusters };
    const { volumeId, lane = UNNAMED_LANE, party = UNNAMED_PARTY } = wakeUp;
    const priority = delayMs > 0 ? DELAYED_TURN : this.turns[lane].take(volumeId, party);
    return { queue: this.volumes[lane], priority };
  }

  async close(): Promise<void> {
    await Promise.all([...Object.values(this.volumes), this.clusters].map((queue) => queue.close()));
  }
}
