/**
 * A cluster of a suite's own on the stack that all suites of a run share: an organization with its owner, a project, and agents that
 * only this suite knows. Its agents, settings and volumes concern no other suite.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import type http from 'node:http';
import path from 'node:path';
import { type LocalSeed, seedLocal } from '@holdfast/database/seed-local.js';
import { createPool } from '@holdfast/database/sql/pool.js';
import { ClusterAgents } from './cluster-agents.js';
import { ClusterHome, type LocalAgent, type LocalJson } from './cluster-home.js';
import { eventually } from './eventually.js';
import { runFolder, type SharedStack, sharedStack } from './shared-parts.js';
import { startPart } from './started-parts.js';
import { controlSocketIn, openTestControlSocket } from './test-control-socket.js';

/** The worker may be changing the same rows. */
const FORGET_ATTEMPTS_MAX = 5;
const ZONES = ['zone-a', 'zone-b', 'zone-c'];

export type ClusterOptions = {
  /** How many agents start with it, as node-1, node-2 and so on. */
  agents?: number;
  zones?: readonly string[];
  diskSize?: string;
  /** Further variables of its agents. */
  env?: Readonly<Record<string, string>>;
};

type NodeItem = {
  id: string;
  name: string;
  conditions: { type: string; status: string }[];
  lastHeartbeatAt: string | null;
};

export class TestCluster extends ClusterHome {
  private control: http.Server | undefined;

  private constructor(
    home: string,
    readonly stack: SharedStack,
    private readonly organizationId: string,
    private readonly agents: ClusterAgents,
  ) {
    super(home);
  }

  static start(options: ClusterOptions = {}): Promise<TestCluster> {
    return startPart('cluster', () => TestCluster.begin(options));
  }

  private static async begin(options: ClusterOptions): Promise<TestCluster> {
    const { agents: count = 3, zones = ZONES, diskSize = '20Gi', env = {} } = options;
    const stack = await sharedStack();
    const home = fs.mkdtempSync(path.join(runFolder(), 'cluster-'));
    const seed = await seedOrganization(stack, path.basename(home));
    const { apiUrl, ...stackLocal } = localOf(stack.home);
    const agents = await ClusterAgents.prepare({
      ...{ home, apiUrl, zones, diskSize, env },
      joinToken: seed.agentToken ?? '',
    });
    const cluster = new TestCluster(home, stack, seed.organizationId, agents);
    const { email, password, token, organizationId, projectId, clusterId } = seed;
    const own = { email, password, token, organizationId, projectId, clusterId };
    cluster.publish({ ...stackLocal, apiUrl, ...own, agents: [], controlSocket: controlSocketIn(home) });
    return cluster.orDestroy(async () => {
      cluster.control = await openTestControlSocket(home, (name) => cluster.startAgent(name));
      await cluster.startAgents(Array.from({ length: count }, (_, index) => `node-${index + 1}`));
      return cluster;
    });
  }

  /** The same with the processes of the stack as they are now: they are started again when they die. */
  override get local(): LocalJson {
    return { ...super.local, processes: localOf(this.stack.home).processes };
  }

  /** Starts an agent that was killed, or a new one, and waits until its node is Ready. */
  async startAgent(name: string): Promise<LocalAgent> {
    await this.startAgents([name]);
    return this.agent(name);
  }

  /** Kills its agents, and removes its data and what the worker would otherwise do about its lost nodes for the rest of the run. */
  override async destroy(): Promise<void> {
    this.control?.close();
    await this.agents.kill();
    await forgetNodes(this.stack, this.organizationId);
    fs.rmSync(this.home, { recursive: true, force: true });
  }

  private async startAgents(names: readonly string[]): Promise<void> {
    const startedAt = Date.now();
    const isNew = names.filter((name) => !this.agents.isRunning(name));
    const started = names.map((name) => this.agents.start(name));
    const isUp = ({ name, conditions, lastHeartbeatAt }: NodeItem) =>
      conditions.some(({ type, status }) => type === 'Ready' && status === 'True') &&
      // An older one is from the agent's last run.
      (!isNew.includes(name) || Date.parse(lastHeartbeatAt ?? '') >= startedAt);
    const nodes = await eventually(
      `${names.join(', ')} are Ready`,
      async () => (await this.call<{ items: NodeItem[] }>('GET', '/nodes?limit=100')).body.items,
      (items) => names.every((name) => items.some((node) => node.name === name && isUp(node))),
    );
    const idOf = (name: string) => nodes.find((node) => node.name === name)?.id ?? '';
    const local = super.local;
    const others = local.agents.filter(({ name }) => !names.includes(name));
    const all = [...others, ...started.map((agent) => ({ ...agent, nodeId: idOf(agent.name) }))];
    this.publish({
      ...local,
      agents: all.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })),
    });
  }

  /** In one step: the CLI may be reading it. */
  private publish(local: LocalJson): void {
    const file = path.join(this.home, 'local.json');
    fs.writeFileSync(`${file}.tmp`, JSON.stringify(local, null, 2));
    fs.renameSync(`${file}.tmp`, file);
  }
}

function localOf(home: string): LocalJson {
  // The stack wrote it.
  return JSON.parse(fs.readFileSync(path.join(home, 'local.json'), 'utf8')) as LocalJson;
}

function seedOrganization({ home, systemUrl }: SharedStack, name: string): Promise<LocalSeed> {
  const { agentToken } = JSON.parse(fs.readFileSync(path.join(home, 'secrets.json'), 'utf8')) as {
    agentToken: string;
  };
  // A join token ends in the fingerprint of the authority, which is the same for the whole stack.
  const fingerprint = agentToken.slice(agentToken.lastIndexOf('.') + 1);
  const secret = () => randomBytes(24).toString('base64url');
  const secrets = { password: secret(), token: secret(), agentToken: `${secret()}.${fingerprint}` };
  const email = `owner@${name}.example.org`.toLowerCase();
  return seedLocal(systemUrl, secrets, { organization: name, email, project: 'default', cluster: 'local' });
}

/** Deletes the volumes and nodes of an organization, without whose rows the worker has nothing to do there. */
async function forgetNodes({ ownerUrl }: SharedStack, organizationId: string): Promise<void> {
  const pool = createPool(ownerUrl, { connectionsMax: 1, applicationName: 'test' });
  const ofOrganization = ['rebuild', 'replica', 'volume', 'disk', 'node'].map(
    (table) => `DELETE FROM ${table} WHERE organization_id = '${organizationId}';`,
  );
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        // Several statements in one query are one transaction.
        await pool.query(ofOrganization.join(' '));
        return;
      } catch (error) {
        if (attempt === FORGET_ATTEMPTS_MAX) throw error;
      }
    }
  } finally {
    await pool.end();
  }
}
