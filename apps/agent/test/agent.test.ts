import crypto from 'node:crypto';
import { checksumOfBytes } from '@holdfast/data-engine/integrity/device-checksum.js';
import { contiguous } from '@holdfast/data-engine/nbd/export.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  AgentCluster,
  type AgentProcess,
  addReplica,
  attach,
  connectTo,
  createVolume,
  type TestVolume,
} from './agents.js';

const MIB = 1024 * 1024;

const cluster = new AgentCluster();
beforeAll(() => cluster.start(3), 60_000);
afterAll(() => cluster.stop(), 60_000);

function node(index: number): AgentProcess {
  const agent = cluster.agents[index];
  if (agent === undefined) throw new Error(`no agent ${index}`);
  return agent;
}

async function checksums(volume: TestVolume): Promise<unknown[]> {
  return Promise.all(
    volume.replicas.map(async ({ agent, address }) => {
      const { body } = await agent.call('POST', `/v1/replicas/${address.replicaId}/checksum`);
      return body.checksum ?? body;
    }),
  );
}

describe('an agent', () => {
  test('reports its disks and stays one process until there is something to do', async () => {
    const beat = await cluster.api.until('node-1', ({ disks }) => disks.length === 2);
    expect(beat.disks.map(({ name, ready, maximumBytes }) => ({ name, ready, maximumBytes }))).toEqual([
      { name: 'disk-1', ready: true, maximumBytes: 4096 * MIB },
      { name: 'disk-2', ready: true, maximumBytes: 4096 * MIB },
    ]);
  });

  test.each([
    { name: 'a wrong secret', route: '/v1/replicas', secret: 'wrong', want: 401 },
    { name: 'an unknown call', route: '/v1/nothing', want: 404 },
    { name: 'a body that is no JSON', route: '/v1/replicas', body: '{', want: 422 },
    { name: 'a body of the wrong shape', route: '/v1/replicas', body: '{}', want: 422 },
    { name: 'a body that is too long', route: '/v1/replicas', body: `"${'x'.repeat(300_000)}"`, want: 413 },
    {
      name: 'an unknown copy',
      route: `/v1/replicas/${crypto.randomUUID()}/open`,
      body: '{"epoch":1}',
      want: 404,
    },
  ])('refuses $name with a problem', async ({ route, body, secret, want }) => {
    const answer = await node(0).call('POST', route, body, secret);
    expect(answer.status).toBe(want);
    expect(answer.body).toMatchObject({ code: expect.any(String), message: expect.any(String) });
    expect((await fetch(`${node(0).beat.node.controlUrl}/livez`)).status).toBe(200);
  });
});

