import crypto from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { changeWrites } from '../../test/changed-writes.js';
import { MIB, modes, useClusters, write } from '../../test/engine-cluster.js';
import { NbdErrno } from '../nbd/constants.js';
import { NbdError } from '../nbd/errors.js';
import { contiguous } from '../nbd/export.js';

const { cluster } = useClusters();

describe('replication', () => {
  test('a write reaches all copies; a clean stop leaves them equal and clean', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    const data = crypto.randomBytes(2 * MIB);
    await write(engine, 3 * MIB, data);
    expect(contiguous(await engine.device.read(3 * MIB, data.length)).equals(data)).toBe(true);
    expect(engine.report().record).toMatchObject({ epoch: 1, dataGeneration: 1 });
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
    for (const { node, address } of volume.copies) {
      const { clean, record } = await node.service.command(address.replicaId, 'open', { epoch: 2 });
      expect(clean).toBe(true);
      // A clean stop that releases one copy after the other must not look like replica failures.
      expect(record).toMatchObject({ epoch: 1, members: volume.record.members });
    }
  });

  test('a checksum that is asked for in the moment of a cut waits until the connections have closed', async () => {
    const volume = await cluster(2);
    await volume.start(1);
    const { node, address } = volume.copy(1);
    node.cutOff();
    await expect(node.service.checksum(address.replicaId)).resolves.toMatchObject({
      checksum: expect.any(String),
    });
  });

  test('unaligned writes keep the bytes around them, on every copy', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const device = crypto.randomBytes(64 * 1024);
    await write(engine, 0, device);
    for (const [offset, length] of [
      [1, 1],
      [4095, 2],
      [100, 9000],
      [8192, 100],
      [60_000, 5536],
    ] as const) {
      const data = crypto.randomBytes(length);
      data.copy(device, offset);
      await write(engine, offset, data);
    }
    await engine.device.writeZeroes(5000, 20_000, { fua: false, mayPunch: true });
    device.fill(0, 5000, 25_000);
    for (let i = 0; i < 2; i += 1) {
      expect(contiguous(await engine.device.read(0, device.length)).equals(device)).toBe(true);
    }
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('overlapping writes end in the same order on all copies', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await Promise.all(
      Array.from({ length: 200 }, (_, i) => write(engine, (i % 7) * 2048, Buffer.alloc(16_384, i))),
    );
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });
});

test('when all disks are full the user is told so, and the copies stay in use and equal', async () => {
  const volume = await cluster(3);
  const engine = await volume.start(1);
  await write(engine, 0, Buffer.alloc(64 * 1024, 1));
  for (const [index, { client }] of engine.copies.all.entries()) {
    const restore = changeWrites(client, async (ask, put) => {
      if (ask.offset < 32 * MIB) return put(ask);
      // Each copy stored a different part of the write before its disk was full.
      const part = contiguous(ask.payload).subarray(0, index * 4096);
      if (part.length > 0) await put({ ...ask, payload: [part], lengthBytes: part.length });
      restore();
      throw new NbdError(NbdErrno.NoSpace, 'full');
    });
  }
  const failed = write(engine, 32 * MIB, Buffer.alloc(16_384, 2));
  await expect(failed).rejects.toMatchObject({ errno: NbdErrno.NoSpace });
  expect(modes(engine)).toEqual(['RW', 'RW', 'RW']);
  await engine.stop();
  expect((await volume.checksums()).size).toBe(1);
});

test('when the disk of one copy is full the user is not told, and that copy is dropped', async () => {
  const volume = await cluster(3);
  const engine = await volume.start(1);
  await write(engine, 0, Buffer.alloc(64 * 1024, 1));
  const [, full] = engine.copies.all;
  if (full === undefined) throw new Error('no copy');
  changeWrites(full.client, async () => {
    throw new NbdError(NbdErrno.NoSpace, 'full');
  });
  const bytes = crypto.randomBytes(16_384);
  await write(engine, 32 * MIB, bytes);
  expect(modes(engine)).toEqual(['RW', 'ERR', 'RW']);
  expect(engine.report().record.members).not.toContain(full.replicaId);
  expect(contiguous(await engine.device.read(32 * MIB, bytes.length)).equals(bytes)).toBe(true);
  await engine.stop();
});
