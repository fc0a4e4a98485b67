/**
 * Runtime of the worker: runs reconcilers on wake-ups, and the relay and the sweep that feed the queue.
 *
 * Crash behaviour: nothing here is remembered. A job whose worker died is delivered again, an outbox row stays until
 * its job is queued, and the sweep wakes whatever both missed.
 */

import type { MissedAgents } from '@holdfast/control/ports/missed-agents.js';
import type { Outbox } from '@holdfast/control/ports/outbox.js';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { LOOKING_INTERVAL_MS, LostAgents } from '@holdfast/control/reconcilers/find-lost-agents.js';
import { reconcileCluster } from '@holdfast/control/reconcilers/reconcile-cluster.js';
import { reconcileVolume } from '@holdfast/control/reconcilers/reconcile-volume.js';
import type { ReconcilerPorts } from '@holdfast/control/reconcilers/reconciler-ports.js';
import { SWEEP_INTERVAL_MS, sweep } from '@holdfast/control/reconcilers/sweep.js';
import { asId } from '@holdfast/core/model/ids.js';
import type { JobBackend } from '@holdfast/jobs/backend.js';
import { withoutAwaited } from '@holdfast/jobs/handed-over.js';
import { OutboxRelay } from '@holdfast/jobs/outbox-relay.js';
import type { WakeQueue } from '@holdfast/jobs/wake-queue.js';
import { WakeWorkers } from '@holdfast/jobs/wake-workers.js';
import { inSpan } from '@holdfast/tracing/spans.js';
import type { Logger } from 'pino';
import { LongRuns } from './long-runs.js';
import { Repeat } from './repeat.js';

/** Volumes worked on at once, beside those that wait for slow agents. */
const VOLUME_CONCURRENCY = 16;
/** A cluster's work is short and guarded by one version, so more would only collide. */
const CLUSTER_CONCURRENCY = 2;

type WakeUpOf<Kind extends WakeUp['kind']> = Extract<WakeUp, { kind: Kind }>;

export type RuntimeParts = {
  ports: ReconcilerPorts;
  queue: WakeQueue;
  backend: JobBackend;
  outbox: Outbox;
  missed: MissedAgents;
  log: Logger;
  /** Told what was run, by the wake-up's kind. */
  onRun?: (kind: WakeUp['kind'], outcome: string, seconds: number) => void;
  onSwept?: () => void;
};

export class ReconcileRuntime {
  private readonly relay: OutboxRelay;
  private readonly sweep: Repeat;
  private readonly lost: LostAgents;
  private readonly looking: Repeat;
  private readonly volumes: LongRuns;
  private readonly clusters: LongRuns;
  private workers: WakeWorkers | undefined;

  constructor(private readonly parts: RuntimeParts) {
    const { outbox, queue, ports } = parts;
    const onError = (error: unknown) => this.warn(error, 'a run that took long failed');
    this.volumes = new LongRuns({
      wakeAgain: (id) => queue.wake({ kind: 'volume', volumeId: asId(id) }),
      onError,
    });
    this.clusters = new LongRuns({
      wakeAgain: (id) => queue.wake({ kind: 'cluster', clusterId: asId(id) }),
      onError,
    });
    this.relay = new OutboxRelay(outbox, queue, (error) => this.warn(error, 'the relay failed'));
    const onSweepError = (error: unknown) => this.warn(error, 'the sweep failed');
    const sweeping = { ...ports, queue: withoutAwaited(queue, queue.handedOver) };
    this.sweep = new Repeat(
      () => sweep(sweeping).then(() => parts.onSwept?.()),
      SWEEP_INTERVAL_MS,
      onSweepError,
    );
    const onLookError = (error: unknown) => this.warn(error, 'agents could not be looked for');
    this.lost = new LostAgents({ store: ports.store, missed: parts.missed }, onLookError);
    this.looking = new Repeat(() => this.lost.look(), LOOKING_INTERVAL_MS, onLookError);
  }

  async start(): Promise<void> {
    const { backend } = this.parts;
    this.workers = new WakeWorkers(
      backend,
      {
        volume: { concurrency: VOLUME_CONCURRENCY, run: (wakeUp) => this.reconcileVolume(wakeUp) },
        cluster: { concurrency: CLUSTER_CONCURRENCY, run: (wakeUp) => this.reconcileCluster(wakeUp) },
      },
      (error) => this.warn(error, 'a job failed'),
    );
    await this.relay.start();
    this.sweep.start();
    this.looking.start();
  }

  /** Runs that wait for slow agents. */
  longRuns(): Record<WakeUp['kind'], number> {
    return { volume: this.volumes.count, cluster: this.clusters.count };
  }

  /** Takes work from the queue? */
  get hasStarted(): boolean {
    return this.workers !== undefined;
  }

  /** Feeds the queue no more, then waits for what is being worked on. */
  async stop(): Promise<void> {
    await Promise.all([this.sweep.stop(), this.looking.stop()]);
    await this.lost.settled();
    await this.relay.stop();
    await this.workers?.close();
    await Promise.all([this.volumes.stop(), this.clusters.stop()]);
  }

  private async reconcileCluster(wakeUp: WakeUpOf<'cluster'>): Promise<void> {
    const { clusterId } = wakeUp;
    this.parts.queue.handedOver.began(wakeUp);
    await this.clusters.run(clusterId, () =>
      this.measured(wakeUp, async () => {
        await reconcileCluster(this.parts.ports, clusterId);
        return 'done';
      }),
    );
  }

  private async reconcileVolume(wakeUp: WakeUpOf<'volume'>): Promise<void> {
    const { volumeId } = wakeUp;
    this.parts.queue.handedOver.began(wakeUp);
    await this.volumes.run(volumeId, (mayAct) =>
      this.measured(wakeUp, async () => {
        const outcome = await reconcileVolume(this.parts.ports, volumeId, { mayAct });
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

/** A run is part of the trace of the request that it comes from. The sweep's runs, of which there are many, make none. */
function traced<T>(wakeUp: WakeUp, run: () => Promise<T>): Promise<T> {
  const { kind, traceparent } = wakeUp;
  if (traceparent === undefined) return run();
  const id = wakeUp.kind === 'volume' ? wakeUp.volumeId : wakeUp.clusterId;
  const attributes = { [`holdfast.${kind}.id`]: id };
  return inSpan(`reconcile ${kind}`, { kind: 'consumer', traceparent, attributes }, run);
}
