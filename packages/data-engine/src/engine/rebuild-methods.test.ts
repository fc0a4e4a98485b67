import crypto from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { describe, expect, test } from '@jest/globals';
import {
  type Cluster,
  damageLayers,
  MIB,
  modes,
  OPTIONS,
  read,
  rebuild,
  SIZE,
  until,
  useClusters,
  write,
} from '../../test/engine-cluster.js';
import { NbdClient } from '../nbd/client.js';
import { formatExportName } from '../protocol/export-names.js';
import { BLOCK_HASHES } from '../protocol/pull.js';
import type { Engine } from './engine.js';

const { cluster, nodes } = useClusters();

async function take(engine: Engine, name: string): Promise<void> {
  await engine.snapshots.take({ id: crypto.randomUUID(), name, origin: 'user', createdAt: '' });
}

/** Hashes all frozen layers of a copy. */
async function hashAll(engine: Engine, replicaId: string): Promise<void> {
  const control = engine.copies.find(replicaId)?.control;
  for (const { id } of await engine.snapshots.list()) {
    for (let state = 'running'; state === 'running'; ) {
      state =
        (await control?.command('hash-layer', { epoch: 1, layerId: id, force: false }))?.state ?? 'failed';
      expect(state).not.toBe('failed');
      await sleep(5);
    }
  }
}

/** The replica process dies and another one opens the copy: its connections are cut, and unflushed data is lost. */
async function lose(volume: Cluster, engine: Engine, index: number): Promise<void> {
  const { node, address } = volume.copy(index);
  await node.crash(nodes(), address.replicaId);
  await write(engine, SIZE - 4096, Buffer.alloc(4096, index));
  await until(engine, () => modes(engine).includes('ERR'));
  await engine.drops.marked();
}

const methods = (snapshots: { name: string; method: string }[]) =>
  snapshots.map(({ name, method }) => `${name.split('-')[0]} ${method}`);

async function expectEqual(volume: Cluster, engine: Engine): Promise<void> {
  await engine.stop();
  expect((await volume.checksums()).size).toBe(1);
}

describe('a copy that comes back', () => {
  test('after a short absence gets what was written since, and little more', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(32 * MIB));
    await engine.device.exclusive(async () => {
      for (const { control } of engine.copies.all) await control.command('clear-intent', { epoch: 1 });
    });
    await lose(volume, engine, 1);
    await write(engine, 36 * MIB, crypto.randomBytes(8 * MIB));
    const report = await rebuild(engine, volume.copy(1).address);
    expect(methods(report.snapshots)).toEqual(['drop delta', 'rebuild full']);
    expect(report.bytes.sent).toBeGreaterThanOrEqual(8 * MIB);
    expect(report.bytes.sent).toBeLessThan(9 * MIB);
    // Every byte was read once while copying, and proved once afterwards.
    expect([report.bytes.compared, report.bytes.verified]).toEqual([report.bytes.total, report.bytes.total]);
    await expectEqual(volume, engine);
  });

  test('has its own last writes compared, which the others never acknowledged', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(8 * MIB));
    await engine.device.flush();
    // In flight when the copy was lost: only this copy has it.
    const [, second] = engine.copies.all;
    await second?.client.write(40 * MIB, [Buffer.alloc(8192, 9)], 8192, { fua: true });
    await lose(volume, engine, 1);
    const report = await rebuild(engine, volume.copy(1).address);
    expect(methods(report.snapshots)).toEqual(['drop delta', 'rebuild full']);
    await expectEqual(volume, engine);
  });

  test('takes nothing more from the connection that it was dropped on', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const { address, node } = volume.copy(1);
    const exportName = formatExportName({ kind: 'replica', epoch: 1, ...address });
    const stale = await NbdClient.connect({ host: address.nbdHost, port: address.nbdPort, exportName }, 5000);
    await write(engine, 0, Buffer.alloc(8192, 1));
    await engine.dropReplica(address.replicaId, 'test');
    const replica = await node.replica(address.replicaId);
    await rebuild(engine, address);
    await write(engine, 0, Buffer.alloc(8192, 2));
    // An old write that arrives late, after the connection's end: it was in the copy's buffers all the while.
    const late = { fua: false, epoch: 1, lease: 0 };
    await expect(replica.write(0, [Buffer.alloc(8192, 1)], 8192, late)).rejects.toMatchObject({
      code: 'engine.stale_epoch',
    });
    await expect(stale.write(0, [Buffer.alloc(8192, 1)], 8192, { fua: false })).rejects.toThrow();
    await expectEqual(volume, engine);
  });

  test('with another one, each by its own mark', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(32 * MIB));
    await engine.device.flush();
    await lose(volume, engine, 1);
    await write(engine, 8 * MIB, crypto.randomBytes(MIB));
    await lose(volume, engine, 2);
    await write(engine, 16 * MIB, crypto.randomBytes(MIB));
    for (const index of [1, 2]) {
      const report = await rebuild(engine, volume.copy(index).address);
      expect(report.bytes.sent).toBeLessThan(6 * MIB);
    }
    await expectEqual(volume, engine);
  });

  test('that was not to be reached at the start of the engine', async () => {
    const volume = await cluster(3);
    const old = await volume.start(1);
    await write(old, 0, crypto.randomBytes(32 * MIB));
    await old.stop();
    const replicas = volume.copies.slice(0, 2).map(({ address }) => address);
    const engine = await volume.start(2, { record: old.report().record, replicas });
    await write(engine, 40 * MIB, crypto.randomBytes(MIB));
    await engine.drops.marked();
    const report = await rebuild(engine, volume.copy(2).address);
    expect(report.bytes.sent).toBeLessThan(2 * MIB);
    await expectEqual(volume, engine);
  });

  test('without a mark is compared as a whole', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const data = crypto.randomBytes(32 * MIB);
    await write(engine, 0, data);
    await engine.device.flush();
    nodes().beforeCommand = (name) => {
      if (name === 'intent') throw new StorageFault('agent.unreachable', { publicMessage: 'test' });
    };
    await lose(volume, engine, 1);
    nodes().beforeCommand = () => undefined;
    // A twentieth of the blocks of 64 KiB.
    for (let i = 0; i < 26; i += 1) await write(engine, i * 20 * 65_536, crypto.randomBytes(4096));
    const report = await rebuild(engine, volume.copy(1).address);
    expect(methods(report.snapshots)).toEqual(['rebuild delta']);
    expect(report.bytes.sent).toBeLessThan(4 * MIB);
    expect(report.bytes.skipped).toBeGreaterThan(28 * MIB);
    await expectEqual(volume, engine);
  });
});

