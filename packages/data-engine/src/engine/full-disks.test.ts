import crypto from 'node:crypto';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { describe, expect, test } from '@jest/globals';
import { changeWrites } from '../../test/changed-writes.js';
import { expectBytes, MIB, modes, OPTIONS, until, useClusters, write } from '../../test/engine-cluster.js';
import { NbdErrno } from '../nbd/constants.js';
import { NbdError } from '../nbd/errors.js';
import { contiguous } from '../nbd/export.js';
import type { ReplicaLink } from './replica-link.js';

const { cluster, nodes } = useClusters();

/** The next write stores that many blocks and then finds the disk full; later ones find it as it is. */
function fillUp({ client }: ReplicaLink, blocks: number): void {
  const restore = changeWrites(client, async (ask, put) => {
    restore();
    const part = contiguous(ask.payload).subarray(0, blocks * 4096);
    if (part.length > 0 && part.length < ask.lengthBytes)
      await put({ ...ask, payload: [part], lengthBytes: part.length });
    throw new NbdError(NbdErrno.NoSpace, 'full');
  });
}

describe('a write that no disk has room for', () => {
  test('leaves on all copies what was there before it, where any has that', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    const before = crypto.randomBytes(16_384);
    await write(engine, MIB, before);
    for (const [index, link] of engine.copies.all.entries()) fillUp(link, index + 1);
    const failed = write(engine, MIB + 100, crypto.randomBytes(12_000));
    await expect(failed).rejects.toMatchObject({ errno: NbdErrno.NoSpace });
    await expectBytes(engine, MIB, before.subarray(0, 4096 * 1));
    for (const at of [0, 1, 2])
      await expectBytes(engine, MIB + at * 4096, before.subarray(at * 4096, (at + 1) * 4096));
    expect(modes(engine)).toEqual(['RW', 'RW', 'RW']);
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('is taken back on a copy that is being rebuilt too', async () => {
    const volume = await cluster(2);
    const target = await volume.addCopy('target');
    const engine = await volume.start(1, {
      replicas: volume.copies.slice(0, 2).map(({ address }) => address),
    });
    await write(engine, 0, crypto.randomBytes(4 * MIB));
    const rebuildId = crypto.randomUUID();
    engine.startRebuild({
      rebuildId,
      target: target.address,
      sourceReplicaIds: [],
      options: { ...OPTIONS, bandwidthBytesPerSecond: MIB / 16 },
    });
    await until(engine, () => modes(engine).includes('WO'));
    for (const link of engine.copies.withMode('RW')) fillUp(link, 0);
    const failed = write(engine, 8 * MIB, crypto.randomBytes(8192));
    await expect(failed).rejects.toMatchObject({ errno: NbdErrno.NoSpace });
    engine.tuneRebuild(rebuildId, { paused: false, bandwidthBytesPerSecond: null });
    await until(engine, () => engine.report().rebuilds[0]?.state !== 'running');
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });
});

describe('a snapshot that a disk has no room for', () => {
  test('is refused by the name of the copy, is on no copy, and drops none', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, Buffer.alloc(4096, 1));
    const full = volume.copy(1).address.replicaId;
    nodes().beforeCommand = (name, replicaId) => {
      if (name === 'snapshot' && replicaId === full) {
        throw new StorageFault('disk.no_space', { publicMessage: 'the disk is full' });
      }
    };
    const snapshot = { id: crypto.randomUUID(), name: 'one', origin: 'user' as const, createdAt: '' };
    const taken = engine.snapshots.take(snapshot);
    await expect(taken).rejects.toMatchObject({
      code: 'disk.no_space',
      message: expect.stringContaining(full),
    });
    expect(modes(engine)).toEqual(['RW', 'RW', 'RW']);
    for (const { node, address } of volume.copies) {
      expect((await node.replica(address.replicaId)).layer(snapshot.id)).toBeUndefined();
    }
    nodes().beforeCommand = () => undefined;
    await engine.snapshots.take(snapshot);
    expect(await engine.snapshots.list()).toHaveLength(1);
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('of a drop mark is not made, and the copy that returns is compared as a whole', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, Buffer.alloc(MIB, 1));
    nodes().beforeCommand = (name) => {
      if (name === 'snapshot') throw new StorageFault('disk.no_space', { publicMessage: 'the disk is full' });
    };
    volume.copy(2).node.cutOff();
    await write(engine, 0, Buffer.alloc(MIB, 2));
    await engine.drops.marked();
    expect(modes(engine).sort()).toEqual(['ERR', 'RW', 'RW']);
    expect(await engine.snapshots.list()).toEqual([]);
    nodes().beforeCommand = () => undefined;
  });
});
