/**
 * Metrics of an api process: requests by route, refusals by code, open streams and connections, beside Node's own. Labels are declared
 * routes, never requested addresses.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, type MetricObject, Registry } from 'prom-client';

/** From a read of one row to a what-if at its time limit. */
const SECONDS = [0.005, 0.02, 0.06, 0.25, 1, 5, 30];
const UNMATCHED = 'unmatched';

export type Held = {
  /** Number of open event streams. */
  readonly streams: () => number;
  /** Connections to the database, by `used` and `waiting`. */
  readonly slots: () => { readonly used: number; readonly waiting: number };
};

export class ApiMetrics {
  private readonly registry = new Registry();
  private readonly requests = new Counter({
    name: 'holdfast_http_requests_total',
    help: 'Requests that were answered.',
    labelNames: ['method', 'route', 'status'] as const,
    registers: [this.registry],
  });
  private readonly durations = new Histogram({
    name: 'holdfast_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer.',
    labelNames: ['method', 'route'] as const,
    buckets: SECONDS,
    registers: [this.registry],
  });
  private readonly refusals = new Counter({
    name: 'holdfast_http_refusals_total',
    help: 'Requests that were refused, by the code of the problem.',
    labelNames: ['code'] as const,
    registers: [this.registry],
  });

  constructor({ streams, slots }: Held) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry, prefix: 'holdfast_' });
    new Gauge({
      name: 'holdfast_event_streams',
      help: 'Event streams that are open.',
      registers,
      collect() {
        this.set(streams());
      },
    });
    new Gauge({
      name: 'holdfast_database_slots',
      help: 'Connections that requests use, and requests that wait for one.',
      labelNames: ['state'] as const,
      registers,
      collect() {
        const { used, waiting } = slots();
        this.set({ state: 'used' }, used);
        this.set({ state: 'waiting' }, waiting);
      },
    });
  }

  /** Definitions of all metrics, for docs/metrics.md. */
  get definitions(): readonly MetricObject[] {
    return this.registry.getMetricsAsArray();
  }

  answered(request: FastifyRequest, reply: FastifyReply): void {
    const { method } = request;
    const route = request.routeOptions.url ?? UNMATCHED;
    this.requests.inc({ method, route, status: String(reply.statusCode) });
    this.durations.observe({ method, route }, reply.elapsedTime / 1000);
    if (request.refusal !== undefined) this.refusals.inc({ code: request.refusal });
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }
}
