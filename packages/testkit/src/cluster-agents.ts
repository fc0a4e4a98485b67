/** Agents of a test's own cluster: real processes on this machine, each the leader of a process group, with two disks each. */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment, type LocalAgent } from './cluster-home.js';
import { freePortBlock } from './local-stack.js';
import { endGroupWithRun, runFolder } from './shared-parts.js';

const AGENT_MAIN = fileURLToPath(new URL('../../../apps/agent/dist/main.js', import.meta.url));
const DISKS_PER_AGENT = 2;
/** As many as a block of ports has room for. */
const AGENTS_MAX = 10;
const NBD_OFFSET = 20;
const CONTROL_OFFSET = 10;
/** Blocks of ports that are tried: each run has hundreds of them. */
const BLOCKS_TRIED_MAX = 100;

export type AgentsOptions = {
  home: string;
  apiUrl: string;
  /** Text of the token by which agents join. */
  joinToken: string;
  zones: readonly string[];
  diskSize: string;
  /** Further variables of every agent. */
  env: Readonly<Record<string, string>>;
};

/** A started agent, without fields that only the API knows. */
export type StartedAgent = Omit<LocalAgent, 'nodeId'>;

export class ClusterAgents {
  private readonly names: string[] = [];
  private readonly running = new Map<string, ChildProcess>();

  private constructor(
    private readonly options: AgentsOptions,
    private readonly portBase: number,
  ) {}

  static async prepare(options: AgentsOptions): Promise<ClusterAgents> {
    fs.mkdirSync(path.join(options.home, 'logs'), { recursive: true });
    return new ClusterAgents(options, await claimPortBlock());
  }

  isRunning(name: string): boolean {
    return this.running.has(name);
  }

  /** Starts the agent of that name where it does not run; a new name is a new node. */
  start(name: string): StartedAgent {
    if (!this.names.includes(name)) this.names.push(name);
    const index = this.names.indexOf(name);
    if (index >= AGENTS_MAX) throw new Error(`a test's cluster has room for ${AGENTS_MAX} agents`);
    const disks = this.disksOf(name);
    const { pid } = this.running.get(name) ?? this.spawn(name, index);
    if (pid === undefined) throw new Error(`the agent ${name} could not be started`);
    return {
      name,
      zone: this.zoneOf(index),
      pid,
      url: `http://127.0.0.1:${this.portsOf(index).control}`,
      disks,
    };
  }

  /** Kills all, with what each has started, and waits until they are gone. */
  async kill(): Promise<void> {
    const gone = [...this.running.values()].map(
      (agent) => new Promise<void>((resolve) => agent.once('exit', () => resolve())),
    );
    for (const { pid } of this.running.values()) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    await Promise.all(gone);
  }

  private spawn(name: string, index: number): ChildProcess {
    for (const disk of this.disksOf(name)) fs.mkdirSync(disk, { recursive: true });
    const log = fs.openSync(path.join(this.options.home, 'logs', `${name}.log`), 'a');
    const child = spawn(process.execPath, [AGENT_MAIN], {
      env: this.environmentOf(name, index),
      detached: true,
      stdio: ['ignore', log, log],
    });
    fs.closeSync(log);
    endGroupWithRun(child);
    this.running.set(name, child);
    child.once('exit', () => this.running.delete(name));
    return child;
  }

  private environmentOf(name: string, index: number): Record<string, string> {
    const { apiUrl, joinToken, diskSize, env, home } = this.options;
    const { control, nbd } = this.portsOf(index);
    return {
      ...cleanEnvironment(),
      NODE_ENV: 'production',
      HOLDFAST_API_URL: apiUrl,
      HOLDFAST_AGENT_TOKEN: joinToken,
      HOLDFAST_NODE_NAME: name,
      HOLDFAST_ZONE: this.zoneOf(index),
      HOLDFAST_DISKS: this.disksOf(name).join(':'),
      HOLDFAST_DISK_SIZE: diskSize,
      HOLDFAST_CONTROL_PORT: String(control),
      HOLDFAST_NBD_PORT: String(nbd),
      HOLDFAST_STATE_DIR: path.join(home, 'agents', name, 'state'),
      ...env,
    };
  }

  private zoneOf(index: number): string {
    const { zones } = this.options;
    return zones[index % zones.length] ?? '';
  }

  private portsOf(index: number): { control: number; nbd: number } {
    return { control: this.portBase + CONTROL_OFFSET + index, nbd: this.portBase + NBD_OFFSET + index };
  }

  private disksOf(name: string): string[] {
    return Array.from({ length: DISKS_PER_AGENT }, (_, disk) =>
      path.join(this.options.home, 'agents', name, `disk-${disk + 1}`),
    );
  }
}

/** A block of free ports that no other suite of the run has taken, whose agents may not have opened theirs yet. */
async function claimPortBlock(): Promise<number> {
  const claims = path.join(runFolder(), 'ports');
  fs.mkdirSync(claims, { recursive: true });
  for (let attempt = 0; attempt < BLOCKS_TRIED_MAX; attempt += 1) {
    const base = await freePortBlock();
    try {
      fs.closeSync(fs.openSync(path.join(claims, String(base)), 'wx'));
      return base;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  throw new Error('all blocks of ports are taken');
}