describe('the main job on real processes', () => {
  test('serve, lose a node under I/O, rebuild it, detach, verify, take over', async () => {
    const volume = await createVolume(cluster.agents, 64 * MIB);
    const started = await attach(volume, node(0), 1);
    expect(await attach(volume, node(0), 1)).toMatchObject({ endpoint: started.endpoint });
    const client = await connectTo(started);
    const model = Buffer.alloc(64 * MIB);
    crypto.randomFillSync(model, 0, 16 * MIB);
    await client.write(0, [model.subarray(0, 16 * MIB)], 16 * MIB, { fua: false });
    await client.flush();

    // A node that runs no engine dies while the client writes: it sees no error.
    const writes = Array.from({ length: 100 }, async () => {
      const offset = crypto.randomInt(8192) * 4096;
      const data = crypto.randomBytes(4096);
      data.copy(model, offset);
      await client.write(offset, [data], data.length, { fua: false });
    });
    const [killed] = await Promise.all([node(2).kill(), ...writes]);
    expect(killed).toBeUndefined();
    await cluster.api.until('node-1', ({ engines }) =>
      engines.some(({ replicas }) => replicas.some(({ mode }) => mode === 'ERR')),
    );

    // It comes back; its copy is rebuilt while the client goes on.
    const back = await node(2).start();
    const lost = volume.replicas[2];
    expect(back.replicas.map(({ replicaId }) => replicaId)).toEqual([lost?.address.replicaId]);
    const rebuildId = crypto.randomUUID();
    const rebuild = { rebuildId, epoch: 1, target: lost?.address, sourceReplicaId: null };
    const answer = await node(0).call('POST', `/v1/engines/${volume.volumeId}/rebuilds`, rebuild);
    expect(answer).toMatchObject({ status: 200 });
    for (let i = 0; i < 200; i += 1) {
      const offset = crypto.randomInt(8192) * 4096;
      const data = crypto.randomBytes(4096);
      data.copy(model, offset);
      await client.write(offset, [data], data.length, { fua: false });
    }
    const done = await cluster.api.until('node-1', ({ engines }) =>
      engines.some(({ rebuilds }) => rebuilds.some(({ state }) => state !== 'running')),
    );
    expect(done.engines[0]?.rebuilds[0]).toMatchObject({ state: 'succeeded', error: null });
    expect(contiguous(await client.read(0, 32 * MIB)).equals(model.subarray(0, 32 * MIB))).toBe(true);

    const stopped = await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
    expect(stopped.status).toBe(200);
    const expected = checksumOfBytes(model);
    expect(await checksums(volume)).toEqual([expected, expected, expected]);
  }, 60_000);

  test('SIGKILL of the node that runs the engine: another serves every flushed byte', async () => {
    const volume = await createVolume(cluster.agents, 16 * MIB);
    const client = await connectTo(await attach(volume, node(0), 1));
    const data = crypto.randomBytes(4 * MIB);
    await client.write(0, [data], data.length, { fua: true });
    await node(0).kill();

    const survivors = volume.replicas.slice(1);
    for (const { agent, address } of survivors) {
      const { body } = await agent.call('POST', `/v1/replicas/${address.replicaId}/open`, { epoch: 2 });
      expect(body).toMatchObject({ clean: false, record: { epoch: 1, dataGeneration: 1 } });
    }
    const started = await attach(volume, node(1), 2, {
      record: { ...volume.record, epoch: 1, dataGeneration: 1 },
      replicas: survivors.map(({ address }) => address),
    });
    const next = await connectTo(started);
    expect(contiguous(await next.read(0, data.length)).equals(data)).toBe(true);
    await node(0).start();
    const stale = await node(0).call('POST', `/v1/replicas/${volume.replicas[0]?.address.replicaId}/open`, {
      epoch: 2,
    });
    expect(stale.body).toMatchObject({ record: { epoch: 1 } });
    await node(1).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=2`);
  }, 60_000);

  test('a silent node (SIGSTOP) is dropped without an error', async () => {
    const volume = await createVolume(cluster.agents, 16 * MIB);
    const client = await connectTo(await attach(volume, node(0), 1, { replicaTimeoutMs: 1000 }));
    await client.write(0, [Buffer.alloc(4096, 1)], 4096, { fua: false });
    node(2).signalGroup('SIGSTOP');
    await client.write(0, [Buffer.alloc(4096, 2)], 4096, { fua: true });
    node(2).signalGroup('SIGCONT');
    const beat = await cluster.api.until('node-1', ({ engines }) =>
      engines.some(
        ({ volumeId, replicas }) =>
          volumeId === volume.volumeId && replicas.some(({ mode }) => mode === 'ERR'),
      ),
    );
    const engine = beat.engines.find(({ volumeId }) => volumeId === volume.volumeId);
    expect(engine?.replicas.find(({ mode }) => mode === 'ERR')?.reason).toContain('silent');
    await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
  }, 60_000);

  test('SIGTERM ends cleanly, and the copies are clean afterwards', async () => {
    const volume = await createVolume(cluster.agents, 16 * MIB);
    const client = await connectTo(await attach(volume, node(0), 1));
    await client.write(0, [Buffer.alloc(MIB, 5)], MIB, { fua: false });
    expect(await node(0).stop()).toBe(0);
    await node(0).start();
    for (const { agent, address } of volume.replicas) {
      const { body } = await agent.call('POST', `/v1/replicas/${address.replicaId}/open`, { epoch: 2 });
      expect(body).toMatchObject({ clean: true });
    }
    const added = await addReplica(volume, node(0), crypto.randomUUID(), null);
    expect((await node(0).call('DELETE', `/v1/replicas/${added.replicaId}`)).status).toBe(200);
    expect((await node(0).call('DELETE', `/v1/replicas/${added.replicaId}`)).status).toBe(200);
  }, 60_000);
});
