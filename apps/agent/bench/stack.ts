// Test bed of the data path's benchmarks: a few real agents, and an API that only takes heartbeats and records.
import { type ChildProcess, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import type http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {
  type CreateReplica,
  type Heartbeat,
  heartbeatSchema,
  type ReplicaAddress,
  type StartEngineReply,
  startEngineReplySchema,
} from '@holdfast/core/model/agent-protocol.js';
import {
  ENGINE_COMMANDS,
  type EngineCommandName,
  type EngineReply,
  engineAnswerSchema,
} from '@holdfast/core/model/engine-commands.js';
import { asId, type NodeId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { NbdClient } from '@holdfast/data-engine/nbd/client.js';
import { engineSecret } from '@holdfast/identity/copy-secret.js';
import { FakeAuthority } from './fake-authority.js';

/** The agent's own program: benchmarks are built into a folder beside it. */
const MAIN = path.resolve(import.meta.dirname, '../main.js');
/** Ticks per second in /proc/<pid>/stat: the same on every platform that Node runs on. */
const TICKS_PER_SECOND = 100;
const SECRET = 'a-secret-for-the-benchmark';
/** What `stat` counts a file's space in. */
const STAT_BLOCK_BYTES = 512;
export const KIB = 1024;
export const MIB = 1024 * KIB;

type BenchAgent = { readonly name: string; readonly child: ChildProcess; readonly disk: string };

/** An engine that serves a volume, with a client connected to it. */
export type BenchAttachment = {
  readonly epoch: number;
  readonly endpoint: StartEngineReply['endpoint'];
  readonly client: NbdClient;
};
export type BenchVolume = BenchAttachment & {
  readonly volumeId: string;
  readonly sizeBytes: number;
  readonly replicas: ReplicaAddress[];
};

export class BenchStack {
  readonly agents: BenchAgent[] = [];
  private readonly beats = new Map<string, Heartbeat>();
  private readonly server: http.Server;

  private constructor(
    readonly folder: string,
    private readonly authority: FakeAuthority,
    private readonly environment: Readonly<Record<string, string>>,
  ) {
    this.server = authority.server((request, response) => this.answer(request, response));
  }

  /** Starts the agents. `environment` is added to that of each. */
  static async start(count: number, environment: Readonly<Record<string, string>> = {}): Promise<BenchStack> {
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-bench-'));
    const stack = new BenchStack(folder, await FakeAuthority.make(), environment);
    stack.server.listen(0, '127.0.0.1');
    await once(stack.server, 'listening');
    for (let i = 1; i <= count; i += 1) await stack.startAgent(`node-${i}`);
    return stack;
  }

  async stop(): Promise<void> {
    for (const { child } of this.agents) process.kill(-pidOf(child), 'SIGKILL');
    this.server.closeAllConnections();
    this.server.close();
    await fs.rm(this.folder, { recursive: true, force: true });
  }

  /** Makes a volume served by the first agent; `place` gives the agent of each copy. */
  async volume(
    sizeBytes: number,
    copies: number,
    place = (index: number): number => index,
  ): Promise<BenchVolume> {
    const volumeId = crypto.randomUUID();
    const ids = Array.from({ length: copies }, () => asId<ReplicaId>(crypto.randomUUID())).sort();
    const record = { epoch: 0, dataGeneration: 0, members: ids };
    const replicas: ReplicaAddress[] = [];
    for (const [index, id] of ids.entries())
      replicas.push(await this.replica(volumeId, sizeBytes, place(index), id, record));
    const volume = { volumeId, sizeBytes, replicas };
    return { ...volume, ...(await this.attach(volume, 1, replicas)) };
  }

  /** Starts the first agent's engine with these copies only; it does not know the volume's other ones. */
  async attach(
    { volumeId, sizeBytes }: Pick<BenchVolume, 'volumeId' | 'sizeBytes'>,
    epoch: number,
    replicas: readonly ReplicaAddress[],
  ): Promise<BenchAttachment> {
    const members = replicas.map(({ replicaId }) => replicaId).sort();
    const reply = await this.call(0, 'PUT', `/v1/engines/${volumeId}`, {
      volumeName: 'bench',
      epoch,
      sizeBytes,
      attachmentSecret: 'bench-attachment-secret',
      record: { epoch: epoch - 1, dataGeneration: 0, members },
      replicas: replicas.map((address) => ({ ...address, secret: secretAt(address, epoch) })),
      replicaTimeoutMs: 8000,
    });
    const { endpoint } = startEngineReplySchema.parse(reply);
    return { epoch, endpoint, client: await NbdClient.connect(endpoint, 5000) };
  }

  async detach({ volumeId, epoch, client }: BenchVolume): Promise<void> {
    client.close();
    await this.call(0, 'DELETE', `/v1/engines/${volumeId}?epoch=${epoch}`);
  }

  async replica(
    volumeId: string,
    sizeBytes: number,
    agentIndex: number,
    replicaId: ReplicaId,
    record: CreateReplica['record'],
  ): Promise<ReplicaAddress> {
    const { node, disks } = this.beat(agentIndex);
    const diskId = disks[0]?.diskId;
    await this.call(agentIndex, 'POST', '/v1/replicas', {
      replicaId,
      volumeId,
      diskId,
      sizeBytes,
      secret: SECRET,
      record,
    });
    const { controlUrl, nbdHost, nbdPort } = node;
    const nodeId = asId<NodeId>(crypto.randomUUID());
    return { replicaId, nodeId, controlUrl, nbdHost, nbdPort, secret: SECRET };
  }

  /** Data files of the copies on an agent's disk, but for layers that hold little. */
  async imagesOf(agentIndex: number): Promise<string[]> {
    const { disk } = this.agent(agentIndex);
    const names = await fs.readdir(disk, { recursive: true });
    const images = names.filter((name) => name.endsWith('.img')).map((name) => path.join(disk, name));
    const holds = await Promise.all(images.map(holdsMuch));
    return images.filter((_, index) => holds[index]);
  }

  /** The newest heartbeat of an agent. */
  beat(agentIndex: number): Heartbeat {
    const { name } = this.agent(agentIndex);
    const beat = this.beats.get(name);
    if (beat === undefined) throw new Error(`${name} has not reported yet`);
    return beat;
  }

  /** Sends a command to the engine of a volume, as a worker does, and returns what it replies. */
  async command<Name extends EngineCommandName>(
    { volumeId, epoch }: Pick<BenchVolume, 'volumeId' | 'epoch'>,
    name: Name,
    ask: object,
  ): Promise<EngineReply<Name>> {
    const answer = await this.call(0, 'POST', `/v1/engines/${volumeId}/commands/${name}`, { epoch, ...ask });
    return ENGINE_COMMANDS[name].reply.parse(engineAnswerSchema.parse(answer).reply);
  }

  async call(agentIndex: number, method: string, route: string, body?: object): Promise<unknown> {
    const { controlUrl, controlSecret } = this.beat(agentIndex).node;
    const response = await fetch(`${controlUrl}${route}`, {
      method,
      headers: { authorization: `Bearer ${controlSecret}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${route}: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** Memory of an agent and its host processes in bytes (PSS: a shared page counts in parts). */
  async residentBytes(agentIndex: number): Promise<number> {
    const each = await this.residentBytesEach(agentIndex);
    return each.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The same of each process, by the name of its program. */
  async residentBytesEach(agentIndex: number): Promise<{ program: string; bytes: number }[]> {
    const processes = await this.processes(agentIndex);
    return Promise.all(
      processes.map(async ({ pid }) => {
        const read = (file: string) => fs.readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
        const script = (await read('cmdline')).split('\0').find((word) => word.endsWith('.js')) ?? '';
        const bytes = Number(/^Pss:\s+(\d+)/m.exec(await read('smaps_rollup'))?.[1] ?? 0) * 1024;
        return { program: path.basename(script, '.js'), bytes };
      }),
    );
  }

  /** Processor time of an agent and its host processes so far, in seconds. */
  async cpuSeconds(agentIndex: number): Promise<number> {
    const processes = await this.processes(agentIndex);
    return (
      processes.reduce((sum, { userTicks, systemTicks }) => sum + userTicks + systemTicks, 0) /
      TICKS_PER_SECOND
    );
  }

  /** Pids of an agent and its hosts, which are one process group. */
  private async processes(
    agentIndex: number,
  ): Promise<{ pid: string; userTicks: number; systemTicks: number }[]> {
    const group = pidOf(this.agent(agentIndex).child);
    const found = [];
    for (const pid of await fs.readdir('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      const stat = await fs.readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(fields[2]) !== group) continue;
      found.push({ pid, userTicks: Number(fields[11]), systemTicks: Number(fields[12]) });
    }
    return found;
  }

  private agent(index: number): BenchAgent {
    const agent = this.agents[index];
    if (agent === undefined) throw new Error(`there is no agent ${index}`);
    return agent;
  }

  private async startAgent(name: string): Promise<void> {
    const home = path.join(this.folder, name);
    const [controlPort, nbdPort] = [await freePort(), await freePort()];
    const child = spawn(process.execPath, [MAIN], {
      env: {
        HOLDFAST_API_URL: `http://127.0.0.1:${portOf(this.server)}`,
        HOLDFAST_AGENT_TOKEN: this.authority.joinToken,
        HOLDFAST_NODE_NAME: name,
        HOLDFAST_DISKS: `${home}/disk-1`,
        HOLDFAST_DISK_SIZE: '20Gi',
        HOLDFAST_CONTROL_PORT: String(controlPort),
        HOLDFAST_NBD_PORT: String(nbdPort),
        HOLDFAST_STATE_DIR: `${home}/state`,
        ...this.environment,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
      detached: true,
    });
    this.agents.push({ name, child, disk: `${home}/disk-1` });
    while (!this.beats.has(name)) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  private async answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    response.setHeader('content-type', 'application/json');
    const certificate = await this.authority.answer(request.url ?? '', text);
    if (certificate !== undefined) {
      response.end(JSON.stringify(certificate.body));
      return;
    }
    // Agents send records here too, which any answer lets go on.
    const beat = heartbeatSchema.safeParse(JSON.parse(text));
    if (beat.success) this.beats.set(beat.data.node.name, beat.data);
    response.end(JSON.stringify({ nodeId: crypto.randomUUID(), intervalMs: 1000 }));
  }
}

/** Runs `work(index)` for all indexes with so many at once; returns the seconds it took. */
export async function timed(
  count: number,
  depth: number,
  work: (index: number) => Promise<unknown>,
): Promise<number> {
  const startedMs = performance.now();
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: depth }, lane));
  return (performance.now() - startedMs) / 1000;
}

/** A port that no process listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  return port;
}

function portOf(server: net.Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('the agent did not start');
  return child.pid;
}

/** What a worker makes of a copy's key for an engine of that epoch; on the loopback no copy looks at the node. */
export function secretAt({ secret, nodeId }: ReplicaAddress, epoch: number): string {
  return engineSecret(secret, { epoch, nodeId });
}

/** Of a file that is mostly holes, reading costs the memory that is cleared for them, and no disk. */
async function holdsMuch(file: string): Promise<boolean> {
  const { size, blocks } = await fs.stat(file);
  return 2 * blocks * STAT_BLOCK_BYTES >= size;
}
