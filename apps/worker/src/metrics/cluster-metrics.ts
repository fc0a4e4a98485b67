/**
 * Metrics of the clusters in the worker's registry, read from Postgres when they are scraped. Every worker reports the same ones, so
 * rules and graphs take the maximum.
 */
import { readClusterFigures, readVolumeTotals } from '@holdfast/database/queries/cluster-figures.js';
import type { Scope } from '@holdfast/database/sql/scope.js';
import { Counter, Gauge, type Registry } from 'prom-client';
import { CLUSTER_METRICS, samplesOf } from './cluster-samples.js';

/** Several scrapers, or one in a hurry, cost the database one reading. */
const FIGURES_KEPT_MS = 5_000;
const TOTALS_KEPT_MS = 60_000;

/** @returns reads the figures anew, for the next answer */
export function registerClusterMetrics(registry: Registry, system: Scope): () => Promise<void> {
  const metrics = new Map(
    Object.entries(CLUSTER_METRICS).map(([name, definition]) => {
      const options = {
        name,
        help: definition.help,
        labelNames: [...definition.labels],
        registers: [registry],
      };
      return [name, 'isCounter' in definition ? new Counter(options) : new Gauge(options)] as const;
    }),
  );
  const figures = kept(() => readClusterFigures(system), FIGURES_KEPT_MS);
  const totals = kept(() => readVolumeTotals(system), TOTALS_KEPT_MS);
  return async () => {
    const samples = samplesOf(await figures(), await totals());
    for (const metric of metrics.values()) metric.reset();
    for (const { name, labels, value } of samples) metrics.get(name)?.inc(labels, value);
  };
}

/** The last answer, for as long as it is kept; callers that ask meanwhile share a reading. */
function kept<T>(read: () => Promise<T>, keptMs: number): () => Promise<T> {
  let reading: Promise<T> | undefined;
  let endsAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (reading === undefined || performance.now() >= endsAtMs) {
      endsAtMs = performance.now() + keptMs;
      reading = read().catch((error: unknown) => {
        endsAtMs = Number.NEGATIVE_INFINITY;
        throw error;
      });
    }
    return reading;
  };
}
