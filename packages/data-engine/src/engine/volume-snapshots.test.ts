import crypto from 'node:crypto';
import net from 'node:net';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { describe, expect, test } from '@jest/globals';
import {
  type Cluster,
  damageLayers,
  expectBytes,
  MIB,
  modes,
  read,
  rebuild,
  SIZE,
  until,
  useClusters,
  write,
} from '../../test/engine-cluster.js';
import type { Engine } from './engine.js';

/** Some tests take hundreds of snapshots, on a machine that runs other suites in parallel. */

const { cluster, nodes } = useClusters();

async function take(engine: Engine, name: string): Promise<string> {
  const id = crypto.randomUUID();
  await engine.snapshots.take({ id, name, origin: 'user', createdAt: '2026-01-01T00:00:00Z' });
  return id;
}

const names = async (engine: Engine) => (await engine.snapshots.list()).map(({ name }) => name);

/** The engine dies without a clean stop; another one takes its copies over. */
async function crash(volume: Cluster, engine: Engine, epoch: number): Promise<Engine> {
  const { record } = engine.report();
  const { sizeBytes } = engine.device;
  engine.fence(new StorageFault('engine.not_found', { publicMessage: 'crash' }));
  return volume.start(epoch, { record, sizeBytes });
}

describe('snapshots', () => {
  test('a revert brings back what was there, on all copies, and keeps later snapshots', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    const first = crypto.randomBytes(2 * MIB);
    await write(engine, MIB, first);
    const a = await take(engine, 'a');
    await write(engine, 2 * MIB, crypto.randomBytes(2 * MIB));
    const second = await read(engine, 0, 8 * MIB);
    const b = await take(engine, 'b');
    await engine.device.writeZeroes(0, 4 * MIB, { fua: false, mayPunch: true });

    await engine.snapshots.revert(a);
    for (let i = 0; i < 3; i += 1) await expectBytes(engine, MIB, first);
    await expectBytes(engine, 3 * MIB, Buffer.alloc(MIB));
    await write(engine, 0, crypto.randomBytes(MIB));
    await engine.snapshots.revert(b);
    await expectBytes(engine, 0, second);
    expect(await names(engine)).toEqual(['a', 'b']);
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('a rebuilt copy has every snapshot, also those on a branch', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(MIB));
    const a = await take(engine, 'a');
    await write(engine, 0, crypto.randomBytes(MIB));
    const b = await take(engine, 'b');
    const atB = await read(engine, 0, 2 * MIB);
    await engine.snapshots.revert(a);
    const { address } = await volume.addCopy('target');
    await rebuild(engine, address);

    for (const { address: member } of volume.copies.slice(0, 2))
      await engine.dropReplica(member.replicaId, 'test');
    await engine.snapshots.revert(b);
    await expectBytes(engine, 0, atB);
  });

  test('a deleted snapshot is merged away by a purge, without any change to the data', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const ids: string[] = [];
    for (let i = 0; i < 4; i += 1) {
      await write(engine, i * MIB, crypto.randomBytes(3 * MIB));
      await engine.device.writeZeroes(i * MIB, 16_384, { fua: false, mayPunch: true });
      ids.push(await take(engine, `s${i}`));
    }
    await write(engine, 0, crypto.randomBytes(64 * 1024));
    const before = await read(engine, 0, 8 * MIB);
    for (const id of [ids[1], ids[2]]) await engine.snapshots.remove(id ?? '');
    await engine.snapshots.purge();
    expect(await names(engine)).toEqual(['s0', 's3']);
    await expectBytes(engine, 0, before);
    await expect(engine.snapshots.revert(ids[1] ?? '')).rejects.toMatchObject({ code: 'snapshot.not_found' });
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('the snapshot under the head frees what the head covers, and goes with the next snapshot', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(8 * MIB));
    const a = await take(engine, 'a');
    await write(engine, 0, crypto.randomBytes(6 * MIB));
    const before = await read(engine, 0, 8 * MIB);
    await engine.snapshots.remove(a);
    await engine.snapshots.purge();
    expect((await engine.snapshots.list())[0]).toMatchObject({
      name: 'a',
      removed: true,
      heldBytes: 2 * MIB,
    });
    await take(engine, 'b');
    await engine.snapshots.purge();
    expect(await names(engine)).toEqual(['b']);
    await expectBytes(engine, 0, before);
  });

  test('a volume grows while it is used, and an interrupted growth goes on with the next engine', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    await write(engine, SIZE - MIB, crypto.randomBytes(MIB));
    const before = await read(engine, 0, SIZE);
    await engine.snapshots.expand(2 * SIZE);
    expect(engine.device.sizeBytes).toBe(2 * SIZE);
    await expectBytes(engine, SIZE, Buffer.alloc(MIB));
    const data = crypto.randomBytes(2 * MIB);
    await write(engine, SIZE - MIB, data);
    await expectBytes(engine, SIZE - MIB, data);
    await expectBytes(engine, 0, before.subarray(0, SIZE - MIB));

    // Only one copy has grown when everything stops.
    const [first] = engine.copies.all;
    await first?.control.command('snapshot', {
      epoch: 1,
      layer: { id: crypto.randomUUID(), name: 'e', origin: 'system', createdAt: '', drop: null },
      sizeBytes: 3 * SIZE,
    });
    const next = await crash(volume, engine, 2);
    expect(next.device.sizeBytes).toBe(2 * SIZE);
    await next.equal();
    await next.snapshots.expand(3 * SIZE);
    await write(next, 3 * SIZE - MIB, crypto.randomBytes(MIB));
    await next.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  // The control plane's database was restored from a backup of before the expansion.
  test('a volume whose copies are larger than its engine is told has their size, also after snapshots and rebuilds', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    await engine.snapshots.expand(2 * SIZE);
    const data = crypto.randomBytes(MIB);
    await write(engine, 2 * SIZE - MIB, data);
    await engine.stop();

    const next = await volume.start(2, { record: engine.report().record, sizeBytes: SIZE });
    expect(next.device.sizeBytes).toBe(2 * SIZE);
    await take(next, 'a');
    const { address } = await volume.addCopy('target');
    await rebuild(next, address);
    await next.stop();
    expect((await volume.checksums()).size).toBe(1);

    const last = await volume.start(3, { record: next.report().record, sizeBytes: SIZE });
    await expectBytes(last, 2 * SIZE - MIB, data);
    expect(modes(last)).toEqual(['RW', 'RW', 'RW']);
  });

  test('a copy that has grown alone keeps its size when the volume is frozen at the smaller one', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const [first] = engine.copies.all;
    await first?.control.command('snapshot', {
      epoch: 1,
      layer: { id: crypto.randomUUID(), name: 'e', origin: 'system', createdAt: '', drop: null },
      sizeBytes: 2 * SIZE,
    });
    const next = await crash(volume, engine, 2);
    await take(next, 'a');
    const chain = await next.copies.all[0]?.control.command('chain', { epoch: 2 });
    expect(chain?.sizeBytes).toBe(2 * SIZE);
  });
});

