/**
 * The local stack: Postgres, api, worker, console and some agents on one machine, under one parent process.
 *
 * Crash behaviour: when this process is killed, its children live on. The next start ends them by the ledger in the home, and
 * continues with the same data. All lasting state is in the home.
 */
import type { Server } from 'node:http';
import path from 'node:path';
import type { LocalSecrets } from '@holdfast/database/seed-local.js';
import { databaseTrouble } from '@holdfast/database/sql/connection-trouble.js';
import type { StackConfig } from './config.js';
import { controlSocketPath, openControlSocket } from './control-socket.js';
import { requireFreePorts } from './free-ports.js';
import { claimHome } from './home-lock.js';
import { ChildRegistry } from './leftovers.js';
import { type AgentPlan, baseEnvironment, LocalAgents, surroundings } from './local-agents.js';
import {
  type LocalAgent,
  type LocalJson,
  readLocalJson,
  removeLocalJson,
  writeLocalJson,
} from './local-json.js';
import { StackPostgres } from './postgres.js';
import { type PreparedDatabase, prepareDatabase, withFingerprint } from './prepare-database.js';
import { type LocalApi, waitForAttached, waitForNode, waitForOk } from './readiness.js';
import { ensureSecrets, randomText, storeJoinToken } from './secrets.js';
import type { StackLog } from './stack-log.js';
import { SupervisedProcess } from './supervised-process.js';

/** The API collects garbage in one thread beside the requests, and young objects earlier (docs/performance.md). */
const API_FLAGS = ['--v8-pool-size=1', '--max-semi-space-size=8'];

const HOST = '127.0.0.1';
/** Time limit of a service's start, for a cold machine with two busy cores; a healthy one needs a tenth of it. */
const READY_TIMEOUT_MS = 110_000;
/** Time limit of the wait for volumes that were attached before. It takes seconds; one that can't be attached reports the reason. */
const REATTACH_TIMEOUT_MS = 30_000;
/** Time that agents get to stop. External scripts rely on 15 s for all: agents, then the services, then Postgres. */
const AGENT_STOP_MS = 8_000;
const SERVICE_STOP_MS = 4_000;

/** Longest pause before a service is restarted during development: each saved file ends it, and its developer waits for it. */
const DEVELOPMENT_PAUSE_MS_MAX = 100;

/** Environment variables of an OpenID provider: one may be tried on this machine. */
const OIDC_VARIABLES = [
  'HOLDFAST_OIDC_ISSUER',
  'HOLDFAST_OIDC_CLIENT_ID',
  'HOLDFAST_OIDC_CLIENT_SECRET',
  'HOLDFAST_OIDC_NAME',
  'HOLDFAST_OIDC_ORGANIZATION',
  'HOLDFAST_OIDC_GROUPS_CLAIM',
  'HOLDFAST_OIDC_ROLES',
  'HOLDFAST_OIDC_DEFAULT_ROLE',
  'HOLDFAST_OIDC_DOMAINS',
] as const;

export class Stack {
  private readonly ledger: ChildRegistry;
  private readonly secrets: LocalSecrets;
  private readonly postgres: StackPostgres;
  private readonly agents: LocalAgents;
  private readonly services: {
    api: SupervisedProcess;
    worker: SupervisedProcess;
    console: SupervisedProcess | undefined;
  };
  private database: PreparedDatabase | undefined;
  private control: Server | undefined;
  private stopping: Promise<void> | undefined;

  static async open(config: StackConfig, log: StackLog): Promise<Stack> {
    await claimHome(config.home);
    return new Stack(config, log);
  }

  /** Of this run of the stack: by it the API knows the console, however often either is started again. */
  private readonly consoleSecret = randomText();

  private constructor(
    private readonly config: StackConfig,
    private readonly log: StackLog,
  ) {
    this.ledger = new ChildRegistry(config.home);
    this.secrets = ensureSecrets(config.home);
    const remember = (pid: number) => this.ledger.add(pid);
    this.postgres = new StackPostgres(config, log);
    this.agents = new LocalAgents(
      config,
      () => withFingerprint(this.secrets.agentToken, this.prepared.fingerprint),
      remember,
      (line) => this.agentGone(line),
    );
    this.services = {
      api: this.service('api', () => this.apiEnvironment()),
      worker: this.service('worker', () => this.workerEnvironment()),
      console: config.console ? this.service('console', () => this.consoleEnvironment()) : undefined,
    };
  }

  get apiUrl(): string {
    return `http://${HOST}:${this.config.ports.api}/api/v1`;
  }

