import fs from 'node:fs';
import path from 'node:path';
import type { StackConfig } from './config.js';
import { AGENTS_MAX } from './port-plan.js';
import { readJson, writeJsonPrivately } from './private-file.js';
import { SupervisedProcess } from './supervised-process.js';

/** A node of this home. Stored, so that a restart gives each node the same ports, zone and disks. */
export type AgentPlan = { index: number; name: string; zone: string };

const DISKS_PER_AGENT = 2;
const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;
const NODE_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The nodes of the local stack, in the order in which they were added. Only the user starts an agent that died: its death stands for
 * the node's.
 */
export class LocalAgents {
  private readonly knownPlans: AgentPlan[];
  private readonly processes = new Map<string, SupervisedProcess>();

  constructor(
    private readonly config: StackConfig,
    private readonly joinToken: () => string,
    private readonly onSpawn: (pid: number) => void,
    private readonly log: (line: string) => void,
  ) {
    this.knownPlans = readJson<AgentPlan[]>(this.planFile) ?? [];
    while (this.knownPlans.length < config.agents) this.add(`node-${this.knownPlans.length + 1}`);
  }

  get plans(): readonly AgentPlan[] {
    return this.knownPlans;
  }

  pidOf(name: string): number | undefined {
    return this.processes.get(name)?.pid;
  }

  isRunning(name: string): boolean {
    return this.processes.get(name)?.running ?? false;
  }

  /** Paths of the node's disks: its folders, then its block disk if it has one. */
  disksOf(plan: AgentPlan): string[] {
    return [...this.foldersOf(plan), ...this.blockDisksOf(plan)];
  }

  urlOf(plan: AgentPlan): string {
    return `http://127.0.0.1:${this.config.ports.agent(plan.index).control}`;
  }

  /** Starts all agents: as many as the environment says, and those that the user has added. */
  startAll(): void {
    for (const plan of this.knownPlans) this.startProcess(plan);
  }

  /** Starts one agent by name; a new name becomes a new node. */
  start(name: string): AgentPlan {
    const plan = this.knownPlans.find((known) => known.name === name) ?? this.add(name);
    this.startProcess(plan);
    return plan;
  }

  async stopAll(graceMs: number): Promise<void> {
    // All at once: an agent that stops keeps serving its replicas while the engines of the others finish.
    await Promise.all([...this.processes.values()].map((agent) => agent.stop(graceMs)));
  }

  private foldersOf(plan: AgentPlan): string[] {
    return Array.from({ length: DISKS_PER_AGENT }, (_, disk) => this.diskOf(plan, `disk-${disk + 1}`));
  }

  private blockDisksOf(plan: AgentPlan): string[] {
    return this.config.blockDiskSize === undefined ? [] : [this.diskOf(plan, 'block-1')];
  }

  private diskOf(plan: AgentPlan, name: string): string {
    return path.join(this.config.home, 'agents', plan.name, name);
  }

  private get planFile(): string {
    return path.join(this.config.home, 'agents.json');
  }

  private add(name: string): AgentPlan {
    if (!NODE_NAME.test(name)) {
      throw new Error(`${name} is no name for a node: use lower case letters, digits and dashes`);
    }
    if (this.knownPlans.length >= AGENTS_MAX)
      throw new Error(`a local stack has room for ${AGENTS_MAX} agents`);
    const index = this.knownPlans.length;
    const plan = { index, name, zone: ZONES[index % ZONES.length] ?? ZONES[0] };
    this.knownPlans.push(plan);
    writeJsonPrivately(this.planFile, this.knownPlans);
    return plan;
  }

  private startProcess(plan: AgentPlan): void {
    if (this.isRunning(plan.name)) return;
    for (const disk of this.foldersOf(plan)) fs.mkdirSync(disk, { recursive: true });
    const agent = new SupervisedProcess({
      name: plan.name,
      args: [path.join(this.config.repositoryRoot, 'apps/agent/dist/main.js')],
      cwd: this.config.repositoryRoot,
      environment: () => this.environmentOf(plan),
      logFile: path.join(this.config.home, 'logs', `${plan.name}.log`),
      restart: 'never',
      onSpawn: this.onSpawn,
      onExit: (how) =>
        this.log(
          `agent ${plan.name} is gone (${how}); start it again: npx holdfast local start-agent ${plan.name}`,
        ),
    });
    this.processes.set(plan.name, agent);
    agent.start();
  }

  private environmentOf(plan: AgentPlan): Record<string, string> {
    const ports = this.config.ports.agent(plan.index);
    return {
      ...baseEnvironment(),
      ...surroundings([...TLS_VARIABLES, 'HOLDFAST_METRICS_TOKEN']),
      HOLDFAST_API_URL: `http://127.0.0.1:${this.config.ports.api}/api/v1`,
      HOLDFAST_AGENT_TOKEN: this.joinToken(),
      HOLDFAST_NODE_NAME: plan.name,
      HOLDFAST_ZONE: plan.zone,
      HOLDFAST_DISKS: this.foldersOf(plan).join(':'),
      HOLDFAST_DISK_SIZE: this.config.diskSize,
      HOLDFAST_BLOCK_DISKS: this.blockDisksOf(plan).join(':'),
      ...(this.config.blockDiskSize && { HOLDFAST_BLOCK_DISK_SIZE: this.config.blockDiskSize }),
      HOLDFAST_CONTROL_PORT: String(ports.control),
      HOLDFAST_NBD_PORT: String(ports.nbd),
      HOLDFAST_STATE_DIR: path.join(this.config.home, 'agents', plan.name, 'state'),
    };
  }
}

/** Environment of every child: program paths, language, time zone and log level. No other variable reaches a child. */
export function baseEnvironment(): Record<string, string> {
  const names = [
    'PATH',
    'HOME',
    'LANG',
    'LC_ALL',
    'TZ',
    'TMPDIR',
    'NODE_EXTRA_CA_CERTS',
    'HOLDFAST_LOG_LEVEL',
  ];
  // OpenTelemetry's own variables, which say whether and where traces are sent.
  const telemetry = Object.keys(process.env).filter((name) => name.startsWith('OTEL_'));
  return { ...surroundings([...names, ...telemetry]), NODE_ENV: 'production' };
}

/** TLS variables, which are passed to each agent. All agents may use one certificate: they share one address. */
const TLS_VARIABLES = [
  'HOLDFAST_NBD_TLS',
  'HOLDFAST_NBD_TLS_CERT',
  'HOLDFAST_NBD_TLS_KEY',
  'HOLDFAST_NBD_TLS_CA',
];

/** Variables of this process that a child is to have, too. */
export function surroundings(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}
