import crypto from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { describe, expect, jest, test } from '@jest/globals';
import {
  damageLayers,
  MIB,
  modes,
  OPTIONS,
  rebuild,
  SIZE,
  until,
  useClusters,
  write,
} from '../../test/engine-cluster.js';
import type { ReplicaNode } from '../../test/replica-node.js';
import { NbdClient } from '../nbd/client.js';
import { contiguous } from '../nbd/export.js';
import type { Ask, CommandName } from '../protocol/commands.js';
import type { Engine } from './engine.js';

const { cluster, nodes } = useClusters();

describe('rebuild', () => {
  test('under random writes ends with equal copies and a record that names the target', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const model = crypto.randomBytes(SIZE);
    await write(engine, 0, model.subarray(0, 24 * MIB));
    model.fill(0, 24 * MIB);

    const replicaId = crypto.randomUUID();
    const node = await nodes().add('target');
    const target = await node.create({ replicaId, volumeId: volume.volumeId, sizeBytes: SIZE, record: null });
    volume.copies.push({ node, address: target });
    engine.startRebuild({ rebuildId: crypto.randomUUID(), target, sourceReplicaIds: [] });
    for (let i = 0; engine.report().rebuilds[0]?.state === 'running'; i += 1) {
      const offset = crypto.randomInt(SIZE - 65_536);
      const data = crypto.randomBytes(crypto.randomInt(1, 65_536));
      data.copy(model, offset);
      await write(engine, offset, data);
      if (i % 50 === 0) await engine.device.flush();
    }
    const [rebuild] = engine.report().rebuilds;
    expect(rebuild).toMatchObject({ state: 'succeeded', phase: 'done', error: null });
    expect(rebuild?.bytes.sent).toBeGreaterThanOrEqual(24 * MIB);
    expect(modes(engine)).toEqual(['RW', 'RW', 'RW']);
    expect(engine.report().record.members).toContain(replicaId);
    expect(contiguous(await engine.device.read(0, 32 * MIB)).equals(model.subarray(0, 32 * MIB))).toBe(true);
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('many rebuilds do not pile up layers', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const data = crypto.randomBytes(2 * MIB);
    const [kept, dropped] = [volume.copy(0), volume.copy(1)];
    for (let round = 0; round < 4; round += 1) {
      await write(engine, round * MIB, data);
      await engine.dropReplica(dropped.address.replicaId, 'for the test');
      const rebuildId = crypto.randomUUID();
      engine.startRebuild({ rebuildId, target: dropped.address, sourceReplicaIds: [] });
      await until(engine, () => engine.report().rebuilds.at(-1)?.state !== 'running');
      expect(engine.report().rebuilds.at(-1)).toMatchObject({ state: 'succeeded', error: null });
    }
    for (const { node, address } of [kept, dropped]) {
      const { layers } = await node.service.command(address.replicaId, 'chain', { epoch: 1 });
      // The layers of the last rebuild, of the drop before it, and their base.
      expect(layers.length).toBeLessThanOrEqual(3);
    }
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('a source that is lost in the very freeze is not asked what there is to copy', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    const [source, , target] = [volume.copy(0), volume.copy(1), volume.copy(2)];
    await engine.dropReplica(target.address.replicaId, 'for the test');
    await write(engine, 0, crypto.randomBytes(MIB));
    nodes().beforeCommand = (name, replicaId) => {
      if (name === 'snapshot' && replicaId === source.address.replicaId)
        throw new StorageFault('agent.unreachable', { publicMessage: 'for the test' });
    };
    const sourceReplicaIds = [source.address.replicaId];
    engine.startRebuild({ rebuildId: crypto.randomUUID(), target: target.address, sourceReplicaIds });
    await until(engine, () => engine.report().rebuilds.at(-1)?.state !== 'running');
    expect(engine.report().rebuilds.at(-1)).toMatchObject({
      state: 'failed',
      error: { code: 'rebuild.failed' },
    });
    nodes().beforeCommand = () => undefined;
    for (const { address } of [source, target]) await rebuild(engine, address);
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('a target that fails in the moment of promotion is left out of the record again', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(MIB));
    const replicaId = crypto.randomUUID();
    const node = await nodes().add('target');
    const { volumeId } = volume;
    const target = await node.create({ replicaId, volumeId, sizeBytes: SIZE, record: null });
    nodes().beforeCommand = (name, of) => {
      if (name === 'record' && of === replicaId) throw new Error('the disk of the target failed');
    };
    engine.startRebuild({ rebuildId: crypto.randomUUID(), target, sourceReplicaIds: [] });
    await until(engine, () => engine.report().rebuilds[0]?.state === 'failed');
    expect(engine.report().record).toMatchObject({ dataGeneration: 3, members: volume.record.members });
    for (const { node: member, address } of volume.copies) {
      const { record } = await member.service.command(address.replicaId, 'open', { epoch: 1 });
      expect(record?.members).toEqual(volume.record.members);
    }
    await write(engine, 0, crypto.randomBytes(MIB));
  });

  test('can be cancelled; another one may follow at once', async () => {
    const { engine, target } = await aboutToRebuild();
    const first = crypto.randomUUID();
    engine.startRebuild({ rebuildId: first, target, sourceReplicaIds: [] });
    const second = { rebuildId: crypto.randomUUID(), target, sourceReplicaIds: [] };
    expect(() => engine.startRebuild(second)).toThrow('another rebuild');
    await engine.cancelRebuild(first);
    expect(engine.report().rebuilds[0]).toMatchObject({
      state: 'failed',
      error: { code: 'rebuild.cancelled' },
    });
    engine.startRebuild(second);
    await until(engine, () => engine.report().rebuilds[1]?.state !== 'running');
    expect(engine.report().rebuilds[1]).toMatchObject({ state: 'succeeded' });
  });

  // Each happens when the target has written everything and the first hash is requested.
  test.each<{ name: string; harm: (node: ReplicaNode, replicaId: string) => void; says: string }>([
    { name: 'changed on the disk', harm: damageLayers, says: 'what is on the disk' },
    {
      name: 'more than was sent',
      harm: (node, replicaId) => {
        void node.service.find(replicaId).then(({ replica }) => {
          for (const { id } of replica.metadata.layers.slice(0, -1))
            replica.layer(id)?.map.setRange((40 * MIB) / 4096, 1);
        });
      },
      says: 'the target holds more',
    },
  ])('$name on the target fails it', async ({ harm, says }) => {
    const { engine, node, target, volume } = await aboutToRebuild();
    nodes().beforeCommand = (name, of) => {
      if (name === 'hashes' && of !== target.replicaId) harm(node, target.replicaId);
    };
    await rebuildFails(engine, target, says);
    expect(engine.report().record.members).toEqual(volume.record.members);
  });

  test('data that changed on its way is detected by the target', async () => {
    const { engine, target } = await aboutToRebuild();
    const { readEachInto } = NbdClient.prototype;
    const changed = jest.spyOn(NbdClient.prototype, 'readEachInto');
    changed.mockImplementation(async function (this: NbdClient, reads) {
      await readEachInto.call(this, reads);
      for (const { buffer } of reads) buffer.writeUInt8(buffer.readUInt8(0) ^ 1, 0);
    });
    try {
      await rebuildFails(engine, target, 'what is on the disk');
    } finally {
      changed.mockRestore();
    }
  });

  test.each([1, 2])('goes on from another copy when a source dies, of %i at once', async (sourcesMax) => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(24 * MIB));
    const replicaId = crypto.randomUUID();
    const node = await nodes().add('target');
    const target = await node.create({ replicaId, volumeId: volume.volumeId, sizeBytes: SIZE, record: null });
    const source = volume.copy(1);
    nodes().beforeCommand = (name, of) => {
      if (name !== 'hashes' || of !== source.address.replicaId) return;
      source.node.die();
      throw new StorageFault('agent.unreachable', { publicMessage: 'it died of the question' });
    };
    engine.startRebuild({
      rebuildId: crypto.randomUUID(),
      target,
      sourceReplicaIds: [source.address.replicaId],
      options: { ...OPTIONS, sourcesMax },
    });
    await until(engine, () => engine.report().rebuilds[0]?.state !== 'running');
    const [report] = engine.report().rebuilds;
    expect(report).toMatchObject({ state: 'succeeded', error: null });
    expect(modes(engine).sort()).toEqual(['ERR', 'RW', 'RW', 'RW']);
    // All of it had come from the first source; the second one verifies it.
    expect(report?.snapshots.reduce((sum, { bytesSent }) => sum + bytesSent, 0)).toBe(24 * MIB);
  });

  test('a source of many layers without data is not lost because no bytes move', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1, { replicaTimeoutMs: 1_000 });
    for (let index = 0; index < 12; index += 1) {
      const snapshot = { id: crypto.randomUUID(), name: `s${index}`, origin: 'user' } as const;
      await engine.snapshots.take({ ...snapshot, createdAt: '2026-01-01T00:00:00Z' });
    }
    const { address } = await volume.addCopy('target');
    let attempts = 0;
    let answered = Promise.resolve();
    nodes().beforeCommand = async (name) => {
      if (name === 'pull') attempts += 1;
      if (name !== 'hashes') return;
      // Asked for each layer, and answered one after the other: together longer than a source may be silent.
      answered = answered.then(() => sleep(250));
      await answered;
    };
    await rebuild(engine, address);
    expect(attempts).toBe(1);
  });

  test.each([
    { target: 'waits for news of its copying', isOlder: false, betweenMs: 250 },
    { target: 'is of an older version and answers at once', isOlder: true, betweenMs: 90 },
  ])('a target that $target is asked now and then', async ({ isOlder, betweenMs }) => {
    const volume = await cluster(1);
    const connect = nodes().connectControl;
    let asked = 0;
    const engine = await volume.start(1, {
      connectControl: (address) => ({
        command: <Name extends CommandName>(name: Name, ask: Ask<Name>) => {
          if (name === 'progress') asked += 1;
          if (isOlder) Reflect.deleteProperty(ask, 'wait');
          return connect(address).command(name, ask);
        },
      }),
    });
    await write(engine, 0, crypto.randomBytes(8 * MIB));
    const { address } = await volume.addCopy('target');
    nodes().beforeCommand = async (name) => {
      if (name === 'hashes') await sleep(1_300);
    };
    const startedMs = performance.now();
    await rebuild(engine, address);
    // Two more for the states that it passes through.
    expect(asked).toBeLessThanOrEqual((performance.now() - startedMs) / betweenMs + 2);
  });

  test('a target that dies fails the rebuild and nothing else; a stale copy is not read', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(8 * MIB));
    const node = await nodes().add('target');
    const replicaId = crypto.randomUUID();
    const target = await node.create({ replicaId, volumeId: volume.volumeId, sizeBytes: SIZE, record: null });
    nodes().beforeCommand = (name) => {
      if (name === 'progress' && node.isAlive) node.die();
    };
    engine.startRebuild({ rebuildId: crypto.randomUUID(), target, sourceReplicaIds: [] });
    await until(engine, () => engine.report().rebuilds[0]?.state === 'failed');
    await write(engine, 0, Buffer.alloc(4096, 3));
    expect(modes(engine).sort()).toEqual(['ERR', 'RW', 'RW']);
    expect(engine.report().record.members).toEqual(volume.record.members);
    expect((await node.service.command(replicaId, 'open', { epoch: 1 })).record).toBeNull();
  });
});

/** A volume with two copies, some data in it, and an empty copy on a node of its own. */
async function aboutToRebuild() {
  const volume = await cluster(2);
  const engine = await volume.start(1);
  await write(engine, 0, crypto.randomBytes(8 * MIB));
  const replicaId = crypto.randomUUID();
  const node = await nodes().add('target');
  const { volumeId } = volume;
  const target = await node.create({ replicaId, volumeId, sizeBytes: SIZE, record: null });
  return { volume, engine, node, target };
}

async function rebuildFails(engine: Engine, target: ReplicaAddress, says: string): Promise<void> {
  engine.startRebuild({ rebuildId: crypto.randomUUID(), target, sourceReplicaIds: [] });
  await until(engine, () => engine.report().rebuilds[0]?.state !== 'running');
  const error = { code: 'rebuild.contents_differ', message: expect.stringContaining(says) };
  expect(engine.report().rebuilds[0]).toMatchObject({ state: 'failed', error });
}