  get consoleUrl(): string {
    return `http://${HOST}:${this.config.ports.console}`;
  }

  get password(): string {
    return this.secrets.password;
  }

  async start(): Promise<LocalJson> {
    removeLocalJson(this.config.home);
    const ended = await this.ledger.endLeftovers();
    if (ended > 0) this.log.say(`ended ${ended} processes that an earlier stack had left`);
    await requireFreePorts(HOST, this.ports());
    const ownerUrl = await this.postgres.start();
    const trouble = await databaseTrouble(ownerUrl);
    if (trouble !== undefined) throw new Error(trouble);
    this.database = await prepareDatabase(ownerUrl, this.secrets);
    const joinToken = withFingerprint(this.secrets.agentToken, this.database.fingerprint);
    storeJoinToken(this.config.home, this.secrets, joinToken);
    const startedAtMs = Date.now();
    for (const service of Object.values(this.services)) service?.start();
    this.agents.startAll();
    await this.waitUntilReady();
    this.control = await openControlSocket(this.config.home, {
      startAgent: (name) => this.startAgent(name),
    });
    const described = this.agents.plans.map((plan) => this.describeAgent(plan, startedAtMs));
    const agents = await Promise.all(described);
    await waitForAttached(this.api, REATTACH_TIMEOUT_MS);
    return this.publish(agents);
  }

