/**
 * Runtime of the worker: runs reconcilers on wake-ups, and the relay and the sweep that feed the queue.
 *
 * Crash behaviour: nothing here is remembered. A job whose worker died is delivered again, an outbox row stays until
 * its job is queued, and the sweep wakes whatever both missed.
 */

import type { Outbox } from '@holdfast/control/ports/outbox.js';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import type { UnresponsiveAgents } from '@holdfast/control/ports/unresponsive-agents.js';
import { LOOKING_INTERVAL_MS, LostAgents } from '@holdfast/control/reconcilers/find-lost-agents.js';
import { reconcileCluster } from '@holdfast/control/reconcilers/reconcile-cluster.js';
import { reconcileVolume } from '@holdfast/control/reconcilers/reconcile-volume.js';
import type { ReconcilerPorts } from '@holdfast/control/reconcilers/reconciler-ports.js';
import { SWEEP_INTERVAL_MS, wakeClusters } from '@holdfast/control/reconcilers/sweep.js';
import { wakeDueVolumes } from '@holdfast/control/reconcilers/wake-volumes.js';
import { asId } from '@holdfast/core/model/ids.js';
import { LANES, type Lane } from '@holdfast/core/policy/work-lane.js';
import type { JobBackend } from '@holdfast/jobs/backend.js';
import { withoutAwaited } from '@holdfast/jobs/in-flight-jobs.js';
import { OutboxRelay } from '@holdfast/jobs/outbox-relay.js';
import type { ClusterWakeUp, VolumeWakeUp } from '@holdfast/jobs/queues.js';
import type { WakeQueue } from '@holdfast/jobs/wake-queue.js';
import { WakeWorkers } from '@holdfast/jobs/wake-workers.js';
import { inSpan } from '@holdfast/tracing/spans.js';
import type { Logger } from 'pino';
import { LIMITS, LongRuns } from './long-runs.js';
import { Repeat } from './repeat.js';

/** Volumes worked on at once, beside those that wait for slow agents. Creations come in thousands, and each of their steps is short. */
const VOLUME_CONCURRENCY: Readonly<Record<Lane, number>> = { safety: 16, request: 16, bulk: 8 };
/** A cluster's work is short and guarded by one version, so more would only collide. */
const CLUSTER_CONCURRENCY = 2;
/**
 * How long a run of a creation holds its slot. On a busy machine each takes longer than other runs may: without their slots they
 * would use up one organization's allowance, and all others would be loaded, deferred, and loaded again.
 */
const BULK_SLOT_MS = 2_000;
const LONG_RUN_FAILED = 'a run that took long failed';

export type RuntimeParts = {
  /** Ports for creations and for consequences of settings. */
  ports: ReconcilerPorts;
  /** The same with connections and fleets of its own: for requests about existing volumes. */
  requests: ReconcilerPorts;
  /** The same with connections that nothing else uses: for clusters, lost nodes, and volumes whose data is at stake. */
  safety: ReconcilerPorts;
  queue: WakeQueue;
  backend: JobBackend;
  outbox: Outbox;
  missed: UnresponsiveAgents;
  log: Logger;
  /** Receives the outcome of each run, by the wake-up's kind. */
  onRun?: (kind: WakeUp['kind'], outcome: string, seconds: number) => void;
  onSwept?: () => void;
};

export class ReconcileRuntime {
  private readonly relay: OutboxRelay;
  private readonly sweeps: readonly Repeat[];
  private readonly lost: LostAgents;
  private readonly looking: Repeat;
  /** Separate for each lane, so that creations that wait for slow agents leave an organization's other work its share. */
  private readonly volumes: Readonly<Record<Lane, LongRuns>>;
  private readonly clusters: LongRuns;
  private workers: WakeWorkers | undefined;

  constructor(private readonly parts: RuntimeParts) {
    const { outbox, queue, safety } = parts;
    this.volumes = {
      safety: this.longRunsOf('safety'),
      request: this.longRunsOf('request'),
      bulk: this.longRunsOf('bulk'),
    };
    this.clusters = new LongRuns({
      wakeAgain: (id) => queue.wake({ kind: 'cluster', clusterId: asId(id) }),
      onError: (error) => this.warn(error, LONG_RUN_FAILED),
    });
    this.relay = new OutboxRelay(outbox, queue, (error) => this.warn(error, 'the relay failed'));
    this.sweeps = this.sweepsOf();
    const onLookError = (error: unknown) => this.warn(error, 'agents could not be looked for');
    this.lost = new LostAgents({ store: safety.store, missed: parts.missed, queue }, onLookError);
    this.looking = new Repeat(() => this.lost.look(), LOOKING_INTERVAL_MS, onLookError);
  }