describe('a clone', () => {
  test('is filled with what a snapshot reads as, over several layers, and larger than it', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(6 * MIB));
    await take(engine, 'a');
    await write(engine, 4 * MIB, crypto.randomBytes(8 * MIB));
    await engine.device.writeZeroes(MIB, MIB, { fua: false, mayPunch: true });
    const b = await take(engine, 'b');
    const wanted = await read(engine, 0, 16 * MIB);
    await write(engine, 0, crypto.randomBytes(MIB));
    await engine.stop();

    const clone = await cluster(2, 2 * SIZE);
    const next = await clone.start(1);
    await write(next, 14 * MIB, Buffer.alloc(4096));
    const sources = volume.copies.map(({ address }) => address);
    // The first source is gone; the fill continues from the second one.
    volume.copy(0).node.die();
    const fill = { fillId: crypto.randomUUID(), snapshotId: b, sources };
    next.startFill(fill);
    next.startFill(fill);
    await until(next, () => next.report().fill?.state !== 'running');
    expect(next.report().fill).toMatchObject({ state: 'succeeded', error: '' });
    await expectBytes(next, 0, wanted);
    await next.stop();
    expect((await clone.checksums()).size).toBe(1);
  });

  test('of a snapshot that is not there fails and says so', async () => {
    const volume = await cluster(1);
    const clone = await cluster(1);
    const next = await clone.start(1);
    const sources = [volume.copy(0).address];
    next.startFill({ fillId: crypto.randomUUID(), snapshotId: crypto.randomUUID(), sources });
    await until(next, () => next.report().fill?.state !== 'running');
    expect(next.report().fill).toMatchObject({ state: 'failed', error: expect.stringContaining('snapshot') });
  });
});

