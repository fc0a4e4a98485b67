/**
 * A local stack whose agents run in networks of their own, on small disks; with operations that break and heal its
 * parts.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { eventually } from '@holdfast/testkit/eventually.js';
import { LocalStack, repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { hasRedis, type RedisServer, startRedis } from '@holdfast/testkit/redis-server.js';
import { PartitionNetwork } from './network.js';

export const AGENTS = 3;
/**
 * Size of each disk: room for the volume with its snapshots and a rebuild, and small enough to be filled in a second.
 */
const DISK_MIB = 256;
const PORTS = { control: 7410, nbd: 7420 };
const AGENT_MAIN = path.join(repositoryRoot, 'apps/agent/dist/main.js');

type Agent = { name: string; home: string; child: ChildProcess | undefined; nodeId: string | undefined };

export class PartitionCluster {
  private readonly agents: Agent[] = [];

  private constructor(
    readonly stack: LocalStack,
    readonly network: PartitionNetwork,
    private readonly redis: RedisServer | undefined,
  ) {}

  static async start(): Promise<PartitionCluster> {
    const redis = hasRedis() ? await startRedis() : undefined;
    const stack = await LocalStack.start({
      env: {
        HOLDFAST_AGENTS: '0',
        HOLDFAST_API_HOST: '0.0.0.0',
        ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
      },
    });
    const cluster = new PartitionCluster(stack, new PartitionNetwork(AGENTS, stack.portBase, PORTS), redis);
    try {
      cluster.network.make();
      for (let index = 0; index < AGENTS; index += 1) await cluster.add(index);
      await cluster.allReady();
      for (let index = 0; index < AGENTS; index += 1) await cluster.nodeId(index);
      return cluster;
    } catch (error) {
      await cluster.destroy();
      throw error;
    }
  }

  /** Index of the agent with that node id, among those that were looked up before. */
  agentOf(nodeId: string | null | undefined): number | undefined {
    const found = this.agents.findIndex((agent) => agent.nodeId !== undefined && agent.nodeId === nodeId);
    return found < 0 ? undefined : found;
  }

  async nodeId(agent: number): Promise<string> {
    const known = this.agent(agent).nodeId;
    if (known !== undefined) return known;
    const { body } = await this.stack.call<{ items: { id: string; name: string }[] }>('GET', '/nodes');
    const node = body.items.find(({ name }) => name === this.agent(agent).name);
    if (node === undefined) throw new Error(`node ${agent} is not registered`);
    this.agent(agent).nodeId = node.id;
    return node.id;
  }

  /** Deletes a volume and waits until its copies are gone: the next volume needs the room. */
  async deleteVolume(name: string): Promise<void> {
    const { exitCode, stderr } = await this.stack.cli('volume', 'delete', name, '--yes');
    if (exitCode !== 0) throw new Error(`${name} is not deleted: ${stderr}`);
  }

