/** A part of a node that hangs silences neither the node nor its other parts. */
import crypto from 'node:crypto';
import { expect, test } from '@jest/globals';
import { attach, connectTo, createVolume } from './agents.js';
import { openCopy, useHangingParts } from './hanging-parts.js';

const MIB = 1024 * 1024;

const parts = useHangingParts();

test('a stopped replica host', async () => {
  const volume = await createVolume(parts.cluster.agents, 16 * MIB);
  const client = await connectTo(await attach(volume, parts.node(0), 1));
  await client.write(0, [Buffer.alloc(MIB, 1)], MIB, { fua: true });
  for (const pid of await parts.node(1).hostPids('replica-host')) parts.stop(pid);
  expect(parts.stopped.length).toBeGreaterThan(0);
  for (let i = 0; i < 3; i += 1) {
    const beat = await parts.nextBeat('node-2');
    expect(beat.replicas.map(({ volumeId }) => volumeId)).toContain(volume.volumeId);
    expect(beat.disks.every(({ ready }) => ready)).toBe(true);
  }
});

test('copies on another disk are in another process, which a hung disk does not hold up', async () => {
  const agent = await parts.cluster.add('node-4');
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
