/** A part of a node that hangs is reported as hanging, and silences neither the node nor its other parts. */
import { type ChildProcess, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import type { NbdClient } from '@holdfast/data-engine/nbd/client.js';
import { contiguous } from '@holdfast/data-engine/nbd/export.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { hasPrograms } from '@holdfast/testkit/nbd-tools.js';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
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

let cluster: AgentCluster;
let folder: string;
const stopped: number[] = [];
const children: ChildProcess[] = [];

function stopProcess(pid: number): void {
  process.kill(pid, 'SIGSTOP');
  stopped.push(pid);
}

function node(index: number): AgentProcess {
  const agent = cluster.agents[index];
  if (agent === undefined) throw new Error(`no agent ${index}`);
  return agent;
}

/** Drops the heartbeats so far, and waits for one that meets the condition. */
function nextBeat(name: string, isSo: (beat: Heartbeat) => boolean = () => true): Promise<Heartbeat> {
  cluster.api.heartbeats.delete(name);
  return cluster.api.until(name, isSo);
}

beforeAll(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-silent-'));
  cluster = new AgentCluster();
  await cluster.start(2);
});

afterEach(() => {
  for (const pid of stopped.splice(0)) process.kill(pid, 'SIGCONT');
});

afterAll(async () => {
  await cluster?.stop();
  for (const child of children.reverse()) child.kill('SIGTERM');
  await fs.rm(folder, { recursive: true, force: true }).catch(() => undefined);
});

/** Opens the copy in its host, as an engine's start does. Done before, it leaves that start nothing to wait for. */
async function openCopy(agent: AgentProcess, replicaId: string, epoch = 1): Promise<void> {
  const answer = await agent.call('POST', `/v1/replicas/${replicaId}/open`, { epoch });
  expect(answer).toMatchObject({ status: 200 });
}

test('a stopped replica host', async () => {
  const volume = await createVolume(cluster.agents, 16 * MIB);
  const client = await connectTo(await attach(volume, node(0), 1));
  await client.write(0, [Buffer.alloc(MIB, 1)], MIB, { fua: true });
  for (const pid of await node(1).hostPids('replica-host')) stopProcess(pid);
  expect(stopped.length).toBeGreaterThan(0);
  for (let i = 0; i < 3; i += 1) {
    const beat = await nextBeat('node-2');
    expect(beat.replicas.map(({ volumeId }) => volumeId)).toContain(volume.volumeId);
    expect(beat.disks.every(({ ready }) => ready)).toBe(true);
  }
});

test.each([
  { where: 'in a process of its own', copies: [1] },
  { where: 'beside its copy', copies: [0, 1] },
])('a stopped engine $where: it is given up, and can be started in another process', async ({ copies }) => {
  const volume = await createVolume(copies.map(node), 16 * MIB);
  // A copy whose host takes seconds to start has its engine elsewhere.
  for (const { agent, address } of volume.replicas) await openCopy(agent, address.replicaId);
  const client = await connectTo(await attach(volume, node(0), 1));
  await client.write(0, [Buffer.alloc(MIB, 1)], MIB, { fua: true });
  const isBeside = copies.includes(0);
  for (const pid of await node(0).hostPids(isBeside ? 'replica-host' : 'engine-host')) stopProcess(pid);
  expect(stopped.length).toBeGreaterThan(0);
  await nextBeat('node-1');
  const isGivenUp = ({ engines }: Heartbeat) =>
    engines.some(({ volumeId, state }) => volumeId === volume.volumeId && state === 'stopped');
  await cluster.api.until('node-1', isGivenUp);
  const record = { ...volume.record, epoch: 1, dataGeneration: 1 };
  // The copy in the stopped process does not answer.
  const answering = volume.replicas.at(-1);
  if (answering === undefined) throw new Error('the volume has no copy');
  await openCopy(answering.agent, answering.address.replicaId, 2);
  const again = await connectTo(await attach(volume, node(0), 2, { record }));
  expect(Buffer.concat(await again.read(0, MIB)).equals(Buffer.alloc(MIB, 1))).toBe(true);
});

test('copies on another disk are in another process, which a hung disk does not hold up', async () => {
  const agent = await cluster.add('node-4');
  const { disks, node: joined } = await agent.start();
  const hosts = async () => (await agent.hostPids('replica-host')).length;
  const hostsSoFar: number[] = [];
  for (const disk of [disks[0], disks[0], disks[1]]) {
    const { volumeId, sizeBytes } = await createVolume([], MIB);
    const replicaId = crypto.randomUUID();
    const spec = {
      replicaId,
      volumeId,
      diskId: disk?.diskId,
      sizeBytes,
      secret: joined.controlSecret,
      record: null,
    };
    expect(await agent.call('POST', '/v1/replicas', spec)).toMatchObject({ status: 200 });
    await openCopy(agent, replicaId);
    hostsSoFar.push(await hosts());
  }
  expect(hostsSoFar).toEqual([1, 1, 2]);
});