describe('hashing', () => {
  async function hashed(engine: Engine, id: string, force: boolean): Promise<(string | null)[]> {
    await engine.snapshots.hash(id, force);
    const layer = (await engine.snapshots.list()).find((one) => one.id === id);
    return layer?.checksums.map(({ checksum }) => checksum) ?? [];
  }

  test('finds a silently corrupted copy; a rebuild repairs it', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    const data = crypto.randomBytes(8 * MIB);
    await write(engine, 0, data);
    const a = await take(engine, 'a');
    expect(new Set(await hashed(engine, a, false)).size).toBe(1);
    const { node, address } = volume.copy(1);
    damageLayers(node, address.replicaId);
    expect((await engine.snapshots.list())[0]?.checksums.map(({ checksum }) => checksum === null)).toEqual([
      false,
      true,
      false,
    ]);
    await engine.snapshots.hash(a, true);
    expect(modes(engine)).toEqual(['RW', 'ERR', 'RW']);
    await rebuild(engine, address);
    await expectBytes(engine, 0, data);
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test.each([2, 3])(
    'a revert of %i copies drops the one whose layer changed since it was hashed',
    async (count) => {
      const volume = await cluster(count);
      const engine = await volume.start(1);
      const data = crypto.randomBytes(8 * MIB);
      await write(engine, 0, data);
      const a = await take(engine, 'a');
      await write(engine, 0, crypto.randomBytes(2 * MIB));
      await hashed(engine, a, false);
      const { node, address } = volume.copy(1);
      damageLayers(node, address.replicaId);
      await engine.snapshots.revert(a);
      expect(modes(engine)).toEqual(['RW', 'ERR', 'RW'].slice(0, count));
      for (let i = 0; i < 4; i += 1) await expectBytes(engine, 0, data);
      await rebuild(engine, address);
      await engine.stop();
      expect((await volume.checksums()).size).toBe(1);
    },
  );

  test('a revert to layers of which a merge has changed the files drops no copy', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(8 * MIB));
    const a = await take(engine, 'a');
    await write(engine, MIB, crypto.randomBytes(MIB));
    const b = await take(engine, 'b');
    await hashed(engine, b, false);
    const before = await read(engine, 0, 8 * MIB);
    await write(engine, 0, crypto.randomBytes(MIB));
    await engine.snapshots.remove(a);
    await engine.snapshots.purge();
    await engine.snapshots.revert(b);
    expect(modes(engine)).toEqual(['RW', 'RW', 'RW']);
    await expectBytes(engine, 0, before);
  });

  test('the last copy is never dropped, and a merge voids a checksum', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(8 * MIB));
    const a = await take(engine, 'a');
    await write(engine, MIB, crypto.randomBytes(MIB));
    const b = await take(engine, 'b');
    const [before] = await hashed(engine, b, false);
    damageLayers(volume.copy(0).node, volume.copy(0).address.replicaId);
    await hashed(engine, a, true);
    expect(modes(engine)).toEqual(['RW']);
    await engine.snapshots.remove(a);
    await engine.snapshots.purge();
    expect((await engine.snapshots.list()).map(({ checksums }) => checksums[0]?.checksum)).toEqual([null]);
    expect(await hashed(engine, b, false)).not.toEqual([before]);
  });
});