describe('layers that both sides have', () => {
  async function away(volume: Cluster, engine: Engine): Promise<void> {
    nodes().beforeCommand = (name) => {
      if (name === 'intent') throw new StorageFault('agent.unreachable', { publicMessage: 'test' });
    };
    await lose(volume, engine, 1);
    nodes().beforeCommand = () => undefined;
  }

  async function withSnapshots(): Promise<{ volume: Cluster; engine: Engine }> {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    for (const name of ['a', 'b']) {
      await write(engine, name === 'a' ? 0 : 8 * MIB, crypto.randomBytes(16 * MIB));
      await take(engine, name);
    }
    return { volume, engine };
  }

  test('are left out after a rebuild that sent them: both sides hashed them then', async () => {
    const { volume, engine } = await withSnapshots();
    const { address } = await volume.addCopy('target');
    expect(methods((await rebuild(engine, address)).snapshots).slice(0, 2)).toEqual(['a full', 'b full']);
    nodes().beforeCommand = (name) => {
      if (name === 'intent') throw new StorageFault('agent.unreachable', { publicMessage: 'test' });
    };
    await lose(volume, engine, 2);
    nodes().beforeCommand = () => undefined;
    const report = await rebuild(engine, address);
    expect(methods(report.snapshots).slice(0, 2)).toEqual(['a fast', 'b fast']);
    await expectEqual(volume, engine);
  });

  test('are left out when their checksums are equal', async () => {
    const { volume, engine } = await withSnapshots();
    for (const { address } of volume.copies) await hashAll(engine, address.replicaId);
    await away(volume, engine);
    const report = await rebuild(engine, volume.copy(1).address);
    expect(methods(report.snapshots)).toEqual(['a fast', 'b fast', 'rebuild full']);
    expect(report.bytes.sent).toBeLessThan(MIB);
    await expectEqual(volume, engine);
  });

  test.each(BLOCK_HASHES)(
    'are compared by %s when a file has changed since it was hashed',
    async (blockHash) => {
      const { volume, engine } = await withSnapshots();
      for (const { address } of volume.copies) await hashAll(engine, address.replicaId);
      await away(volume, engine);
      const { node, address } = volume.copy(1);
      damageLayers(node, address.replicaId);
      const report = await rebuild(engine, address, { blockHash });
      expect(methods(report.snapshots)).toEqual(['a delta', 'b delta', 'rebuild full']);
      expect(report.bytes.sent).toBeGreaterThanOrEqual(65_536);
      expect(report.bytes.sent).toBeLessThan(MIB);
      await expectEqual(volume, engine);
    },
  );

  test.each([
    { purgesFirst: true, left: 2, what: 'merged' },
    { purgesFirst: false, left: 3, what: 'kept' },
  ])(
    'what rebuilds before it have left behind is $what with purgesFirst $purgesFirst',
    async ({ purgesFirst, left }) => {
      const { volume, engine } = await withSnapshots();
      for (const _ of ['first', 'second']) {
        await away(volume, engine);
        await rebuild(engine, volume.copy(1).address, { purgesFirst });
      }
      await away(volume, engine);
      const { snapshots } = await rebuild(engine, volume.copy(1).address, { purgesFirst });
      expect(snapshots.filter(({ name }) => name.startsWith('rebuild'))).toHaveLength(left);
      await expectEqual(volume, engine);
    },
  );

  test('are brought two at once: one waits for no other', async () => {
    /** For what follows within milliseconds unless it waits for the held request. */
    const patienceMs = 15_000;
    const { volume, engine } = await withSnapshots();
    await away(volume, engine);
    let isSent: () => void = () => undefined;
    const sent = new Promise<void>((resolve) => {
      isSent = resolve;
    });
    // The first one is compared only when the last one, which the target has not, is verified.
    let asked = 0;
    let isLastSentFirst = false;
    nodes().beforeCommand = async (name) => {
      if (name === 'hashes') isSent();
      if (name !== 'block-hashes') return;
      asked += 1;
      if (asked > 1) return;
      isLastSentFirst = await Promise.race([sent.then(() => true), sleep(patienceMs, false, { ref: false })]);
    };
    const report = await rebuild(engine, volume.copy(1).address, { fastRebuild: false });
    expect(methods(report.snapshots)).toEqual(['a delta', 'b delta', 'rebuild full']);
    expect(isLastSentFirst).toBe(true);
    await expectEqual(volume, engine);
  });

  test('are compared when fast rebuilds are off', async () => {
    const { volume, engine } = await withSnapshots();
    for (const { address } of volume.copies) await hashAll(engine, address.replicaId);
    await away(volume, engine);
    const report = await rebuild(engine, volume.copy(1).address, { fastRebuild: false });
    expect(methods(report.snapshots).slice(0, 2)).toEqual(['a delta', 'b delta']);
    await expectEqual(volume, engine);
  });

  test.each(BLOCK_HASHES)('what was sent must have the %s that the source gave', async (blockHash) => {
    const { volume, engine } = await withSnapshots();
    await away(volume, engine);
    const source = volume.copy(0);
    const target = volume.copy(1);
    damageLayers(target.node, target.address.replicaId);
    // The source's file changes after it was hashed and before it is read.
    const { service } = source.node;
    const command = service.command.bind(service);
    service.command = async (replicaId, name, ask) => {
      const answer = await command(replicaId, name, ask);
      if (name === 'block-hashes') damageLayers(source.node, source.address.replicaId);
      return answer;
    };
    const options = { ...OPTIONS, blockHash };
    engine.startRebuild({
      rebuildId: crypto.randomUUID(),
      target: target.address,
      sourceReplicaIds: [],
      options,
    });
    await until(engine, () => engine.report().rebuilds[0]?.state !== 'running');
    expect(engine.report().rebuilds[0]?.error).toMatchObject({ code: 'rebuild.contents_differ' });
  });

  test('a block that only the target holds is forgotten', async () => {
    const { volume, engine } = await withSnapshots();
    await away(volume, engine);
    const { node, address } = volume.copy(1);
    // The target's version of the layer holds more than the source's.
    const replica = await node.replica(address.replicaId);
    const [first] = replica.metadata.layers;
    await replica.layer(first?.id ?? '')?.write([Buffer.alloc(8192, 5)], 50 * MIB, 8192);
    await rebuild(engine, address);
    await expectEqual(volume, engine);
  });
});