  private longRunsOf(lane: Lane): LongRuns {
    const { queue } = this.parts;
    const hooks = {
      wakeAgain: (id: string) => queue.wake({ kind: 'volume', volumeId: asId(id), lane }),
      onError: (error: unknown) => this.warn(error, LONG_RUN_FAILED),
    };
    return new LongRuns(hooks, lane === 'bulk' ? { ...LIMITS, slotMs: BULK_SLOT_MS } : LIMITS);
  }

  /** One for the clusters and one for each lane: a walk over many volumes keeps none of the others waiting. */
  private sweepsOf(): Repeat[] {
    const { queue, onSwept } = this.parts;
    const onError = (error: unknown) => this.warn(error, 'the sweep failed');
    const sweeping = (lane: Lane) => ({
      ...this.portsOf(lane),
      queue: withoutAwaited(queue, queue.inFlightJobs),
    });
    const clusters = () => wakeClusters(sweeping('safety')).then(() => onSwept?.());
    return [
      new Repeat(clusters, SWEEP_INTERVAL_MS, onError),
      ...LANES.map(
        (lane) => new Repeat(() => wakeDueVolumes(sweeping(lane), lane), SWEEP_INTERVAL_MS, onError),
      ),
    ];
  }

  private portsOf(lane: Lane): ReconcilerPorts {
    const { safety, requests, ports } = this.parts;
    return { safety, request: requests, bulk: ports }[lane];
  }

  async start(): Promise<void> {
    const { backend, queue } = this.parts;
    this.workers = new WakeWorkers(
      backend,
      {
        volume: {
          concurrency: VOLUME_CONCURRENCY,
          run: (wakeUp, turn) => this.reconcileVolume(wakeUp, turn),
          onIdle: (lane) => queue.idle(lane),
        },
        cluster: { concurrency: CLUSTER_CONCURRENCY, run: (wakeUp) => this.reconcileCluster(wakeUp) },
      },
      (error) => this.warn(error, 'a job failed'),
    );
    await this.relay.start();
    for (const sweep of this.sweeps) sweep.start();
    this.looking.start();
  }

  /** Runs that wait for slow agents. */
  longRuns(): Record<WakeUp['kind'], number> {
    const volume = LANES.reduce((count, lane) => count + this.volumes[lane].count, 0);
    return { volume, cluster: this.clusters.count };
  }

  /** Takes work from the queue? */
  get hasStarted(): boolean {
    return this.workers !== undefined;
  }

  /** Stops feeding the queue, then waits for the runs in progress. */
  async stop(): Promise<void> {
    await Promise.all([...this.sweeps, this.looking].map((repeat) => repeat.stop()));
    await this.lost.settled();
    await this.relay.stop();
    await this.workers?.close();
    await Promise.all([...Object.values(this.volumes), this.clusters].map((runs) => runs.stop()));
  }

  private async reconcileCluster(wakeUp: ClusterWakeUp): Promise<void> {
    const { clusterId } = wakeUp;
    this.parts.queue.inFlightJobs.began(wakeUp);
    await this.clusters.run(clusterId, () =>
      this.measured(wakeUp, async () => {
        await reconcileCluster(this.parts.safety, clusterId);
        return 'done';
      }),
    );
  }

  private async reconcileVolume(wakeUp: VolumeWakeUp, turn: number): Promise<void> {
    const { volumeId, lane } = wakeUp;
    this.parts.queue.began(wakeUp, turn);
    await this.volumes[lane].run(volumeId, (mayAct) =>
      this.measured(wakeUp, async () => {
        const outcome = await reconcileVolume(this.portsOf(lane), volumeId, { mayAct });
        if (outcome.steps > 0 || outcome.did === 'waiting')
          this.parts.log.debug({ volumeId, ...outcome }, 'volume');
        return outcome.did;
      }),
    );
  }

  private async measured(wakeUp: WakeUp, run: () => Promise<string>): Promise<void> {
    const { kind } = wakeUp;
    const beganMs = performance.now();
    let outcome = 'failed';
    try {
      outcome = await traced(wakeUp, run);
    } finally {
      this.parts.onRun?.(kind, outcome, (performance.now() - beganMs) / 1000);
    }
  }

  private warn(error: unknown, message: string): void {
    this.parts.log.warn({ err: error }, message);
  }
}

/** A run belongs to the trace of the request that caused it. The many runs of the sweep have none. */
function traced<T>(wakeUp: WakeUp, run: () => Promise<T>): Promise<T> {
  const { kind, traceparent } = wakeUp;
  if (traceparent === undefined) return run();
  const id = wakeUp.kind === 'volume' ? wakeUp.volumeId : wakeUp.clusterId;
  const attributes = { [`holdfast.${kind}.id`]: id };
  return inSpan(`reconcile ${kind}`, { kind: 'consumer', traceparent, attributes }, run);
}
