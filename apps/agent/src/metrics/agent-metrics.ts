/** Metrics of an agent: its heartbeats, and what was on its node at the last one, beside Node's own. */
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import { mayReadMetrics } from '@holdfast/core/model/metrics-access.js';
import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, type MetricObject, Registry } from 'prom-client';

/** Bounds the series of a node: four for each. More disks than a server has, so that hardly ever one is left out. */
const DISKS_TOLD = 64;

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

  private readonly answers = new Gauge({
    name: 'holdfast_agent_disk_answer_seconds',
    help: `What calls to a disk took at most in the last two minutes, of its ${DISKS_TOLD} slowest disks: half (0.5), 99 of 100 (0.99) and all (1).`,
    labelNames: ['disk', 'quantile'],
    registers: [this.registry],
  });
  private readonly oldest = new Gauge({
    name: 'holdfast_agent_disk_oldest_call_seconds',
    help: 'How long the oldest call to a disk has been waiting, of the same disks; 0 up to two seconds.',
    labelNames: ['disk'],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry, prefix: 'holdfast_' });
  }

  /** Definitions, for docs/metrics.md. */
  get definitions(): readonly MetricObject[] {
    return this.registry.getMetricsAsArray();
  }

  noteHeartbeat({ disks, replicas, engines }: Heartbeat): void {
    this.heartbeats.inc();
    this.disks.set(disks.length);
    this.replicas.set(replicas.length);
    this.engines.set(engines.length);
    this.noteAnswers(disks);
  }

  private noteAnswers(disks: Heartbeat['disks']): void {
    const told = disks.flatMap(({ name, answers }) => (answers === undefined ? [] : [{ name, ...answers }]));
    this.answers.reset();
    this.oldest.reset();
    const slowest = told.sort((a, b) => b.oldestMs - a.oldestMs || b.p99Ms - a.p99Ms).slice(0, DISKS_TOLD);
    for (const { name: disk, p50Ms, p99Ms, maxMs, oldestMs } of slowest) {
      const quantiles = { '0.5': p50Ms, '0.99': p99Ms, '1': maxMs };
      for (const [quantile, ms] of Object.entries(quantiles))
        this.answers.set({ disk, quantile }, ms / 1_000);
      this.oldest.set({ disk }, oldestMs / 1_000);
    }
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