describe('while it runs', () => {
  test('an interrupted rebuild goes on with what it has', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    for (const at of [0, 24]) await write(engine, at * MIB, crypto.randomBytes(24 * MIB));
    const { node, address } = await volume.addCopy('target');
    const options = { ...OPTIONS, bandwidthBytesPerSecond: 64 * MIB };
    engine.startRebuild({ rebuildId: crypto.randomUUID(), target: address, sourceReplicaIds: [], options });
    await until(engine, () => (engine.report().rebuilds[0]?.bytes.written ?? 0) > 16 * MIB);
    await node.crash(nodes(), address.replicaId);
    await until(engine, () => engine.report().rebuilds[0]?.state === 'failed');
    const first = engine.report().rebuilds[0]?.bytes.sent ?? 0;
    const report = await rebuild(engine, address);
    expect(report.bytes.sent).toBeLessThanOrEqual(48 * MIB);
    expect(report.bytes.sent + first).toBeLessThan(90 * MIB);
    await expectEqual(volume, engine);
  });

  test('it stands still while it is paused, with user writes reaching the target, and goes on', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(32 * MIB));
    const { address } = await volume.addCopy('target');
    const rebuildId = crypto.randomUUID();
    const options = { ...OPTIONS, bandwidthBytesPerSecond: 32 * MIB };
    engine.startRebuild({ rebuildId, target: address, sourceReplicaIds: [], options });
    await until(engine, () => (engine.report().rebuilds[0]?.bytes.sent ?? 0) > 0);
    engine.tuneRebuild(rebuildId, { paused: true, bandwidthBytesPerSecond: null });
    await until(engine, () => engine.report().rebuilds[0]?.paused === true);
    // Bytes in flight still arrive.
    let sent = -1;
    for (let quiet = 0; quiet < 10; ) {
      await sleep(100);
      const now = engine.report().rebuilds[0]?.bytes.sent ?? 0;
      quiet = now === sent ? quiet + 1 : 0;
      sent = now;
    }
    expect(sent).toBeLessThan(32 * MIB);
    await write(engine, 0, crypto.randomBytes(MIB));
    engine.tuneRebuild(rebuildId, { paused: false, bandwidthBytesPerSecond: null });
    await until(engine, () => engine.report().rebuilds[0]?.state === 'succeeded');
    await expectEqual(volume, engine);
  });

  test('a limit under which it would take minutes is lifted, and it ends', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(32 * MIB));
    const { address } = await volume.addCopy('target');
    const rebuildId = crypto.randomUUID();
    const options = { ...OPTIONS, bandwidthBytesPerSecond: 64 * 1024 };
    engine.startRebuild({ rebuildId, target: address, sourceReplicaIds: [], options });
    await until(engine, () => (engine.report().rebuilds[0]?.bytes.sent ?? 0) > 0);
    expect(engine.report().rebuilds[0]?.bytes.sent).toBeLessThan(32 * MIB);
    engine.tuneRebuild(rebuildId, { paused: false, bandwidthBytesPerSecond: 1024 * MIB });
    await until(engine, () => engine.report().rebuilds[0]?.state === 'succeeded');
    await expectEqual(volume, engine);
  });

  test('several sources share the work', async () => {
    const volume = await cluster(3, 512 * MIB);
    const engine = await volume.start(1);
    for (let at = 0; at < 512; at += 64) await write(engine, at * MIB, crypto.randomBytes(4 * MIB));
    const asked = new Set<string>();
    nodes().beforeCommand = (name, of) => {
      if (name === 'hashes') asked.add(of);
    };
    const { address } = await volume.addCopy('target');
    await rebuild(engine, address, { sourcesMax: 2 });
    expect(asked.size).toBe(2);
    await expectEqual(volume, engine);
  });

  test('a snapshot taken meanwhile is on the target too', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(32 * MIB));
    const { address } = await volume.addCopy('target');
    const options = { ...OPTIONS, bandwidthBytesPerSecond: 64 * MIB };
    engine.startRebuild({ rebuildId: crypto.randomUUID(), target: address, sourceReplicaIds: [], options });
    await until(engine, () => (engine.report().rebuilds[0]?.bytes.sent ?? 0) > 0);
    const data = crypto.randomBytes(MIB);
    await write(engine, 4 * MIB, data);
    await take(engine, 'meanwhile');
    await write(engine, 4 * MIB, crypto.randomBytes(MIB));
    await until(engine, () => engine.report().rebuilds[0]?.state === 'succeeded');
    await engine.dropReplica(volume.copy(0).address.replicaId, 'test');
    const snapshot = (await engine.snapshots.list()).find(({ name }) => name === 'meanwhile');
    await engine.snapshots.revert(snapshot?.id ?? '');
    expect((await read(engine, 4 * MIB, MIB)).equals(data)).toBe(true);
  });
});
