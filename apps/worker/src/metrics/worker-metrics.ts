/** Metrics of the worker process: what its reconcilers do and how long that takes, beside Node's own and the clusters'. */
import type { Scope } from '@holdfast/database/sql/scope.js';
import { Counter, collectDefaultMetrics, Gauge, Histogram, type MetricObject, Registry } from 'prom-client';
import { registerClusterMetrics } from './cluster-metrics.js';

/** From a reconciliation that needs nothing to the start of an engine that waits for all its limits. */
const SECONDS = [0.005, 0.02, 0.1, 0.5, 1, 5, 30];

export type ReconcilerKind = 'volume' | 'cluster';

export class WorkerMetrics {
  private readonly registry = new Registry();
  private readonly refresh: () => Promise<void>;

  private readonly runs = new Counter({
    name: 'holdfast_reconcile_runs_total',
    help: 'Runs of reconcilers, by what they came to.',
    labelNames: ['kind', 'outcome'] as const,
    registers: [this.registry],
  });
  private readonly durations = new Histogram({
    name: 'holdfast_reconcile_duration_seconds',
    help: 'Time that a run of a reconciler took.',
    labelNames: ['kind'] as const,
    buckets: SECONDS,
    registers: [this.registry],
  });
  private readonly sweeps = new Gauge({
    name: 'holdfast_sweep_last_seconds',
    help: 'When the last sweep ended, in seconds since 1970.',
    registers: [this.registry],
  });
  private readonly failures = new Counter({
    name: 'holdfast_scrape_failures_total',
    help: 'Times that the metrics of the clusters could not be read.',
    registers: [this.registry],
  });

  /** @param waiting says how many runs wait for slow agents */
  constructor(system: Scope, waiting: () => Readonly<Record<ReconcilerKind, number>>) {
    collectDefaultMetrics({ register: this.registry, prefix: 'holdfast_' });
    this.refresh = registerClusterMetrics(this.registry, system);
    new Gauge({
      name: 'holdfast_reconcile_long_runs',
      help: 'Runs of reconcilers that wait for slow agents, and hold no slot in the queue.',
      labelNames: ['kind'] as const,
      registers: [this.registry],
      collect() {
        for (const [kind, count] of Object.entries(waiting())) this.set({ kind }, count);
      },
    });
  }

  /** Definitions, for docs/metrics.md. */
  get definitions(): readonly MetricObject[] {
    return this.registry.getMetricsAsArray();
  }

  /** @param outcome one of a few words */
  ran(kind: ReconcilerKind, outcome: string, seconds: number): void {
    this.runs.inc({ kind, outcome });
    this.durations.observe({ kind }, seconds);
  }

  swept(): void {
    this.sweeps.setToCurrentTime();
  }

  /** The process reports its own metrics also while the database is unavailable. */
  async text(): Promise<string> {
    await this.refresh().catch(() => this.failures.inc());
    return this.registry.metrics();
  }
}
