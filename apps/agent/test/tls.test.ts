import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Certificates } from '@holdfast/data-engine/nbd/certificates.js';
import { requireTls } from '@holdfast/data-engine/nbd/client-tls.js';
import { contiguous } from '@holdfast/data-engine/nbd/export.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { runTool } from '@holdfast/testkit/nbd-tools.js';
import { TestCertificates } from '@holdfast/testkit/test-certificates.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AGENT_MAIN, AgentCluster, attach, connectTo, createVolume } from './agents.js';

const MIB = 1024 * 1024;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-tls-'));
const certificates = new TestCertificates(path.join(folder, 'pki'));
const { certFile, keyFile, caFile } = certificates.files;
const TLS = {
  HOLDFAST_NBD_TLS: 'require',
  HOLDFAST_NBD_TLS_CERT: certFile,
  HOLDFAST_NBD_TLS_KEY: keyFile,
  HOLDFAST_NBD_TLS_CA: caFile,
};

const cluster = new AgentCluster(TLS);
beforeAll(() => cluster.start(2));
afterAll(async () => {
  requireTls(undefined);
  await cluster.stop();
  fs.rmSync(folder, { recursive: true });
});

type Started = Awaited<ReturnType<typeof attach>>;

function nbds({ endpoint: { host, port, exportName } }: Started): string {
  return `nbds://${host}:${port}/${exportName}?tls-certificates=${certificates.folder}`;
}

describe('agents that require TLS', () => {
  test('users, engines and rebuilds use it; a client in plaintext learns nothing', async () => {
    const [first, second] = cluster.agents;
    if (first === undefined || second === undefined) throw new Error('two agents were started');
    const volume = await createVolume(cluster.agents, 16 * MIB);
    const started = await attach(volume, first, 1);
    expect(started.endpoint.tls).toBe(true);

    const file = path.join(folder, 'data');
    const data = crypto.randomBytes(16 * MIB);
    fs.writeFileSync(file, data);
    expect(await runTool('nbdcopy', ['--flush', '--connections=4', file, nbds(started)])).toMatchObject({
      code: 0,
    });

    const { host, port, exportName } = started.endpoint;
    for (const name of ['', exportName]) {
      const plain = await runTool('nbdinfo', [`nbd://${host}:${port}/${name}`]);
      expect(plain).toMatchObject({ code: 1, stdout: expect.not.stringContaining('export') });
    }
    await expect(connectTo(started)).rejects.toThrow('this server wants STARTTLS first');

    // The other copy is lost and rebuilt: the engine's writes and the rebuild's reads are between nodes.
    await second.kill();
    requireTls(new Certificates(certificates.files));
    const client = await connectTo(started);
    data.fill(7, 0, MIB);
    await client.write(0, [data.subarray(0, MIB)], MIB, { fua: true });
    await second.start();
    const target = volume.replicas[1]?.address;
    const rebuild = async () => {
      const rebuildId = crypto.randomUUID();
      const ask = { rebuildId, epoch: 1, target, sourceReplicaIds: [] };
      expect(await first.command(volume.volumeId, 'start-rebuild', ask)).toMatchObject({ status: 200 });
      const beat = await cluster.api.until('node-1', ({ engines }) =>
        engines.some(({ rebuilds }) =>
          rebuilds.some((one) => one.rebuildId === rebuildId && one.state !== 'running'),
        ),
      );
      return beat.engines[0]?.rebuilds.find((one) => one.rebuildId === rebuildId);
    };
    // As the worker does, it asks again where a busy node was too slow for the engine.
    const done = await eventually(
      'the copy is rebuilt',
      rebuild,
      (ended) => ended?.error?.code !== 'agent.unreachable',
    );
    expect(done).toMatchObject({ state: 'succeeded', error: null });
    expect(contiguous(await client.read(0, 16 * MIB)).equals(data)).toBe(true);
    client.close();

    expect(await runTool('nbdcopy', ['--connections=4', nbds(started), file])).toMatchObject({ code: 0 });
    expect(fs.readFileSync(file).equals(data)).toBe(true);
    expect((await first.call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`)).status).toBe(200);
  });

  test('a TLS host that dies ends its connections, and the next one works', async () => {
    const agent = cluster.agents[0];
    if (agent === undefined) throw new Error('an agent was started');
    const volume = await createVolume([agent], 16 * MIB);
    const started = await attach(volume, agent, 1);
    requireTls(new Certificates(certificates.files));
    const client = await connectTo(started);
    await client.write(0, [Buffer.alloc(4096, 1)], 4096, { fua: true });
    const closed = new Promise((resolve) => client.onClose(resolve));
    for (const pid of await agent.hostPids('tls-host')) process.kill(pid, 'SIGKILL');
    await closed;
    // The engine has lost its copies too, which it reached through the same host, and is attached again.
    await agent.call('DELETE', `/v1/engines/${volume.volumeId}?epoch=1`);
    const again = await eventually(
      'the next connection',
      async () => connectTo(await attach(volume, agent, 2)).catch(() => undefined),
      (next) => next !== undefined,
    );
    expect(contiguous((await again?.read(0, 4096)) ?? []).equals(Buffer.alloc(4096, 1))).toBe(true);
    again?.close();
    await agent.call('DELETE', `/v1/engines/${volume.volumeId}?epoch=2`);
  });

  test.each([
    { name: 'a missing file', over: { HOLDFAST_NBD_TLS_CA: '/nowhere/ca.pem' }, says: 'HOLDFAST_NBD_TLS_CA' },
    {
      name: 'another certificate’s key',
      over: { HOLDFAST_NBD_TLS_KEY: path.join(certificates.folder, 'client-key.pem') },
      says: 'do not fit together',
    },
  ])('$name keeps the agent from starting, and it says so', ({ over, says }) => {
    const environment = {
      PATH: process.env.PATH,
      HOLDFAST_API_URL: 'http://127.0.0.1:9',
      HOLDFAST_AGENT_TOKEN: 'token',
      HOLDFAST_NODE_NAME: 'node-9',
      HOLDFAST_DISKS: path.join(folder, 'disk'),
      HOLDFAST_DISK_SIZE: '1Gi',
      HOLDFAST_CONTROL_PORT: '1',
      HOLDFAST_NBD_PORT: '2',
      HOLDFAST_STATE_DIR: path.join(folder, 'state'),
      ...TLS,
      ...over,
    };
    const { status, stderr } = spawnSync(process.execPath, [AGENT_MAIN], {
      env: environment,
      timeout: 180_000,
    });
    expect(status).toBe(2);
    expect(String(stderr)).toContain(says);
  });
});
