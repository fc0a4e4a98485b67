import crypto from 'node:crypto';
import { expect, test } from '@jest/globals';
import { MIB, until, useClusters, write } from '../../test/engine-cluster.js';

const { cluster } = useClusters();

const ONE = { id: crypto.randomUUID(), name: 'one', origin: 'user' as const, createdAt: '' };

test('written bytes are never more than the disks hold, and fall with the purge of what was trimmed', async () => {
  const volume = await cluster(2);
  const engine = await volume.start(1, { ticksEveryMs: 50 });
  await write(engine, 0, crypto.randomBytes(4 * MIB));
  await engine.device.flush();
  await engine.snapshots.take(ONE);
  await engine.device.trim(0, volume.sizeBytes, { fua: true });
  const { address, node } = volume.copy(0);
  const copy = await node.replica(address.replicaId);
  // The zeros over the snapshot are held, and take no space.
  expect(copy.heldBytes).toBe(volume.sizeBytes);
  expect(await copy.writtenBytes()).toBeLessThan(5 * MIB);
  await engine.snapshots.remove(ONE.id);
  await engine.snapshots.take({ ...ONE, id: crypto.randomUUID(), name: 'two' });
  await engine.snapshots.purge();
  await until(engine, () => engine.report().writtenBytes < MIB);
  await engine.stop();
});

test('a volume that is written and let go at once is reported with what it holds', async () => {
  const volume = await cluster(2);
  const engine = await volume.start(1);
  await write(engine, 0, crypto.randomBytes(4 * MIB));
  await engine.stop();
  expect(engine.report().writtenBytes).toBe(4 * MIB);
});
