/** Duration of a takeover by force, from the user's side, while one node hangs or is cut off. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@holdfast/testkit/eventually.js';
import { connectNbd } from '@holdfast/testkit/nbd-workload.js';
import { AGENTS, type PartitionCluster } from './cluster.js';
import type { Party } from './network.js';

const BLOCK_BYTES = 4096;
const OLD = Buffer.alloc(BLOCK_BYTES, 7);
const NEW = Buffer.alloc(BLOCK_BYTES, 8);
/** `engine-replica-timeout` and some slack: after this an engine that was taken over answers no reads. */
const LEASE_MS = 12_000;
const READ_MS_MAX = 5_000;
/** Time after a cluster's start in which an attach waits longer for nodes that may be about to come. */
const CLUSTER_START_MS = 21_000;

type Volume = { state: string; robustness: string; endpoint: { nbdUri: string } | null };
/** `outlives`: the engine that was taken over may go on running. */
type Case = { name: string; outlives: boolean; begin: (cluster: PartitionCluster) => void };

/** Cases. Node 0 serves, node 1 takes over, node 2 holds the third copy. */
const CASES: readonly Case[] = [
  { name: 'the holder stands still', outlives: true, begin: (cluster) => cluster.signal(0, 'SIGSTOP') },
  { name: 'the holder is cut off', outlives: true, begin: (cluster) => cutOff(cluster, 0) },
  { name: 'another node stands still', outlives: false, begin: (cluster) => cluster.signal(2, 'SIGSTOP') },
  { name: 'another node is cut off', outlives: false, begin: (cluster) => cutOff(cluster, 2) },
];

function cutOff({ network }: PartitionCluster, agent: number): void {
  const others: Party[] = ['control', 0, 1, 2];
  for (const other of others.filter((one) => one !== agent)) {
    network.cut(agent, other);
    network.cut(other, agent);
  }
}

export type Takeover = {
  name: string;
  /** From the forced detach to the first acknowledged write on the other node. */
  tookMs: number;
  /** True if the old engine answered a read with overwritten data, long after the takeover. */
  isReadStale: boolean;
};

export async function measureTakeovers(cluster: PartitionCluster): Promise<Takeover[]> {
  const { stack } = cluster;
  const size = ['--size', '64Mi', '--replicas', String(AGENTS)];
  const { id } = await stack.cliJson<{ id: string }>('volume', 'create', 'takeovers', ...size);
  const measured: Takeover[] = [];
  await sleep(CLUSTER_START_MS);
  for (const { name, outlives, begin } of CASES) {
    const old = await attachAndWrite(cluster, id, { agent: 0, block: OLD });
    await until(cluster, id, ({ robustness }) => robustness === 'healthy');
    begin(cluster);
    const beganMs = performance.now();
    await stack.call('POST', `/volumes/${id}/detach`, { force: true });
    await until(cluster, id, ({ state }) => state === 'detached');
    const taken = await attachAndWrite(cluster, id, { agent: 1, block: NEW });
    const tookMs = Math.round(performance.now() - beganMs);
    if (outlives) await sleep(LEASE_MS);
    measured.push({ name, tookMs, isReadStale: outlives && (await readsOld(old)) });
    for (const client of [old, taken]) client.close();
    await cluster.healAll();
    await stack.call('POST', `/volumes/${id}/detach`, {});
    await until(cluster, id, ({ state }) => state === 'detached');
  }
  await cluster.deleteVolume('takeovers');
  return measured;
}

type Client = Awaited<ReturnType<typeof connectNbd>>;

/** True if a client of the old engine reads old data. It has to get an error, or no answer. */
async function readsOld(client: Client): Promise<boolean> {
  const reading = client.read(0, BLOCK_BYTES).then(Buffer.concat, () => undefined);
  const bytes = await Promise.race([reading, sleep(READ_MS_MAX, undefined)]);
  return bytes?.equals(OLD) === true;
}

async function attachAndWrite(
  cluster: PartitionCluster,
  id: string,
  { agent, block }: { agent: number; block: Buffer },
): Promise<Client> {
  const nodeId = await cluster.nodeId(agent);
  await cluster.stack.call('POST', `/volumes/${id}/attach`, { nodeId });
  const { endpoint } = await until(cluster, id, ({ state }) => state === 'attached');
  const client = await connectNbd(endpoint?.nbdUri ?? '');
  await client.write(0, [block], BLOCK_BYTES, { fua: false });
  return client;
}

function until({ stack }: PartitionCluster, id: string, isSo: (volume: Volume) => boolean): Promise<Volume> {
  const read = async () => (await stack.call<Volume>('GET', `/volumes/${id}`)).body;
  return eventually('the volume is so', read, isSo);
}
