import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { createPool } from '@holdfast/database/sql/pool.js';
import { type Scope, snapshot, systemScope, unsyncedTransaction } from '@holdfast/database/sql/scope.js';
import { FleetReader } from '@holdfast/database/store/fleet-reader.js';
import { PostgresOutbox } from '@holdfast/database/store/postgres-outbox.js';
import { PostgresStore } from '@holdfast/database/store/postgres-store.js';
import { listMissedNodes, noteUnanswered } from '@holdfast/database/store/unresponsive-nodes.js';
import { engineSecret, snapshotSecret } from '@holdfast/identity/copy-secret.js';
import { openBackend } from '@holdfast/jobs/backend.js';
import { WakeQueue } from '@holdfast/jobs/wake-queue.js';
import { WebhookQueue } from '@holdfast/jobs/webhook-queue.js';
import { errorSerializers } from '@holdfast/tracing/source-positions.js';
import { traceOfLine } from '@holdfast/tracing/spans.js';
import {
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { type Logger, pino } from 'pino';
import { askAgent } from './agents/ask-agent.js';
import { HttpAgentClient } from './agents/http-agent-client.js';
import { workerCertificate } from './agents/worker-certificate.js';
import { alertRuntime } from './alerts/alert-runtime.js';
import { capacityRuntime } from './capacity/capacity-runtime.js';
import type { WorkerConfig } from './config.js';
import { HealthServer } from './health/health-server.js';
import { WorkerMetrics } from './metrics/worker-metrics.js';
import { ReconcileRuntime } from './runtime/reconcile-runtime.js';
import type { Repeat } from './runtime/repeat.js';
import { WebhookRuntime } from './webhooks/webhook-runtime.js';

const CONFIG = Symbol('config');
const WORKER = Symbol('worker');
/** A reconciler holds a connection only for the moment of a load or a commit, so few serve many. */
const CONNECTIONS_MAX = 10;
/** For requests about existing volumes: many waiting runs of creations would otherwise precede them at each load. */
const REQUEST_CONNECTIONS_MAX = 6;
/** For what keeps data safe, and nothing else: however many requests wait for a connection, none of this does. */
const SAFETY_CONNECTIONS_MAX = 6;

/** Everything the worker opens, with the one order in which it is closed again. */
type Worker = {
  log: Logger;
  health: HealthServer;
  runtime: ReconcileRuntime;
  webhooks: WebhookRuntime;
  alerts: Repeat;
  capacity: Repeat;
  close(): Promise<void>;
};

@Module({})
export class WorkerModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(WORKER) private readonly worker: Worker,
    @Inject(CONFIG) private readonly config: WorkerConfig,
  ) {}

  static register(config: WorkerConfig): DynamicModule {
    return {
      module: WorkerModule,
      providers: [
        { provide: CONFIG, useValue: config },
        { provide: WORKER, useFactory: openWorker, inject: [CONFIG] },
      ],
    };
  }

  async onApplicationBootstrap(): Promise<void> {
    const { log, health, runtime, webhooks, alerts, capacity } = this.worker;
    await runtime.start();
    webhooks.start();
    alerts.start();
    capacity.start();
    const port = await health.start(this.config.port, this.config.host);
    log.info(
      { port, jobs: this.config.redisUrl === undefined ? 'postgres' : 'redis' },
      'the worker is ready',
    );
  }

  async onApplicationShutdown(): Promise<void> {
    this.worker.log.info('the worker stops');
    await this.worker.close();
  }
}

function openWorker(config: WorkerConfig): Worker {
  const log = pino({
    name: 'worker',
    level: config.logLevel,
    mixin: traceOfLine,
    serializers: errorSerializers,
  });
  const pool = createPool(config.databaseUrl, { connectionsMax: CONNECTIONS_MAX, applicationName: 'worker' });
  const scope = systemScope(pool);
  const safetyPool = createPool(config.databaseUrl, {
    connectionsMax: SAFETY_CONNECTIONS_MAX,
    applicationName: 'worker-safety',
  });
  const safetyScope = systemScope(safetyPool);
  const requestPool = createPool(config.databaseUrl, {
    connectionsMax: REQUEST_CONNECTIONS_MAX,
    applicationName: 'worker-requests',
  });
  const backend = openBackend(config);
  const queue = new WakeQueue(backend, (error) => log.warn({ err: error }, 'the queue failed'));
  const agents = new HttpAgentClient(undefined, workerCertificate(scope));
  // Fleets are read one at a time, so each of the three has its own reader.
  const storeOf = (of: Scope) => new PostgresStore(of, { fleets: new FleetReader() });
  const ports = {
    store: storeOf(scope),
    agents,
    queue,
    clock: systemClock,
    random: systemRandom,
    copySecrets: { forEngine: engineSecret, forSnapshot: snapshotSecret },
    startedAt: systemClock.now(),
  };
  const metrics: WorkerMetrics = new WorkerMetrics(scope, () => runtime.longRuns());
  const runtime = new ReconcileRuntime({
    ports,
    requests: { ...ports, store: storeOf(systemScope(requestPool)) },
    safety: { ...ports, store: storeOf(safetyScope) },
    queue,
    backend,
    outbox: new PostgresOutbox(safetyPool, config.databaseUrl),
    missed: {
      list: (limit) => snapshot(safetyScope, (sql) => listMissedNodes(sql, limit)),
      ask: ({ controlUrl }) => askAgent(controlUrl),
      // A note that is lost with Postgres is made again while the agent is silent.
      noteUnanswered: (missed) => unsyncedTransaction(safetyScope, (sql) => noteUnanswered(sql, missed)),
    },
    log,
    onRun: (kind, outcome, seconds) => metrics.ran(kind, outcome, seconds),
    onSwept: () => metrics.swept(),
  });
  const webhooks = new WebhookRuntime(
    { system: scope, sending: { networks: config.webhookNetworks } },
    new WebhookQueue(backend, (error) => log.warn({ err: error }, "the webhooks' queue failed")),
    log,
  );
  const alerts = alertRuntime(safetyScope, log);
  const capacity = capacityRuntime(scope, log);
  const health = new HealthServer({
    checks: {
      reconcilers: async () => runtime.hasStarted,
      database: () => ports.store.listClusters(),
      queue: () => backend.ping(),
    },
    metrics: () => metrics.text(),
    metricsToken: config.metricsToken,
  });
  const close = async () => {
    await health.stop();
    await Promise.all([runtime.stop(), webhooks.stop(), alerts.stop(), capacity.stop()]);
    await agents.close();
    await queue.close();
    await backend.close();
    await Promise.all([pool.end(), requestPool.end(), safetyPool.end()]);
  };
  return { log, health, runtime, webhooks, alerts, capacity, close };
}