  startAgent(index: number): void {
    const agent = this.agent(index);
    if (agent.child !== undefined && agent.child.exitCode === null && agent.child.signalCode === null) return;
    const { agentToken } = JSON.parse(fs.readFileSync(path.join(this.stack.home, 'secrets.json'), 'utf8'));
    const log = fs.openSync(path.join(this.stack.home, 'logs', `${agent.name}.log`), 'a');
    const inNamespace = ['netns', 'exec', this.network.namespaceOf(index), process.execPath, AGENT_MAIN];
    agent.child = spawn('ip', inNamespace, {
      detached: true,
      stdio: ['ignore', log, log],
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        HOLDFAST_API_URL: `http://${this.network.controlAddress}:${this.stack.portBase}/api/v1`,
        HOLDFAST_AGENT_TOKEN: agentToken,
        HOLDFAST_NODE_NAME: agent.name,
        HOLDFAST_ZONE: `zone-${index}`,
        HOLDFAST_DISKS: this.diskOf(index),
        HOLDFAST_DISK_SIZE: `${DISK_MIB}Mi`,
        HOLDFAST_BIND_HOST: this.network.addressOf(index),
        HOLDFAST_CONTROL_PORT: String(PORTS.control),
        HOLDFAST_NBD_PORT: String(PORTS.nbd),
        HOLDFAST_STATE_DIR: path.join(agent.home, 'state'),
      },
    });
    fs.closeSync(log);
  }

  diskOf(index: number): string {
    return path.join(this.agent(index).home, 'disk-1');
  }

  /** Sends a signal to the agent and all its hosts. */
  signal(index: number, signal: NodeJS.Signals): void {
    const { child } = this.agent(index);
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, signal);
  }

  /** Kills every process of the embedded Postgres at once. The stack starts it again. */
  killPostgres(): void {
    const file = findFile(path.join(this.stack.home, 'postgres'), 'postmaster.pid');
    const postmaster = file === undefined ? Number.NaN : Number(fs.readFileSync(file, 'utf8').split('\n')[0]);
    if (!Number.isInteger(postmaster)) return;
    for (const pid of [postmaster, ...childrenOf(postmaster)]) tryKill(pid);
  }

  killService(name: 'api' | 'worker'): void {
    const pid = this.stack.local.processes[name];
    // 0 while it is being started again.
    if (pid > 0) tryKill(pid);
  }

  flushRedis(): void {
    if (this.redis === undefined) return;
    spawnSync('redis-cli', ['-u', this.redis.url, 'FLUSHALL'], { stdio: 'ignore' });
  }

  fillDisk(index: number): void {
    const file = path.join(this.diskOf(index), 'foreign-file');
    spawnSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=64k'], { stdio: 'ignore' });
  }

  freeDisk(index: number): void {
    fs.rmSync(path.join(this.diskOf(index), 'foreign-file'), { force: true });
  }

  /** Ends all faults and waits until all nodes are ready; what the faults did to volumes stays. */
  async healAll(): Promise<void> {
    this.network.healAll();
    for (let index = 0; index < AGENTS; index += 1) {
      this.freeDisk(index);
      this.signal(index, 'SIGCONT');
      this.startAgent(index);
    }
    await this.allReady();
  }

  async destroy(): Promise<void> {
    for (const [index, { child }] of this.agents.entries()) {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, 'exit');
      this.signal(index, 'SIGKILL');
      await gone;
    }
    for (const { home } of this.agents)
      spawnSync('umount', ['-l', path.join(home, 'disk-1')], { stdio: 'ignore' });
    await this.network.destroy();
    await this.stack.destroy();
    await this.redis?.stop();
  }

  private async add(index: number): Promise<void> {
    const name = `node-${index + 1}`;
    const home = path.join(this.stack.home, 'agents', name);
    this.agents.push({ name, home, child: undefined, nodeId: undefined });
    const disk = this.diskOf(index);
    fs.mkdirSync(disk, { recursive: true });
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'holdfast-test', disk]);
    if (mounted.status !== 0) throw new Error(`no small disk can be mounted: ${mounted.stderr}`);
    this.startAgent(index);
  }

  private async allReady(): Promise<void> {
    type Nodes = { items: { conditions: { type: string; status: string }[] }[] };
    await eventually(
      'all nodes are ready',
      () => this.stack.call<Nodes>('GET', '/nodes').catch(() => undefined),
      (answer) =>
        answer?.status === 200 &&
        answer.body.items.filter(({ conditions }) =>
          conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
        ).length === AGENTS,
    );
  }

  private agent(index: number): Agent {
    const agent = this.agents[index];
    if (agent === undefined) throw new Error(`there is no agent ${index}`);
    return agent;
  }
}

function findFile(folder: string, name: string): string | undefined {
  return fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => path.basename(file) === name)
    .map((file) => path.join(folder, file))[0];
}

function childrenOf(parent: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(parent)], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It had ended already.
  }
}
