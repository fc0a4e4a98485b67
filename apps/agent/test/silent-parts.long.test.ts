/** Engines and disks that hang: an engine is given up after its silence, and a disk is reported as hanging. */
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
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AgentProcess, addReplica, attach, connectTo, createVolume, type TestVolume } from './agents.js';
import { openCopy, useHangingParts } from './hanging-parts.js';

const MIB = 1024 * 1024;

let folder: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-silent-'));
});
afterAll(async () => {
  for (const child of children.reverse()) child.kill('SIGTERM');
  await fs.rm(folder, { recursive: true, force: true }).catch(() => undefined);
});
// Its end, that of the agents, comes before the end of the disk that they use: hooks run in reverse order.
const parts = useHangingParts();

test.each([
  { where: 'in a process of its own', copies: [1] },
  { where: 'beside its copy', copies: [0, 1] },
])('a stopped engine $where: it is given up, and can be started in another process', async ({ copies }) => {
  const volume = await createVolume(
    copies.map((index) => parts.node(index)),
    16 * MIB,
  );
  // A copy whose host takes seconds to start has its engine elsewhere.
  for (const { agent, address } of volume.replicas) await openCopy(agent, address.replicaId);
  const client = await connectTo(await attach(volume, parts.node(0), 1));
  await client.write(0, [Buffer.alloc(MIB, 1)], MIB, { fua: true });
  const isBeside = copies.includes(0);
  for (const pid of await parts.node(0).hostPids(isBeside ? 'replica-host' : 'engine-host')) parts.stop(pid);
  expect(parts.stopped.length).toBeGreaterThan(0);
  await parts.nextBeat('node-1');
  const isGivenUp = ({ engines }: Heartbeat) =>
    engines.some(({ volumeId, state }) => volumeId === volume.volumeId && state === 'stopped');
  await parts.cluster.api.until('node-1', isGivenUp);
  const record = { ...volume.record, epoch: 1, dataGeneration: 1 };
  // The copy in the stopped process does not answer.
  const answering = volume.replicas.at(-1);
  if (answering === undefined) throw new Error('the volume has no copy');
  await openCopy(answering.agent, answering.address.replicaId, 2);
  const again = await connectTo(await attach(volume, parts.node(0), 2, { record }));
  expect(Buffer.concat(await again.read(0, MIB)).equals(Buffer.alloc(MIB, 1))).toBe(true);
});

const onFuse = hasPrograms('nbdkit', 'nbdfuse') ? test : test.skip;

/** A volume with a copy on the agent's block disk, beside its engine, and one on another node. */
async function volumeOnBlockDisk(agent: AgentProcess): Promise<{ volume: TestVolume; client: NbdClient }> {
  const volume = await createVolume([], 16 * MIB, 'block');
  const members = [crypto.randomUUID(), crypto.randomUUID()].sort();
  volume.record.members = members;
  await addReplica(volume, agent, members[0] ?? '', volume.record);
  volume.diskType = 'filesystem';
  await addReplica(volume, parts.node(0), members[1] ?? '', volume.record);
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
    const agent = await parts.cluster.add('node-3', {
      HOLDFAST_BLOCK_DISKS: disk,
      HOLDFAST_BLOCK_DISK_SIZE: '256Mi',
    });
    await agent.start();
    const blockDisk = ({ disks }: Heartbeat) => disks.find(({ type }) => type === 'block');
    expect(blockDisk(await parts.nextBeat('node-3'))).toMatchObject({ ready: true });

    const { volume: served, client } = await volumeOnBlockDisk(agent);
    const write = (index: number) =>
      client.write(index * 4096, [Buffer.alloc(4096, index + 1)], 4096, { fua: false });
    // One after the other, so that the disk counts as fast.
    for (let index = 0; index < 20; index += 1) await write(index);

    if (fuse.pid === undefined) throw new Error('nbdfuse did not start');
    parts.stop(fuse.pid);
    for (let index = 20; index < 40; index += 1) await write(index);
    const blocks = Array.from({ length: 40 }, (_, index) => Buffer.alloc(4096, index + 1));
    expect(contiguous(await client.read(0, 40 * 4096)).equals(Buffer.concat(blocks))).toBe(true);
    const { engines } = await parts.nextBeat('node-3', (beat) => beat.engines.length > 0);
    expect(engines.find(({ volumeId }) => volumeId === served.volumeId)?.replicas).toMatchObject([
      { replicaId: served.record.members[1], mode: 'RW' },
      { replicaId: served.record.members[0], mode: 'ERR' },
    ]);

    const isHung = (beat: Heartbeat) => blockDisk(beat)?.reason === 'DiskHung';
    await parts.nextBeat('node-3', isHung);
    // Repeated, so that calls to the hung disk would pile up; calls about the other disks are answered.
    for (let i = 0; i < 5; i += 1) {
      const beat = await parts.nextBeat('node-3');
      expect(isHung(beat)).toBe(true);
      expect(beat.disks.filter(({ ready }) => ready)).toHaveLength(2);
      const volume = await createVolume([], MIB);
      await addReplica(volume, agent, crypto.randomUUID(), null);
      const there = await createVolume([], MIB, 'block');
      await expect(addReplica(there, agent, crypto.randomUUID(), null)).rejects.toThrow(/disk.not_ready/);
    }
    await agent.kill();
    await agent.start();
    await parts.nextBeat('node-3', (beat) => blockDisk(beat)?.ready === false);
    process.kill(fuse.pid, 'SIGCONT');
    await parts.nextBeat('node-3', (beat) => blockDisk(beat)?.ready === true);
  },
  120_000,
);
