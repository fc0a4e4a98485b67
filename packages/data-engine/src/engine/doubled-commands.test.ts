/**
 * Duplicated commands: every command between engine and copies is delivered once more, at any later time, as networks
 * and HTTP clients may do.
 */
import crypto from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { doubling, endsAsWithoutDoubles, snapshotNamed } from '../../test/doubled-commands.js';
import { expectBytes, MIB, modes, OPTIONS, rebuild, useClusters, write } from '../../test/engine-cluster.js';

const clusters = useClusters();
const { cluster, nodes } = clusters;

describe('a command that is delivered twice', () => {
  test('a second prepare leaves the copy that is being filled, and the one that serves, as it is', async () => {
    const volume = await cluster(1);
    const { connectControl, sent } = doubling(nodes().connectControl, (all, name) =>
      name === 'progress' ? all.filter((one) => one.name === 'prepare') : [],
    );
    const engine = await volume.start(1, { connectControl });
    const data = crypto.randomBytes(32 * MIB);
    await write(engine, 0, data);
    const { address } = await volume.addCopy('target');
    await rebuild(engine, address, OPTIONS);
    for (const late of sent.filter(({ name }) => name === 'prepare')) {
      await expect(late.again()).rejects.toMatchObject({ code: 'replica.state_changed' });
    }
    expect(modes(engine)).toEqual(['RW', 'RW']);
    await expectBytes(engine, 0, data);
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  /** `doubled-commands.night.test.ts` has more. */
  test.each([1, 2])('seed %i: snapshots, a rebuild, reverts and purges end as without', (seed) =>
    endsAsWithoutDoubles(clusters, seed),
  );
});

describe('a revert whose answer was lost', () => {
  test('keeps what was written and frozen since, and is answered as done while a client is connected', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const [base, later] = [snapshotNamed('base'), snapshotNamed('later')];
    const taskId = crypto.randomUUID();
    await write(engine, 0, Buffer.alloc(4096, 1));
    await engine.snapshots.take(base);
    await engine.snapshots.revert(base.id, taskId);
    await write(engine, 0, Buffer.alloc(4096, 2));
    await engine.snapshots.revert(base.id, taskId);
    await expectBytes(engine, 0, Buffer.alloc(4096, 2));
    await engine.snapshots.take(later);
    await engine.snapshots.remove(base.id);
    Object.defineProperty(engine, 'hasClients', { get: () => true });
    await engine.snapshots.revert(base.id, taskId);
    await expectBytes(engine, 0, Buffer.alloc(4096, 2));
  });

  test('another task reverts again, and a rebuilt copy knows what the others have done', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const base = snapshotNamed('base');
    const first = crypto.randomUUID();
    await write(engine, 0, Buffer.alloc(4096, 1));
    await engine.snapshots.take(base);
    await engine.snapshots.revert(base.id, first);
    await write(engine, 0, Buffer.alloc(4096, 2));
    const { address } = volume.copy(1);
    await engine.dropReplica(address.replicaId, 'for the test');
    await rebuild(engine, address);
    await engine.snapshots.revert(base.id, first);
    await expectBytes(engine, 0, Buffer.alloc(4096, 2));
    await engine.snapshots.revert(base.id, crypto.randomUUID());
    await expectBytes(engine, 0, Buffer.alloc(4096, 1));
  });
});