describe('an engine that dies in the middle', () => {
  test('of a snapshot leaves none behind', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, Buffer.alloc(MIB, 3));
    await engine.device.flush();
    nodes().beforeCommand = (name, of) => {
      if (name === 'snapshot' && of !== volume.record.members[0]) {
        throw new StorageFault('agent.unreachable', { publicMessage: 'the engine is dead' });
      }
    };
    const [first] = engine.copies.all;
    const ask = { id: crypto.randomUUID(), name: 'half', origin: 'user' as const, createdAt: '', drop: null };
    await first?.control.command('snapshot', { epoch: 1, layer: ask, sizeBytes: SIZE });
    nodes().beforeCommand = () => undefined;

    const next = await crash(volume, engine, 2);
    expect(modes(next)).toEqual(['RW', 'RW', 'RW']);
    expect(await names(next)).toEqual([]);
    await next.equal();
    await expectBytes(next, 0, Buffer.alloc(MIB, 3));
    await take(next, 'whole');
    await next.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('one copy that does not say what it has is left out, and the others go on', async () => {
    const volume = await cluster(3);
    nodes().beforeCommand = (name, of) => {
      if (name === 'chain' && of === volume.record.members[1]) throw new Error('its disk failed');
    };
    const engine = await volume.start(1);
    expect(modes(engine)).toEqual(['RW', 'ERR', 'RW']);
  });

  test('of a revert never serves two contents', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, Buffer.alloc(MIB, 1));
    const a = await take(engine, 'a');
    await write(engine, 0, Buffer.alloc(MIB, 2));
    await take(engine, 'b');
    await engine.device.flush();
    const [first] = engine.copies.all;
    await first?.control.command('revert', { epoch: 1, layerId: a, headId: crypto.randomUUID() });

    const next = await crash(volume, engine, 2);
    expect(modes(next).sort()).toEqual(['ERR', 'RW', 'RW']);
    for (let i = 0; i < 4; i += 1) await expectBytes(next, 0, Buffer.alloc(MIB, 2));
    const lost = volume.copies.find(({ address }) => address.replicaId === first?.replicaId);
    if (lost === undefined) throw new Error('no such copy');
    await rebuild(next, lost.address);
    await next.stop();
    expect((await volume.checksums()).size).toBe(1);
  });
});

describe('refusals', () => {
  test('a revert while a client is connected', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    const a = await take(engine, 'a');
    const server = net.createServer().listen(0, '127.0.0.1');
    const accepted = new Promise<net.Socket>((resolve) => server.once('connection', resolve));
    await new Promise((resolve) => server.once('listening', resolve));
    const client = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
    const socket = await accepted;
    const negotiated = { exportName: 'x', structuredReplies: false, allocationContext: false, legacy: true };
    engine.serve(socket, negotiated as never, Buffer.alloc(0));
    await expect(engine.snapshots.revert(a)).rejects.toMatchObject({ code: 'volume.in_use' });
    client.destroy();
    await new Promise((resolve) => socket.once('close', resolve));
    server.close();
    await engine.snapshots.revert(a);
  });

  test('a user can not take the last layers, which rebuilds need', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    for (let i = 0; i < 239; i += 1) await take(engine, `s${i}`);
    await expect(take(engine, 'one too many')).rejects.toMatchObject({ code: 'replica.too_many_layers' });
    const { address } = await volume.addCopy('target');
    await rebuild(engine, address);
  });

  test('two changes of the layers at once, and a rebuild meanwhile', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    const purging = engine.snapshots.purge();
    await expect(engine.snapshots.expand(2 * SIZE)).rejects.toMatchObject({ code: 'engine.busy' });
    const { address } = volume.copy(0);
    expect(() => engine.startRebuild({ rebuildId: 'r', target: address, sourceReplicaIds: [] })).toThrow(
      /busy/,
    );
    await purging;
  });
});