  /** Starts one agent and returns its entry of local.json once the API calls its node Ready. */
  async startAgent(name: string): Promise<LocalAgent> {
    const startedAt = Date.now();
    const wasRunning = this.agents.isRunning(name);
    const plan = this.agents.start(name);
    const agent = await this.describeAgent(plan, wasRunning ? 0 : startedAt);
    const known = readLocalJson(this.config.home)?.agents ?? [];
    const agents = [...known.filter((other) => other.name !== name), agent];
    this.publish(agents.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })));
    return agent;
  }

  /** Stops all processes in an order that loses no data. May be called any number of times. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  private async stopAll(): Promise<void> {
    removeLocalJson(this.config.home);
    this.control?.close();
    const { api, worker, console } = this.services;
    // The worker stops now, so that it does not act on agents that are only stopping; the api stays for their last
    // reports.
    await Promise.all([
      worker.stop(SERVICE_STOP_MS),
      console?.stop(SERVICE_STOP_MS),
      this.agents.stopAll(AGENT_STOP_MS),
    ]);
    await api.stop(SERVICE_STOP_MS);
    await this.postgres.stop();
    this.ledger.clear();
  }

  private async waitUntilReady(): Promise<void> {
    const stillWorthIt = () => (this.stopping === undefined ? undefined : 'stopped before it was ready');
    const urls = [
      `http://${HOST}:${this.config.ports.api}/readyz`,
      `http://${HOST}:${this.config.ports.worker}/readyz`,
      ...(this.config.console ? [`${this.consoleUrl}/livez`] : []),
    ];
    await Promise.all(urls.map((url) => waitForOk(url, READY_TIMEOUT_MS, stillWorthIt)));
  }

  /**
   * The ports that have to be free: all but that of Postgres, which may have outlived an earlier stack and is taken
   * over.
   */
  private ports(): number[] {
    const { ports } = this.config;
    const ofAgents = this.agents.plans.flatMap(({ index }) => Object.values(ports.agent(index)));
    return [ports.api, ports.worker, ...(this.config.console ? [ports.console] : []), ...ofAgents];
  }

  private async describeAgent(plan: AgentPlan, heartbeatAfterMs: number): Promise<LocalAgent> {
    const nodeId = await waitForNode(this.api, plan.name, READY_TIMEOUT_MS, heartbeatAfterMs);
    const pid = this.agents.pidOf(plan.name);
    if (pid === undefined)
      throw new Error(`agent ${plan.name} died while it started; see its log in ${this.config.home}/logs`);
    return {
      nodeId,
      name: plan.name,
      zone: plan.zone,
      pid,
      url: this.agents.urlOf(plan),
      disks: this.agents.disksOf(plan),
    };
  }

  private publish(agents: LocalAgent[]): LocalJson {
    const { organizationId, projectId, clusterId, email } = this.prepared;
    const { api, worker, console } = this.services;
    const local: LocalJson = {
      apiUrl: this.apiUrl,
      graphqlUrl: `http://${HOST}:${this.config.ports.api}/graphql`,
      consoleUrl: this.consoleUrl,
      email,
      password: this.secrets.password,
      token: this.secrets.token,
      organizationId,
      projectId,
      clusterId,
      processes: {
        api: pidOf(api),
        worker: pidOf(worker),
        ...(console === undefined ? {} : { console: pidOf(console) }),
      },
      agents,
      controlSocket: controlSocketPath(this.config.home),
    };
    writeLocalJson(this.config.home, local);
    return local;
  }

  private get api(): LocalApi {
    return { url: this.apiUrl, token: this.secrets.token, clusterId: this.prepared.clusterId };
  }

  private get prepared(): PreparedDatabase {
    if (this.database === undefined) throw new Error('the database is not prepared yet');
    return this.database;
  }

  private agentGone(line: string): void {
    if (this.stopping === undefined) this.log.say(line);
  }

  private service(
    name: 'api' | 'worker' | 'console',
    environment: () => Record<string, string>,
  ): SupervisedProcess {
    const root = this.config.repositoryRoot;
    const script = name === 'console' ? 'apps/console/server.mjs' : `apps/${name}/dist/main.js`;
    const flags = name === 'api' ? API_FLAGS : [];
    return new SupervisedProcess({
      name,
      args: [...flags, path.join(root, script)],
      cwd: path.join(root, 'apps', name),
      environment,
      logFile: path.join(this.config.home, 'logs', `${name}.log`),
      restart: 'always',
      restartPauseMsMax: this.config.development ? DEVELOPMENT_PAUSE_MS_MAX : undefined,
      onSpawn: (pid) => this.serviceStarted(pid),
      onExit: (how) => {
        if (this.stopping === undefined) this.log.say(`${name} is gone (${how}); starting it again`);
      },
    });
  }

  /** Records a service's new pid, which local.json must contain after a restart. */
  private serviceStarted(pid: number): void {
    this.ledger.add(pid);
    const local = readLocalJson(this.config.home);
    if (local !== undefined) this.publish(local.agents);
  }

  private apiEnvironment(): Record<string, string> {
    return {
      ...baseEnvironment(),
      ...this.databaseEnvironment(),
      DATABASE_URL: this.prepared.apiUrl,
      HOLDFAST_API_HOST: this.config.apiHost,
      // Browsers come over plain HTTP, by the console on loopback.
      HOLDFAST_COOKIE_SECURE: 'false',
      // The console forwards its users' addresses. It shares its own with every program on this machine, so it proves itself by a
      // secret.
      HOLDFAST_CONSOLE_SECRET: this.consoleSecret,
      ...surroundings([
        'HOLDFAST_TRUSTED_PROXIES',
        'HOLDFAST_TOKEN_DAYS_MAX',
        'HOLDFAST_GRAPHQL_INTROSPECTION',
        'HOLDFAST_NODE_CERTIFICATE_HOURS',
        'HOLDFAST_AGENT_NETWORKS',
        'HOLDFAST_API_URL',
        'HOLDFAST_METRICS_TOKEN',
        'HOLDFAST_WEBHOOK_NETWORKS',
        'HOLDFAST_OIDC_NETWORKS',
        ...OIDC_VARIABLES,
      ]),
      HOLDFAST_API_PORT: String(this.config.ports.api),
      HOLDFAST_CONSOLE_URL: this.consoleUrl,
    };
  }

  private workerEnvironment(): Record<string, string> {
    return {
      ...baseEnvironment(),
      ...this.databaseEnvironment(),
      ...surroundings(['HOLDFAST_METRICS_TOKEN', 'HOLDFAST_WEBHOOK_NETWORKS']),
      HOLDFAST_WORKER_PORT: String(this.config.ports.worker),
    };
  }

  private databaseEnvironment(): Record<string, string> {
    return {
      DATABASE_SYSTEM_URL: this.prepared.systemUrl,
      ...(this.config.redisUrl === undefined ? {} : { REDIS_URL: this.config.redisUrl }),
    };
  }

  private consoleEnvironment(): Record<string, string> {
    return {
      ...baseEnvironment(),
      // Next compiles pages as they are opened, and replaces them in the browser when their sources are saved.
      ...(this.config.development ? { NODE_ENV: 'development' } : {}),
      HOLDFAST_CONSOLE_HOST: HOST,
      ...surroundings(['HOLDFAST_TRUSTED_PROXIES']),
      HOLDFAST_CONSOLE_SECRET: this.consoleSecret,
      HOLDFAST_CONSOLE_PORT: String(this.config.ports.console),
      HOLDFAST_API_ORIGIN: `http://${HOST}:${this.config.ports.api}`,
    };
  }
}

function pidOf(service: SupervisedProcess): number {
  // 0 while it is being started again: no process has that pid, so a reader can't signal an unrelated one.
  return service.pid ?? 0;
}
