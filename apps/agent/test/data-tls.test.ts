/** The data of copies on other nodes, and the secrets of one attachment after the other. */
import crypto from 'node:crypto';
import type { ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import { NbdClient } from '@holdfast/data-engine/nbd/client.js';
import { chooseTls } from '@holdfast/data-engine/nbd/client-tls.js';
import { contiguous } from '@holdfast/data-engine/nbd/export.js';
import { formatExportName } from '@holdfast/data-engine/protocol/export-names.js';
import {
  type Authority,
  makeAuthority,
  readRequest,
  signNodeCertificate,
} from '@holdfast/identity/authority.js';
import { readerSecret } from '@holdfast/identity/copy-secret.js';
import { nodeDnsName } from '@holdfast/identity/names.js';
import { makeKey, makeRequest } from '@holdfast/identity/request.js';
import { testId } from '@holdfast/testkit/builders.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { AgentCluster, type AgentProcess, attach, connectTo, createVolume, forEngine } from './agents.js';

const MIB = 1024 * 1024;
// Reaches this machine, but is not taken for its loopback.
const ADDRESS = '::ffff:7f00:1';
const cluster = new AgentCluster({ HOLDFAST_BIND_HOST: '127.0.0.1', HOLDFAST_ADVERTISE_HOST: ADDRESS });
beforeAll(() => cluster.start(2));
afterEach(() => chooseTls(undefined));
afterAll(() => cluster.stop());

const LIFE = { now: new Date(), notAfter: new Date(Date.now() + 3_600_000) };

function node(index: number): AgentProcess {
  const agent = cluster.agents[index];
  if (agent === undefined) throw new Error('two agents were started');
  return agent;
}

type Caller = { nodeId: string; clusterId: string; by: Authority };

/** Has this process connect as that node does, with a certificate of its own. */
async function connectAs({ nodeId, clusterId, by }: Caller, to: string): Promise<void> {
  const key = makeKey();
  const asked = await readRequest(await makeRequest(key, 'node-9'));
  if (asked === undefined) throw new Error('the request is good');
  const cert = await signNodeCertificate(by, { nodeId, clusterId, name: 'node-9' }, asked, LIFE);
  const ca = cluster.api.authority.certificatePem;
  chooseTls(async () => ({ key, cert, ca, servername: nodeDnsName(to) }));
}

/** What a connection to the copy comes to: its size, or why there is none. */
async function connecting({ replicaId, secret }: ReplicaAddress, to: AgentProcess, epoch: number) {
  const exportName = formatExportName({ kind: 'replica', replicaId, epoch, secret });
  const { nbdPort: port } = to.beat.node;
  const client = await NbdClient.connect({ host: '127.0.0.1', port, exportName }, 5000);
  client.close();
  return client.sizeBytes;
}

describe('a copy on another node', () => {
  test('is written, rebuilt and read over TLS', async () => {
    const volume = await createVolume(cluster.agents, 8 * MIB);
    const started = await attach(volume, node(0), 1);
    expect(started.endpoint.tls).toBe(false);
    await eventually(
      'one process of the node ends TLS',
      () => node(1).hostPids('tls-host'),
      (pids) => pids.length === 1,
    );
    const client = await connectTo(started);
    const data = crypto.randomBytes(8 * MIB);
    await client.write(0, [data], data.length, { fua: true });
    await node(1).kill();
    data.fill(7, 0, MIB);
    await client.write(0, [data.subarray(0, MIB)], MIB, { fua: true });
    await node(1).start();
    const target = volume.replicas[1]?.address;
    const rebuild = { rebuildId: crypto.randomUUID(), epoch: 1, target, sourceReplicaIds: [] };
    expect(await node(0).command(volume.volumeId, 'start-rebuild', rebuild)).toMatchObject({ status: 200 });
    const done = await cluster.api.until('node-1', ({ engines }) =>
      engines.some(({ rebuilds }) => rebuilds.some(({ state }) => state !== 'running')),
    );
    expect(done.engines[0]?.rebuilds[0]).toMatchObject({ state: 'succeeded', error: null });
    client.close();
    await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
    // The rebuilt copy alone, from its own node.
    const only = volume.replicas.slice(1).map(({ address }) => address);
    const record = { epoch: 1, dataGeneration: 0, members: only.map(({ replicaId }) => String(replicaId)) };
    const again = await connectTo(await attach(volume, node(1), 2, { replicas: only, record }));
    expect(contiguous(await again.read(0, data.length)).equals(data)).toBe(true);
    again.close();
    await node(1).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=2`);
  });

  test('is served to the node that its secret was made for, and to no other', async () => {
    const [volume, first, second] = [await createVolume(cluster.agents, MIB), node(0), node(1)];
    const copy = volume.replicas[1]?.address;
    if (copy === undefined) throw new Error('two copies were made');
    await second.call('POST', `/v1/replicas/${copy.replicaId}/open`, { epoch: 1 });
    const address = forEngine(copy, 1, first.nodeId);
    const { authority: by, clusterId } = cluster.api;
    await expect(connecting(address, second, 1)).rejects.toThrow('no such export');
    await connectAs({ nodeId: first.nodeId, clusterId, by }, second.nodeId);
    expect(await connecting(address, second, 1)).toBe(MIB);
    const lent = { ...address, secret: readerSecret(address.secret, first.nodeId) };
    await expect(connecting(lent, second, 1)).rejects.toThrow('no such export');
    await connectAs({ nodeId: testId(309), clusterId, by }, second.nodeId);
    await expect(connecting(address, second, 1)).rejects.toThrow('no such export');
    for (const other of [
      { nodeId: first.nodeId, clusterId: testId(9), by },
      { nodeId: first.nodeId, clusterId, by: await makeAuthority(LIFE.now) },
    ]) {
      await connectAs(other, second.nodeId);
      await expect(connecting(address, second, 1)).rejects.toThrow();
    }
  });
});

describe('the secrets of an attachment', () => {
  test('admit to nothing after the next one, and can not raise the epoch', async () => {
    const [volume, first, second] = [await createVolume([node(1)], MIB), node(0), node(1)];
    const copy = volume.replicas[0]?.address;
    if (copy === undefined) throw new Error('a copy was made');
    const { authority: by, clusterId } = cluster.api;
    await connectAs({ nodeId: first.nodeId, clusterId, by }, second.nodeId);
    const route = `/v1/replicas/${copy.replicaId}`;
    const [old, next] = [forEngine(copy, 1, first.nodeId), forEngine(copy, 2, first.nodeId)];
    await second.call('POST', `${route}/open`, { epoch: 1 });
    expect(await connecting(old, second, 1)).toBe(MIB);
    await second.call('POST', `${route}/open`, { epoch: 2 });
    await expect(connecting(old, second, 1)).rejects.toThrow('epoch');
    await expect(connecting(old, second, 2)).rejects.toThrow('no such export');
    expect(await connecting(next, second, 2)).toBe(MIB);
  });
});