const onFuse = hasPrograms('nbdkit', 'nbdfuse') ? test : test.skip;

/** A volume with a copy on the agent's block disk, beside its engine, and one on another node. */
async function volumeOnBlockDisk(agent: AgentProcess): Promise<{ volume: TestVolume; client: NbdClient }> {
  const volume = await createVolume([], 16 * MIB, 'block');
  const members = [crypto.randomUUID(), crypto.randomUUID()].sort();
  volume.record.members = members;
  await addReplica(volume, agent, members[0] ?? '', volume.record);
  volume.diskType = 'filesystem';
  await addReplica(volume, node(0), members[1] ?? '', volume.record);
  await openCopy(agent, members[0] ?? '');
  return { volume, client: await connectTo(await attach(volume, agent, 1, { replicaTimeoutMs: 2_000 })) };
}

onFuse(
  'a hung disk, also when the agent starts; an engine beside a copy on it goes on with the others',
  async () => {
    const file = path.join(folder, 'mount');
    await fs.mkdir(file);
    const socket = path.join(folder, 'nbd.sock');
    children.push(spawn('nbdkit', ['-f', '-U', socket, 'memory', '256M'], { stdio: 'ignore' }));
    await eventually(
      'nbdkit',
      () =>
        fs.access(socket).then(
          () => true,
          () => false,
        ),
      Boolean,
    );
    const fuse = spawn('nbdfuse', [path.join(file, 'disk'), `nbd+unix:///?socket=${socket}`], {
      stdio: 'ignore',
    });
    children.push(fuse);
    const disk = path.join(file, 'disk');
    await eventually(
      'nbdfuse',
      () =>
        fs.stat(disk).then(
          ({ size }) => size > 0,
          () => false,
        ),
      Boolean,
    );
    const agent = await cluster.add('node-3', {
      HOLDFAST_BLOCK_DISKS: disk,
      HOLDFAST_BLOCK_DISK_SIZE: '256Mi',
    });
    await agent.start();
    const blockDisk = ({ disks }: Heartbeat) => disks.find(({ type }) => type === 'block');
    expect(blockDisk(await nextBeat('node-3'))).toMatchObject({ ready: true });

    const { volume: served, client } = await volumeOnBlockDisk(agent);
    const write = (index: number) =>
      client.write(index * 4096, [Buffer.alloc(4096, index + 1)], 4096, { fua: false });
    // One after the other, so that the disk counts as fast.
    for (let index = 0; index < 20; index += 1) await write(index);

    if (fuse.pid === undefined) throw new Error('nbdfuse did not start');
    stopProcess(fuse.pid);
    for (let index = 20; index < 40; index += 1) await write(index);
    const blocks = Array.from({ length: 40 }, (_, index) => Buffer.alloc(4096, index + 1));
    expect(contiguous(await client.read(0, 40 * 4096)).equals(Buffer.concat(blocks))).toBe(true);
    const { engines } = await nextBeat('node-3', (beat) => beat.engines.length > 0);
    expect(engines.find(({ volumeId }) => volumeId === served.volumeId)?.replicas).toMatchObject([
      { replicaId: served.record.members[1], mode: 'RW' },
      { replicaId: served.record.members[0], mode: 'ERR' },
    ]);

    const isHung = (beat: Heartbeat) => blockDisk(beat)?.reason === 'DiskHung';
    await nextBeat('node-3', isHung);
    // Repeated, so that calls to the hung disk would pile up; calls about the other disks are answered.
    for (let i = 0; i < 5; i += 1) {
      const beat = await nextBeat('node-3');
      expect(isHung(beat)).toBe(true);
      expect(beat.disks.filter(({ ready }) => ready)).toHaveLength(2);
      const volume = await createVolume([], MIB);
      await addReplica(volume, agent, crypto.randomUUID(), null);
      const there = await createVolume([], MIB, 'block');
      await expect(addReplica(there, agent, crypto.randomUUID(), null)).rejects.toThrow(/disk.not_ready/);
    }
    await agent.kill();
    await agent.start();
    expect(isHung(await nextBeat('node-3'))).toBe(true);
    process.kill(fuse.pid, 'SIGCONT');
    await nextBeat('node-3', (beat) => blockDisk(beat)?.ready === true);
  },
  120_000,
);
