/** Cluster of the running local stack, by the names that a scenario calls its nodes, disks and volumes. */
import { type EndpointClient, isProblem } from '@holdfast/api-client/client.js';
import { ScenarioError } from '@holdfast/scenario/driver.js';
import { type Answer, createApi, itemsOf } from '../api.js';
import { type LocalAgent, type LocalJson, readLocal } from '../connection.js';
import type { Disk, Node, Rebuild, Replica, Snapshot, Volume } from '../types.js';

/** The API said no. The code is the scenario's to expect. */
export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export class LocalCluster {
  readonly api: EndpointClient;
  readonly clusterId: string;
  /** Names of the stack's nodes by those of the scenario. */
  private readonly nodeNames = new Map<string, string>();
  /** Ids of volumes that this run has made, by their names. */
  readonly volumeIds = new Map<string, string>();
  private nodesNow: readonly Node[] = [];
  private disksNow: readonly Disk[] = [];

  constructor(private readonly env: NodeJS.ProcessEnv) {
    const { apiUrl, token, clusterId } = this.local;
    this.api = createApi({ apiUrl, token, clusterId });
    this.clusterId = clusterId;
  }

  get local(): LocalJson {
    return readLocal(this.env);
  }

  /** The stack's nodes play those of the scenario, in the order of both. */
  cast(names: readonly string[]): void {
    const agents = [...this.local.agents].map(({ name }) => name).sort(compareNames);
    if (names.length > agents.length) {
      throw new ScenarioError(
        `the scenario has ${names.length} nodes and the local stack ${agents.length}: ` +
          `add some with \`npx holdfast local start-agent ${`node-${agents.length + 1}`}\``,
      );
    }
    for (const [index, name] of names.entries()) this.nodeNames.set(name, agents[index] ?? '');
  }

  agent(name: string): LocalAgent {
    const real = this.nodeNames.get(name);
    const agent = this.local.agents.find((one) => one.name === real);
    if (agent === undefined) throw new ScenarioError(`no agent of the local stack plays node ${name}`);
    return agent;
  }

  /** Reads nodes and disks, whose names the facts need. */
  async refresh(): Promise<void> {
    const path = { clusterId: this.clusterId };
    const nodes = await itemsOf((query) =>
      this.api.GET('/clusters/{clusterId}/nodes', { params: { path, query } }),
    );
    const disks = await Promise.all(
      nodes.map(({ id: nodeId }) =>
        itemsOf((query) =>
          this.api.GET('/clusters/{clusterId}/nodes/{nodeId}/disks', {
            params: { path: { ...path, nodeId }, query },
          }),
        ),
      ),
    );
    this.nodesNow = nodes;
    this.disksNow = disks.flat();
  }

  get nodes(): readonly Node[] {
    return this.nodesNow;
  }

  get disks(): readonly Disk[] {
    return this.disksNow;
  }

  node(name: string): Node {
    const node = this.nodesNow.find((one) => one.name === this.nodeNames.get(name));
    if (node === undefined) throw new ScenarioError(`no node of the local stack plays ${name}`);
    return node;
  }

  disk(name: string): Disk {
    const disk = this.disksNow.find((one) => this.diskNameOf(one.id) === name);
    if (disk === undefined) throw new ScenarioError(`the local stack has no disk that plays ${name}`);
    return disk;
  }

  /** An action that the API has for nodes, by its path. @throws Refused */
  async actOnNode(name: string, action: string, body: object): Promise<void> {
    const { apiUrl, token } = this.local;
    const url = `${apiUrl}/clusters/${this.clusterId}/nodes/${this.node(name).id}/${action}`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const error: unknown = response.ok ? undefined : await response.json().catch(() => undefined);
    await done(Promise.resolve({ error, response }));
  }

  /** The scenario's name of a node; `null` for one that is not in it. */
  nodeNameOf(id: string | null): string | null {
    const real = this.nodesNow.find((node) => node.id === id)?.name;
    return [...this.nodeNames].find(([, name]) => name === real)?.[0] ?? null;
  }

  diskNameOf(id: string | null): string | null {
    const disk = this.disksNow.find((one) => one.id === id);
    const node = this.nodeNameOf(disk?.nodeId ?? null);
    return disk === undefined || node === null ? null : `${node}/${disk.name}`;
  }

  volumeId(name: string): string {
    const id = this.volumeIds.get(name);
    if (id === undefined) throw new ScenarioError(`there is no volume ${name} yet`);
    return id;
  }

  volumes(): Promise<Volume[]> {
    const path = { clusterId: this.clusterId };
    return itemsOf((query) => this.api.GET('/clusters/{clusterId}/volumes', { params: { path, query } }));
  }

  async volume(name: string): Promise<Volume> {
    const path = { clusterId: this.clusterId, volumeId: this.volumeId(name) };
    return asked(this.api.GET('/clusters/{clusterId}/volumes/{volumeId}', { params: { path } }));
  }

  async replica(volume: string, on: string): Promise<Replica> {
    const { replicas } = await this.volume(volume);
    const found = replicas.find(
      ({ nodeId, diskId, intent }) =>
        intent !== 'remove' && [this.nodeNameOf(nodeId), this.diskNameOf(diskId)].includes(on),
    );
    if (found === undefined) throw new ScenarioError(`volume ${volume} has no replica on ${on}`);
    return found;
  }

  rebuilds(): Promise<Rebuild[]> {
    const path = { clusterId: this.clusterId };
    return itemsOf((query) => this.api.GET('/clusters/{clusterId}/rebuilds', { params: { path, query } }));
  }

  async rebuild(volume: string): Promise<Rebuild> {
    const volumeId = this.volumeId(volume);
    const isActive = (state: string) => state === 'queued' || state === 'running';
    const found = (await this.rebuilds()).find((one) => one.volumeId === volumeId && isActive(one.state));
    if (found === undefined) throw new ScenarioError(`volume ${volume} has no rebuild that waits or runs`);
    return found;
  }

  snapshots(volumeId: string): Promise<Snapshot[]> {
    const path = { clusterId: this.clusterId, volumeId };
    return itemsOf((query) =>
      this.api.GET('/clusters/{clusterId}/volumes/{volumeId}/snapshots', { params: { path, query } }),
    );
  }

  async snapshotId(volume: string, name: string): Promise<string> {
    const found = (await this.snapshots(this.volumeId(volume))).find((one) => one.name === name);
    if (found === undefined) throw new ScenarioError(`volume ${volume} has no snapshot ${name}`);
    return found.id;
  }
}

/** The body of an answer. @throws Refused with the code of the problem document */
export async function asked<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer;
  if (!response.ok) {
    throw isProblem(error)
      ? new Refused(error.code, error.detail)
      : new Refused('any', `the API answered ${response.status}`);
  }
  if (data === undefined) throw new Refused('any', 'the API gave no answer');
  return data;
}

/** As `asked`, where the answer has no body. */
export async function done(answer: Promise<Answer<unknown>>): Promise<void> {
  const { error, response } = await answer;
  if (response.ok) return;
  const [code, message] = isProblem(error)
    ? [error.code, error.detail]
    : ['any', `the API answered ${response.status}`];
  throw new Refused(code, message);
}

/** node-2 before node-10. */
function compareNames(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
