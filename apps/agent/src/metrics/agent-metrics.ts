/** Metrics of an agent: its heartbeats, and what was on its node at the last one, beside Node's own. */
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import { mayReadMetrics } from '@holdfast/core/model/metrics-access.js';
import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, type MetricObject, Registry } from 'prom-client';

export class AgentMetrics {
  private readonly registry = new Registry();
  private readonly heartbeats = new Counter({
    name: 'holdfast_agent_heartbeats_total',
    help: 'Heartbeats that were made, whether or not the API took them.',
    registers: [this.registry],
  });
  private readonly disks = this.gauge('holdfast_agent_disks', 'Disks of the node.');
  private readonly replicas = this.gauge('holdfast_agent_replicas', 'Copies on the disks of the node.');
  private readonly engines = this.gauge('holdfast_agent_engines', 'Engines that run on the node.');

  constructor() {
    collectDefaultMetrics({ register: this.registry, prefix: 'holdfast_' });
  }

  /** What it tells, for docs/metrics.md. */
  get definitions(): readonly MetricObject[] {
    return this.registry.getMetricsAsArray();
  }

  noteHeartbeat({ disks, replicas, engines }: Heartbeat): void {
    this.heartbeats.inc();
    this.disks.set(disks.length);
    this.replicas.set(replicas.length);
    this.engines.set(engines.length);
  }

  /** @param token lets its holder read them; left out: callers on this machine */
  serve(server: FastifyInstance, token: string | undefined): void {
    server.get('/metrics', async ({ headers, socket }, reply) => {
      const { authorization } = headers;
      const isForwarded = headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;
      const scraper = { address: socket.remoteAddress, isForwarded, authorization };
      if (!mayReadMetrics(scraper, token)) return reply.status(403).send({ status: 'forbidden' });
      return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await this.registry.metrics());
    });
  }

  private gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.registry] });
  }
}
