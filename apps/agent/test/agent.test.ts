import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineCommandName } from '@holdfast/core/model/engine-commands.js';
import { checksumOfBytes } from '@holdfast/data-engine/layers/device-checksum.js';
import { contiguous } from '@holdfast/data-engine/nbd/export.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { hasPrograms, runTool } from '@holdfast/testkit/nbd-tools.js';
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
/** Silence of a copy after which an engine drops it, and so the length of an engine's lease to read. */
const SHORT_TIMEOUT_MS = 1_500;
/** Longer than that lease. */
const API_DOWN_MS = 4_000;

const cluster = new AgentCluster();
beforeAll(() => cluster.start(3));
afterAll(() => cluster.stop());

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

/** Waits for the end of a process that is no child of this one. */
async function gone(pid: number): Promise<void> {
  for (let i = 0; i < 400; i += 1) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`process ${pid} lives on`);
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

    // A node that runs no engine dies while the client writes; the client sees no error.
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
    const rebuild = { rebuildId, epoch: 1, target: lost?.address, sourceReplicaIds: [] };
    const answer = await node(0).command(volume.volumeId, 'start-rebuild', rebuild);
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
  });

  test('snapshots: taken, reverted to when no client is left, deleted, purged, hashed; and the volume grows', async () => {
    const volume = await createVolume(cluster.agents, 16 * MIB);
    const started = await attach(volume, node(0), 1);
    const client = await connectTo(started);
    const data = crypto.randomBytes(4 * MIB);
    await client.write(0, [data], data.length, { fua: false });
    const change = (name: EngineCommandName, ask = {}) =>
      node(0).command(volume.volumeId, name, { epoch: 1, ...ask });
    const snapshot = {
      id: crypto.randomUUID(),
      name: 'a',
      origin: 'user',
      createdAt: '2026-01-01T00:00:00Z',
    };
    expect((await change('take-snapshot', { snapshot })).status).toBe(200);
    expect((await change('take-snapshot', { snapshot })).status).toBe(200);
    await client.write(0, [Buffer.alloc(MIB)], MIB, { fua: false });
    expect((await change('hash-snapshot', { snapshotId: snapshot.id, force: false })).status).toBe(200);

    const refused = await change('revert', { snapshotId: snapshot.id });
    expect(refused).toMatchObject({ status: 409, body: { code: 'volume.in_use' } });
    client.close();
    await eventually(
      'the revert',
      () => change('revert', { snapshotId: snapshot.id }),
      ({ status }) => status === 200,
    );
    expect((await change('expand', { sizeBytes: 32 * MIB })).status).toBe(200);
    const again = await connectTo(started);
    expect(again.sizeBytes).toBe(32 * MIB);
    expect(contiguous(await again.read(0, data.length)).equals(data)).toBe(true);
    await again.write(31 * MIB, [Buffer.alloc(4096, 1)], 4096, { fua: true });

    const layers = () => node(0).layers(volume.volumeId, 1);
    await eventually('the hash', layers, ({ layers: [first] }) =>
      (first?.checksums ?? []).every(({ checksum }) => checksum !== null),
    );
    expect((await change('remove-snapshot', { snapshotId: snapshot.id })).status).toBe(200);
    expect((await change('purge')).status).toBe(200);
    await eventually('the purge', layers, ({ busy, layers: left }) => busy === '' && left.length === 1);
    expect((await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`)).status).toBe(200);
    const [first, ...others] = await checksums(volume);
    expect(first).toEqual(expect.any(String));
    expect(others).toEqual([first, first]);
  });

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
  });

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
  });

  test('a host process that dies takes its copies only; they are opened again when asked for', async () => {
    const volume = await createVolume(cluster.agents, 16 * MIB);
    const client = await connectTo(await attach(volume, node(0), 1));
    await client.write(0, [Buffer.alloc(4096, 1)], 4096, { fua: true });
    for (const pid of await node(1).hostPids('replica-host')) process.kill(pid, 'SIGKILL');
    await client.write(4096, [Buffer.alloc(4096, 2)], 4096, { fua: true });
    const replicaId = volume.replicas[1]?.address.replicaId;
    // A host that has just died may not be missed yet: the call fails then, and is made again.
    const opened = await eventually(
      'the copy is open again',
      () => node(1).call('POST', `/v1/replicas/${replicaId}/open`, { epoch: 1 }),
      ({ status }) => status !== 503,
    );
    expect(opened).toMatchObject({ status: 200, body: { clean: false, record: { dataGeneration: 1 } } });

    for (const pid of await node(0).hostPids('host')) process.kill(pid, 'SIGKILL');
    const beat = await cluster.api.until('node-1', ({ engines }) =>
      engines.some(({ volumeId, state }) => volumeId === volume.volumeId && state === 'stopped'),
    );
    expect(beat.engines.find(({ volumeId }) => volumeId === volume.volumeId)?.reason).toContain('SIGKILL');
    await expect(client.read(0, 4096)).rejects.toThrow();
    await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
  });

  test('a call about a copy that can not be read is answered with the reason', async () => {
    const first = node(0);
    const volume = await createVolume([], MIB);
    const { replicaId, secret: own } = await addReplica(volume, first, crypto.randomUUID(), null);
    const [disk] = first.beat.disks;
    await first.stop();
    await fs.writeFile(path.join(disk?.path ?? '', 'replicas', replicaId, 'replica.json'), 'rot');
    await first.start();
    const route = `/v1/replicas/${replicaId}/commands/open`;
    for (const secret of [own, 'a-secret-of-no-copy']) {
      const answer = await first.call('POST', route, { epoch: 1 }, secret);
      expect(answer).toMatchObject({ status: 409, body: { code: 'replica.corrupt' } });
    }
    expect(await first.call('DELETE', `/v1/replicas/${replicaId}`)).toMatchObject({ status: 200 });
    expect(await first.call('POST', route, { epoch: 1 }, own)).toMatchObject({ status: 401 });
  });

  test('agents that stop together leave no copy behind', async () => {
    const volume = await createVolume(cluster.agents, 16 * MIB);
    const client = await connectTo(await attach(volume, node(0), 1));
    await client.write(0, [Buffer.alloc(MIB, 5)], MIB, { fua: false });
    expect(await Promise.all(cluster.agents.map((agent) => agent.stop()))).toEqual([0, 0, 0]);
    await Promise.all(cluster.agents.map((agent) => agent.start()));
    for (const { agent, address } of volume.replicas) {
      const { body } = await agent.call('POST', `/v1/replicas/${address.replicaId}/open`, { epoch: 2 });
      expect(body).toMatchObject({
        clean: true,
        // The first record of the attachment, and two of its end: the last one says that all have the one before.
        record: { dataGeneration: 3, members: volume.record.members },
      });
    }
  });

  test('hosts end with their agent, even when only the agent is killed', async () => {
    const volume = await createVolume([node(1)], 16 * MIB);
    await attach(volume, node(1), 1);
    // The engine of a volume without a copy here has a process of its own.
    await attach(await createVolume([node(0)], 16 * MIB), node(1), 1);
    const hosts = await node(1).hostPids('host');
    expect(hosts.length).toBe(2);
    await node(1).killAlone();
    for (const pid of hosts) await gone(pid);
    await node(1).start();
  });

  test('real tools read and write through the engine', async () => {
    const volume = await createVolume(cluster.agents, 16 * MIB);
    const started = await attach(volume, node(0), 1);
    const { host, port, exportName } = started.endpoint;
    const uri = `nbd://${host}:${port}/${exportName}`;
    if (hasPrograms('qemu-io')) {
      const script = [
        'write -P 90 1M 64k',
        'write -P 91 4097 1000',
        'write -z 2M 64k',
        'discard 3M 1M',
        'flush',
        'read -P 90 1M 64k',
      ];
      const { code, stdout } = await runTool('qemu-io', [
        '-f',
        'raw',
        uri,
        ...script.flatMap((line) => ['-c', line]),
      ]);
      expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.not.stringContaining('failed') });
    }
    if (hasPrograms('nbdcopy')) {
      const file = `${os.tmpdir()}/holdfast-${crypto.randomUUID()}`;
      const data = crypto.randomBytes(16 * MIB);
      await fs.writeFile(file, data);
      expect(await runTool('nbdcopy', [file, uri])).toMatchObject({ code: 0 });
      await fs.rm(file);
      expect(await runTool('nbdcopy', [uri, file])).toMatchObject({ code: 0 });
      expect((await fs.readFile(file)).equals(data)).toBe(true);
      await fs.rm(file);
    }
    const client = await connectTo(started);
    const data = crypto.randomBytes(5000);
    await client.write(777, [data], data.length, { fua: true });
    expect(contiguous(await client.read(777, data.length)).equals(data)).toBe(true);
    if (hasPrograms('nbdinfo')) {
      const listed = await runTool('nbdinfo', ['--list', `nbd://${host}:${port}`]);
      expect(listed).toMatchObject({ code: 0, stdout: expect.not.stringContaining('export=') });
    }
    await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
  });

  test('a client that does not wait for the answer loses nothing when its connection is handed over', async () => {
    const volume = await createVolume([node(0)], 16 * MIB);
    const started = await attach(volume, node(0), 1);
    const client = await connectTo(started);
    await client.write(0, [Buffer.alloc(4096, 7)], 4096, { fua: false });
    const { host, port, exportName } = started.endpoint;
    const received = await new Promise<Buffer>((resolve) => {
      const chunks: Buffer[] = [];
      const socket = net.connect(port, host, () => {
        const go = Buffer.alloc(6 + exportName.length);
        go.writeUInt32BE(exportName.length, 0);
        go.write(exportName, 4);
        const head = Buffer.from('\0\0\0\x03IHAVEOPT\0\0\0\x07\0\0\0\0', 'latin1');
        head.writeUInt32BE(go.length, 16);
        const read = Buffer.alloc(28);
        read.writeUInt32BE(0x25609513, 0);
        read.writeUInt32BE(4096, 24);
        const bye = Buffer.from(read);
        bye.writeUInt16BE(2, 6);
        socket.write(Buffer.concat([head, go, read]));
        // More follows while the connection is on its way to the host process.
        setImmediate(() => socket.write(Buffer.concat([read, read])));
        setTimeout(() => socket.write(bye), 100);
      });
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('close', () => resolve(Buffer.concat(chunks)));
    });
    const reply = Buffer.concat([Buffer.from('67446698', 'hex'), Buffer.alloc(12), Buffer.alloc(4096, 7)]);
    expect(received.subarray(-3 * reply.length).equals(Buffer.concat([reply, reply, reply]))).toBe(true);
    await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
  });

  test('an engine names no copy as current before its copies are open', async () => {
    const volume = await createVolume([node(0), node(1)], 16 * MIB);
    const hosts = await node(1).hostPids('replica-host');
    for (const pid of hosts) process.kill(pid, 'SIGSTOP');
    const attached = attach(volume, node(0), 1);
    const beat = await cluster.api.until('node-1', ({ engines }) =>
      engines.some(({ volumeId }) => volumeId === volume.volumeId),
    );
    for (const pid of hosts) process.kill(pid, 'SIGCONT');
    const report = beat.engines.find(({ volumeId }) => volumeId === volume.volumeId);
    expect(report).toMatchObject({ state: 'waiting-record', replicas: [] });
    await attached;
    await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
  });

  test('below half I/O waits for the control plane, and ends when that says no', async () => {
    const volume = await createVolume([node(0), node(1)], 16 * MIB);
    const client = await connectTo(await attach(volume, node(0), 1));
    await client.write(0, [Buffer.alloc(4096, 1)], 4096, { fua: true });
    cluster.api.recordStatus = 503;
    for (const pid of await node(1).hostPids('replica-host')) process.kill(pid, 'SIGKILL');
    const written = client.write(0, [Buffer.alloc(4096, 2)], 4096, { fua: true });
    await cluster.api.until('node-1', ({ engines }) =>
      engines.some(({ volumeId, state }) => volumeId === volume.volumeId && state === 'waiting-record'),
    );
    cluster.api.recordStatus = 200;
    await written;
    expect(cluster.api.records.at(-1)?.members).toEqual([volume.replicas[0]?.address.replicaId]);
    await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
  });

  test('users read and write while the API is down', async () => {
    const volume = await createVolume(cluster.agents, 16 * MIB);
    cluster.api.heartbeatStatus = 503;
    cluster.api.recordStatus = 503;
    const client = await connectTo(await attach(volume, node(0), 1, { replicaTimeoutMs: SHORT_TIMEOUT_MS }));
    // For several heartbeats, and longer than an engine may read without hearing of its copies.
    const endsAtMs = performance.now() + API_DOWN_MS;
    for (let round = 1; performance.now() < endsAtMs; round += 1) {
      await client.write(0, [Buffer.alloc(MIB, round)], MIB, { fua: round % 2 === 0 });
      await client.flush();
      const held = contiguous(await client.read(0, MIB));
      expect(held.equals(Buffer.alloc(MIB, round))).toBe(true);
      await sleep(100);
    }
    cluster.api.heartbeatStatus = 200;
    cluster.api.recordStatus = 200;
    await cluster.api.until('node-1', ({ engines }) =>
      engines.some(({ volumeId, state }) => volumeId === volume.volumeId && state === 'running'),
    );
    await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
  });

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
  });

  test('a delete is about the copy that was looked at, and not about one that was used since', async () => {
    const volume = await createVolume(cluster.agents, 16 * MIB);
    const [copy] = volume.replicas;
    const route = `/v1/replicas/${copy?.address.replicaId}`;
    const { body: before } = await node(0).call('GET', route);
    expect(before).toMatchObject({ state: 'present', record: { epoch: 0 } });
    const client = await connectTo(await attach(volume, node(0), 1));
    await client.write(0, [Buffer.alloc(MIB, 7)], MIB, { fua: true });

    const refused = { status: 409, body: { code: 'agent.refused' } };
    expect(await node(0).call('DELETE', route, { expected: before })).toMatchObject(refused);
    expect(await node(0).call('DELETE', route)).toMatchObject(refused);
    // The refused deletes did not disturb it.
    await client.write(0, [Buffer.alloc(MIB, 8)], MIB, { fua: true });
    expect((await node(0).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`)).status).toBe(200);
    const { body: now } = await node(0).call('GET', route);
    expect(now).toMatchObject({ state: 'present', record: { epoch: 1 } });

    expect(await node(0).call('DELETE', route, { expected: now })).toMatchObject({ status: 200 });
    expect((await node(0).call('GET', route)).body).toEqual({ state: 'absent' });
    expect(await node(0).call('DELETE', route, { expected: now })).toMatchObject({ status: 200 });
  });

  test('the state of a copy whose host has died is read from its disk, not from the last report', async () => {
    const volume = await createVolume(cluster.agents, 16 * MIB);
    const route = `/v1/replicas/${volume.replicas[0]?.address.replicaId}`;
    const { body: before } = await node(0).call('GET', route);
    const client = await connectTo(await attach(volume, node(1), 1));
    await client.write(0, [Buffer.alloc(MIB, 7)], MIB, { fua: true });
    // Killed before any further report of its own.
    for (const pid of await node(0).hostPids('replica-host')) process.kill(pid, 'SIGKILL');
    const { body: now } = await eventually(
      'its state',
      () => node(0).call('GET', route),
      ({ status }) => status === 200,
    );
    expect(now).toMatchObject({ state: 'present', record: { epoch: 1 } });
    const refused = { status: 409, body: { code: 'agent.refused' } };
    expect(await node(0).call('DELETE', route, { expected: before })).toMatchObject(refused);
    await node(1).call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
  });

  test('a verification goes on in the background, and a repeated call gets the same answer', async () => {
    const volume = await createVolume(cluster.agents, 16 * MIB);
    const route = `/v1/replicas/${volume.replicas[0]?.address.replicaId}/checksum`;
    const ask = (verification: string) => node(0).call('POST', route, { verification });
    const done = await eventually(
      'a checksum',
      () => ask('first'),
      ({ body }) => body.running !== true,
    );
    expect(done).toMatchObject({ status: 200, body: { checksum: checksumOfBytes(Buffer.alloc(16 * MIB)) } });
    expect(await ask('first')).toEqual(done);
    expect((await node(0).call('POST', route)).body).toEqual(done.body);
    expect((await node(0).call('POST', route, { verification: '' })).status).toBe(422);
  });
});
