import { type ChildProcess, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import type http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import type { Heartbeat, ReplicaAddress, StartEngineReply } from '@holdfast/core/model/agent-protocol.js';
import {
  ENGINE_COMMANDS,
  type EngineCommandName,
  type VolumeLayers,
} from '@holdfast/core/model/engine-commands.js';
import { asId, type NodeId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { NbdClient } from '@holdfast/data-engine/nbd/client.js';
import { makeWorkerCertificate } from '@holdfast/identity/authority.js';
import { engineSecret, snapshotSecret } from '@holdfast/identity/copy-secret.js';
import { isLoopback, nodeDnsName } from '@holdfast/identity/names.js';
import { freePort } from '@holdfast/testkit/free-port.js';
import { endGroupWithRun } from '@holdfast/testkit/shared-parts.js';
import { FakeApi } from './fake-api.js';

export const AGENT_MAIN = path.resolve(import.meta.dirname, '../dist/main.js');
/** Key of every copy. */
const REPLICA_KEY = 'a-replica-secret-of-enough-length';

/** A real agent process from the build, in a process group of its own, as the local stack starts it. */
export class AgentProcess {
  child: ChildProcess | undefined;

  constructor(
    readonly name: string,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly api: FakeApi,
  ) {}

  get stateDirectory(): string {
    return this.environment.HOLDFAST_STATE_DIR ?? '';
  }

  /** Starts it, with changes of its environment. */
  async start(over: NodeJS.ProcessEnv = {}): Promise<Heartbeat> {
    this.api.heartbeats.delete(this.name);
    this.child = spawn(process.execPath, [AGENT_MAIN], {
      env: { PATH: process.env.PATH, ...this.environment, ...over },
      stdio: ['ignore', process.env.HOLDFAST_TEST_LOGS === '1' ? 'inherit' : 'ignore', 'inherit'],
      detached: true,
    });
    endGroupWithRun(this.child);
    return this.api.until(this.name, () => true);
  }

  /** Its node, by the identity that it has joined with. */
  get nodeId(): NodeId {
    const text = fs.readFileSync(path.join(this.stateDirectory, 'identity/identity.json'), 'utf8');
    return asId<NodeId>(String(JSON.parse(text).nodeId));
  }

  get beat(): Heartbeat {
    const beat = this.api.heartbeats.get(this.name);
    if (beat === undefined) throw new Error(`${this.name} has sent no heartbeat`);
    return beat;
  }

  /** Sends a signal to the agent and all its host processes. */
  signalGroup(signal: NodeJS.Signals): void {
    const pid = this.child?.pid;
    if (pid === undefined || this.child?.exitCode !== null) return;
    process.kill(-pid, signal);
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    this.signalGroup('SIGKILL');
    await gone;
  }

  /** Kills the agent's own process and nothing else. */
  async killAlone(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** Host processes of the agent whose command line has the text, such as `replica-host`, or `host` for all. */
  async hostPids(text: string): Promise<number[]> {
    const pids: number[] = [];
    for (const name of await fs.promises.readdir('/proc')) {
      const stat = await fs.promises.readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      if (parent !== this.child?.pid) continue;
      const command = await fs.promises.readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
      if (command.includes(text)) pids.push(Number(name));
    }
    return pids;
  }

  /** Sends SIGTERM, and resolves with the exit code. */
  async stop(): Promise<number | null> {
    const { child } = this;
    if (child === undefined) return null;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
    return child.exitCode;
  }

  /** Sends a command to an engine, as a worker does. */
  command(volumeId: string, name: EngineCommandName, ask: object): ReturnType<AgentProcess['call']> {
    return this.call('POST', `/v1/engines/${volumeId}/commands/${name}`, withSecrets(ask, this.nodeId));
  }

  /** The layers of a volume whose engine runs here. */
  async layers(volumeId: string, epoch: number): Promise<VolumeLayers> {
    const { body } = await this.command(volumeId, 'layers', { epoch });
    return ENGINE_COMMANDS.layers.reply.parse(body.reply);
  }

  async call(
    method: string,
    route: string,
    body?: unknown,
    secret?: string,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${secret ?? this.beat.node.controlSecret}`,
      // Agents are killed, and close idle connections: a kept one may close while a call is sent on it.
      connection: 'close',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const { controlUrl } = this.beat.node;
    if (!isLoopback(new URL(controlUrl).hostname)) return this.callAsWorker(method, route, text, headers);
    const sent = body === undefined ? {} : { body: text };
    const response = await fetch(`${controlUrl}${route}`, { method, headers, ...sent });
    // The cast: every answer of the agent is a JSON object.
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  /** Over TLS with a worker's certificate, which an agent beyond the loopback asks for. */
  private async callAsWorker(
    method: string,
    route: string,
    text: string | undefined,
    headers: http.OutgoingHttpHeaders,
  ): ReturnType<AgentProcess['call']> {
    const { authority } = this.api;
    const life = { now: new Date(), notAfter: new Date(Date.now() + 3_600_000) };
    const { certificatePem: cert, keyPem: key } = await makeWorkerCertificate(authority, life);
    const shown = {
      cert,
      key,
      ca: authority.certificatePem,
      servername: nodeDnsName(this.nodeId),
      agent: false,
    };
    const { hostname, port } = new URL(this.beat.node.controlUrl);
    const to = { host: hostname.replace(/[[\]]/g, ''), port, path: route, method, headers, ...shown };
    return new Promise((resolve, reject) => {
      const call = https.request(to, async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        // The cast: every answer of the agent is a JSON object.
        const answer = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
        resolve({ status: response.statusCode ?? 0, body: answer });
      });
      call.on('error', reject);
      call.end(text);
    });
  }
}

/** A few agents, the control plane that they report to, and the calls that a worker would make. */
export class AgentCluster {
  readonly api = new FakeApi();
  readonly agents: AgentProcess[] = [];
  private folder = '';
  private apiUrl = '';

  /** `environment` is added to each agent's, and `hasBlockDisk` gives each a small block disk. */
  constructor(
    private readonly environment: NodeJS.ProcessEnv = {},
    private readonly hasBlockDisk = false,
  ) {}

  async start(count: number): Promise<void> {
    this.folder = await fs.promises.mkdtemp(path.join(os.tmpdir(), 'holdfast-agents-'));
    this.apiUrl = await this.api.start();
    for (let i = 1; i <= count; i += 1) await this.add(`node-${i}`);
    await Promise.all(this.agents.map((agent) => agent.start()));
  }

  async add(name: string, own: NodeJS.ProcessEnv = {}): Promise<AgentProcess> {
    const home = path.join(this.folder, name);
    const [controlPort, nbdPort] = [await freePort(), await freePort()];
    const agent = new AgentProcess(
      name,
      {
        HOLDFAST_API_URL: this.apiUrl,
        HOLDFAST_AGENT_TOKEN: this.api.joinToken,
        HOLDFAST_NODE_NAME: name,
        HOLDFAST_ZONE: `zone-${name}`,
        HOLDFAST_DISKS: `${home}/disk-1:${home}/disk-2`,
        HOLDFAST_DISK_SIZE: '4Gi',
        HOLDFAST_CONTROL_PORT: String(controlPort),
        HOLDFAST_NBD_PORT: String(nbdPort),
        HOLDFAST_STATE_DIR: `${home}/state`,
        ...(this.hasBlockDisk
          ? { HOLDFAST_BLOCK_DISKS: `${home}/block`, HOLDFAST_BLOCK_DISK_SIZE: '128Mi' }
          : {}),
        ...this.environment,
        ...own,
      },
      this.api,
    );
    this.agents.push(agent);
    return agent;
  }

  async stop(): Promise<void> {
    for (const agent of this.agents) {
      agent.signalGroup('SIGCONT');
      await agent.kill();
    }
    await this.api.stop();
    await fs.promises.rm(this.folder, { recursive: true, force: true });
  }
}

/** Type of the disks that a volume's copies are on. */
export type DiskType = 'filesystem' | 'block';

export type TestVolume = {
  volumeId: string;
  sizeBytes: number;
  diskType: DiskType;
  replicas: { agent: AgentProcess; address: ReplicaAddress }[];
  record: { epoch: number; dataGeneration: number; members: string[] };
};

/** The address with the secret of an engine, which addresses of the tests have no place for: they outlive attachments. */
export function forEngine(address: ReplicaAddress, epoch: number, nodeId: string): ReplicaAddress {
  return { ...address, secret: engineSecret(address.secret, { epoch, nodeId }) };
}

/** A command's ask with the secrets that the worker makes of the copies' keys. */
function withSecrets(ask: object, nodeId: string): object {
  if ('target' in ask && 'epoch' in ask) {
    // The casts: the test has put them together so.
    return { ...ask, target: forEngine(ask.target as ReplicaAddress, Number(ask.epoch), nodeId) };
  }
  if (!('sources' in ask && 'snapshotId' in ask)) return ask;
  const reader = { snapshotId: String(ask.snapshotId), nodeId };
  const secretOf = (key: string) => snapshotSecret(key, reader);
  const sources = ask.sources as ReplicaAddress[];
  return { ...ask, sources: sources.map((source) => ({ ...source, secret: secretOf(source.secret) })) };
}

/** A volume with one copy on each of the agents. */
export async function createVolume(
  agents: readonly AgentProcess[],
  sizeBytes: number,
  diskType: DiskType = 'filesystem',
): Promise<TestVolume> {
  const volumeId = crypto.randomUUID();
  const members = agents.map(() => crypto.randomUUID()).sort();
  const volume: TestVolume = {
    volumeId,
    sizeBytes,
    diskType,
    replicas: [],
    record: { epoch: 0, dataGeneration: 0, members },
  };
  for (const [index, agent] of agents.entries())
    await addReplica(volume, agent, members[index] ?? '', volume.record);
  return volume;
}

export async function addReplica(
  volume: TestVolume,
  agent: AgentProcess,
  replicaId: string,
  record: TestVolume['record'] | null,
): Promise<ReplicaAddress> {
  const { volumeId, sizeBytes } = volume;
  const diskId = agent.beat.disks.find(({ type }) => type === volume.diskType)?.diskId;
  const created = { replicaId, volumeId, diskId, sizeBytes, secret: REPLICA_KEY, record };
  const { status, body } = await agent.call('POST', '/v1/replicas', created);
  if (status !== 200) throw new Error(JSON.stringify(body));
  const { controlUrl, nbdHost, nbdPort } = agent.beat.node;
  const address = {
    replicaId: asId<ReplicaId>(replicaId),
    nodeId: agent.nodeId,
    controlUrl,
    nbdHost,
    nbdPort,
    secret: REPLICA_KEY,
  };
  volume.replicas.push({ agent, address });
  return address;
}

export async function attach(
  volume: TestVolume,
  on: AgentProcess,
  epoch: number,
  over: { record?: TestVolume['record']; replicas?: ReplicaAddress[]; replicaTimeoutMs?: number } = {},
): Promise<StartEngineReply> {
  const { status, body } = await on.call('PUT', `/v1/engines/${volume.volumeId}`, {
    volumeName: 'pg-data',
    epoch,
    sizeBytes: volume.sizeBytes,
    attachmentSecret: 'an-attachment-secret',
    record: over.record ?? volume.record,
    replicas: (over.replicas ?? volume.replicas.map(({ address }) => address)).map((address) =>
      forEngine(address, epoch, on.nodeId),
    ),
    replicaTimeoutMs: over.replicaTimeoutMs ?? 8000,
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  // The cast: the agent answers with what the protocol declares.
  return body as unknown as StartEngineReply;
}

export async function connectTo({ endpoint }: StartEngineReply): Promise<NbdClient> {
  const { host, port, exportName } = endpoint;
  return NbdClient.connect({ host, port, exportName }, 5000);
}
