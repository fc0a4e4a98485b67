import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { REGION_BYTES } from '@holdfast/core/model/bytes.js';
import { copyRecord } from '@holdfast/core/model/copy-record.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { listReplicas, removeReplicaDirectory, replicaDirectory } from '../disk/folder/replica-files.js';
import { checksumOfBytes, deviceChecksum } from '../layers/device-checksum.js';
import { contiguous, writeBy } from '../nbd/export.js';
import { Replica } from './replica.js';

const MIB = 1024 * 1024;
const BLOCK = 4096;
const SIZE = 64 * MIB;
const NO_FUA = { fua: false, epoch: 0 };
const FUA = { fua: true, epoch: 0 };

let disk: string;
let replicaId: string;
let open: Replica[];

beforeEach(async () => {
  disk = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-replica-'));
  replicaId = crypto.randomUUID();
  open = [];
});
afterEach(async () => {
  for (const replica of open) await replica.close().catch(() => undefined);
  await fs.rm(disk, { recursive: true, force: true });
});

const snapshot = (name: string, origin: 'user' | 'system' = 'system') => ({
  id: crypto.randomUUID(),
  name,
  origin,
  createdAt: '2026-01-01T00:00:00Z',
  drop: null,
});
const filled = (value: number, length = BLOCK) => Buffer.alloc(length, value);

describe('layers', () => {
  test('the newest layer that holds a block answers for it; zeros over older data are data', async () => {
    const replica = await create();
    await write(replica, 0, filled(1, 4 * BLOCK));
    await replica.layers.snapshot(snapshot('a'));
    await write(replica, BLOCK, filled(2));
    await replica.layers.snapshot(snapshot('b'));
    await replica.writeZeroes(2 * BLOCK, BLOCK, { ...NO_FUA, mayPunch: true });
    const expected = Buffer.concat([filled(1), filled(2), filled(0), filled(1), filled(0)]);
    expect((await read(replica, 0, 5 * BLOCK)).equals(expected)).toBe(true);
    await replica.flush();
    expect((await read(await reopen(), 0, 5 * BLOCK)).equals(expected)).toBe(true);
    expect(replica.extents(0, 8 * BLOCK, 10)).toEqual([
      { lengthBytes: 2 * BLOCK, allocated: true },
      { lengthBytes: BLOCK, allocated: false },
      { lengthBytes: BLOCK, allocated: true },
      { lengthBytes: 4 * BLOCK, allocated: false },
    ]);
  });

  test('random changes and snapshots read back like plain memory', async () => {
    const replica = await create(4 * MIB);
    const model = Buffer.alloc(4 * MIB);
    for (let step = 0; step < 400; step += 1) {
      const first = crypto.randomInt(1000);
      const lengthBytes = crypto.randomInt(1, 24) * BLOCK;
      const kind = crypto.randomInt(20);
      if (kind === 0) await replica.layers.snapshot(snapshot(`s${step}`));
      else if (kind < 5) {
        await replica.writeZeroes(first * BLOCK, lengthBytes, { ...NO_FUA, mayPunch: kind < 3 });
        model.fill(0, first * BLOCK, first * BLOCK + lengthBytes);
      } else {
        const data = crypto.randomBytes(lengthBytes);
        await write(replica, first * BLOCK, data);
        data.copy(model, first * BLOCK);
      }
    }
    expect((await read(replica, 0, model.length)).equals(model)).toBe(true);
    expect(await deviceChecksum(replica)).toBe(checksumOfBytes(model));
    let offset = 0;
    for (const { lengthBytes, allocated } of replica.extents(0, model.length, 4096)) {
      const bytes = model.subarray(offset, offset + lengthBytes);
      if (!allocated) expect(bytes.every((byte) => byte === 0)).toBe(true);
      offset += lengthBytes;
    }
    expect(offset).toBe(model.length);
  });

  test('merging layers changes nothing that can be read, and leaves no files behind', async () => {
    const replica = await create();
    const model = Buffer.alloc(8 * MIB);
    const ids: string[] = [];
    for (let i = 0; i < 4; i += 1) {
      const data = crypto.randomBytes(MIB);
      const offset = i * 512 * 1024;
      await write(replica, offset, data);
      data.copy(model, offset);
      await replica.writeZeroes(offset, 2 * BLOCK, { ...NO_FUA, mayPunch: true });
      model.fill(0, offset, offset + 2 * BLOCK);
      const layer = snapshot(`s${i}`);
      ids.push(layer.id);
      await replica.layers.snapshot(layer);
    }
    for (const id of ids.slice(0, -1)) expect(await replica.layers.purge(id, 0)).toBeNull();
    expect(replica.metadata.layers.map(({ name }) => name)).toEqual(['s3', 'head']);
    expect((await read(replica, 0, model.length)).equals(model)).toBe(true);
    expect((await read(await reopen(), 0, model.length)).equals(model)).toBe(true);
    expect((await fs.readdir(replicaDirectory(disk, replicaId))).length).toBe(2 * 2 + 3);
  });
});

test('a purge frees what the head covers where that is an eighth of a window, and leaves less', async () => {
  const replica = await create(8 * MIB);
  const model = filled(1, 8 * MIB);
  await write(replica, 0, model);
  const layer = snapshot('s');
  await replica.layers.snapshot(layer);
  await replica.layers.markRemoved(layer.id);
  const [eighth, blocks] = [128, 1024];
  const covered = [
    ...Array.from({ length: eighth }, (_, at) => 8 * at),
    ...Array.from({ length: eighth - 1 }, (_, at) => blocks + 8 * at),
  ];
  for (const block of covered) {
    await write(replica, block * BLOCK, filled(2));
    model.fill(2, block * BLOCK, (block + 1) * BLOCK);
  }
  for (let round = 0; round < 2; round += 1) expect(await replica.layers.purge(layer.id, 0)).toBeNull();
  expect(replica.layer(layer.id)?.map.heldBlocks).toBe(2 * blocks - eighth);
  expect((await read(replica, 0, model.length)).equals(model)).toBe(true);
});

describe('after a crash', () => {
  test.each([
    {
      name: 'FLUSH',
      persist: async (replica: Replica, data: Buffer) => {
        await write(replica, 0, data);
        await replica.flush();
      },
    },
    { name: 'FUA', persist: (replica: Replica, data: Buffer) => write(replica, 0, data, FUA) },
  ])('what a $name acknowledged is there', async ({ persist }) => {
    const replica = await create();
    const data = crypto.randomBytes(3 * MIB);
    await persist(replica, data);
    await write(replica, 8 * MIB, filled(9));
    expect((await read(await reopen(), 0, data.length)).equals(data)).toBe(true);
  });

  test('a write that no flush covered never shows zeros instead of older data', async () => {
    const replica = await create();
    await write(replica, 0, filled(1));
    await replica.layers.snapshot(snapshot('a'));
    await write(replica, 0, filled(2));
    const [block] = [await read(await reopen(), 0, BLOCK)];
    expect([1, 2]).toContain(block?.[0]);
  });

  test('regions written since marks were last cleared are marked, before their first write', async () => {
    const replica = await create();
    await replica.clearIntent();
    expect(replica.isClean).toBe(true);
    await write(replica, REGION_BYTES + BLOCK, filled(1));
    const crashed = await reopen();
    expect(crashed.isClean).toBe(false);
    expect(crashed.intentRegions()).toEqual([{ first: 1, count: 1 }]);
    await replica.clearIntent();
    expect((await reopen()).isClean).toBe(true);
  });

  test('half-made and half-removed copies are removed', async () => {
    await create();
    const folder = path.dirname(replicaDirectory(disk, replicaId));
    await fs.mkdir(path.join(folder, `.new-${crypto.randomUUID()}`));
    await fs.mkdir(path.join(folder, `.deleted-${crypto.randomUUID()}`));
    await fs.writeFile(path.join(folder, replicaId, `${crypto.randomUUID()}.img`), 'left behind');
    expect(await listReplicas(disk)).toEqual([replicaId]);
    expect(await fs.readdir(folder)).toEqual([replicaId]);
    await reopen();
    expect((await fs.readdir(path.join(folder, replicaId))).length).toBe(5);
    await removeReplicaDirectory(disk, replicaId);
    await removeReplicaDirectory(disk, replicaId);
    expect(await listReplicas(disk)).toEqual([]);
  });
});

describe('a write without waiting', () => {
  const term = (replica: Replica) => ({ epoch: 0, lease: replica.lease });
  const tryNow = (replica: Replica, value: number, offset = 0) =>
    replica.writeNow(offset, [filled(value)], BLOCK, term(replica));

  /** Writes by threads until the disk has shown itself fast, and the region is marked. */
  async function ready(replica: Replica): Promise<void> {
    for (let tries = 0; tries < 1000; tries += 1) {
      await write(replica, BLOCK, filled(9));
      if (tryNow(replica, 1)) return;
    }
    throw new Error('this disk is never fast');
  }

  test('is made like any other: read, counted as changed, and durable after a flush', async () => {
    const replica = await create();
    await ready(replica);
    expect((await read(replica, 0, BLOCK)).equals(filled(1))).toBe(true);
    expect(replica.recentChanges()).toEqual([[0, 0b11]]);
    await replica.flush();
    expect((await read(await reopen(), 0, BLOCK)).equals(filled(1))).toBe(true);
  });

  test('is refused to an engine that was replaced', async () => {
    const replica = await create();
    await ready(replica);
    const old = term(replica);
    await replica.fence(1);
    expect(() => replica.writeNow(0, [filled(2)], BLOCK, old)).toThrow(/epoch/);
    expect((await read(replica, 0, BLOCK)).equals(filled(1))).toBe(true);
  });

  test('is seen by a read that was under way, which is done again', async () => {
    const replica = await create();
    await write(replica, 0, filled(7, MIB));
    await ready(replica);
    for (let round = 0; round < 50; round += 1) {
      const value = 10 + round;
      const reading = replica.read(0, MIB);
      if (!tryNow(replica, value)) continue;
      expect(contiguous(await reading)[0]).toBe(value);
    }
  });

  test('by a thread is waited for by what changes the copy as a whole, and refused to an engine that was replaced by then', async () => {
    const replica = await create();
    await write(replica, 0, filled(9, 8 * MIB));
    const old = term(replica);
    for (let flush = 0; flush < 4; flush += 1) await replica.flushForEngine(old.lease);
    expect(replica.recentChanges()).toEqual([]);
    const begin = (value: number) =>
      writeBy(
        { beginWrite: (ask, listener, tag) => replica.beginWrite(ask, old, listener, tag) },
        { offset: 0, lengthBytes: 8 * MIB, payload: [filled(value, 8 * MIB)], fua: false },
      );
    const order: string[] = [];
    const written = begin(1).then(() => order.push('written'));
    await replica.renewLease().then(() => order.push('renewed'));
    await written;
    expect(order).toEqual(['written', 'renewed']);
    expect((await read(replica, 0, 8 * MIB)).equals(filled(1, 8 * MIB))).toBe(true);
    expect(replica.recentChanges()).toHaveLength(128);
    await expect(begin(2)).rejects.toMatchObject({ code: 'engine.stale_epoch' });
  });

  test('is left to a thread where its region has no mark yet, or the copy as a whole is being changed', async () => {
    const replica = await create();
    await ready(replica);
    expect(tryNow(replica, 3, REGION_BYTES)).toBe(false);
    expect(replica.writeNow(100, [filled(3)], BLOCK, term(replica))).toBe(false);
    const fencing = replica.fence(0);
    expect(tryNow(replica, 3)).toBe(false);
    await fencing;
    expect(tryNow(replica, 3)).toBe(true);
  });
});

describe('a damaged copy is refused', () => {
  const metadata = () => path.join(replicaDirectory(disk, replicaId), 'replica.json');
  const file = async (suffix: string) => {
    const names = await fs.readdir(replicaDirectory(disk, replicaId));
    return path.join(replicaDirectory(disk, replicaId), names.find((name) => name.endsWith(suffix)) ?? '');
  };
  test.each<{ name: string; damage: () => Promise<void>; code: string }>([
    { name: 'metadata cut off', damage: () => fs.truncate(metadata(), 40), code: 'replica.corrupt' },
    { name: 'metadata of a newer format', damage: () => edit('format', 5), code: 'replica.format_unknown' },
    {
      name: 'rotten metadata',
      damage: () => replaceIn('"epoch": 0', '"epoch": 1'),
      code: 'replica.corrupt',
    },
    { name: 'metadata without a size', damage: () => edit('sizeBytes', -1), code: 'replica.corrupt' },
    { name: 'a data file missing', damage: async () => fs.rm(await file('.img')), code: 'replica.corrupt' },
    {
      name: 'a data file cut off',
      damage: async () => fs.truncate(await file('.img'), 5),
      code: 'replica.corrupt',
    },
    {
      name: 'a layer map cut off',
      damage: async () => fs.truncate(await file('.map'), 1),
      code: 'replica.corrupt',
    },
    {
      name: 'the intent map missing',
      damage: () => fs.rm(path.join(replicaDirectory(disk, replicaId), 'intent.map')),
      code: 'replica.corrupt',
    },
    {
      name: 'no directory',
      damage: () => removeReplicaDirectory(disk, replicaId),
      code: 'replica.not_found',
    },
  ])('opening it answers $code: $name', async ({ damage, code }) => {
    await (await create()).close();
    await damage();
    await expect(Replica.open(disk, replicaId)).rejects.toMatchObject({ code });
  });

  async function edit(key: string, value: unknown): Promise<void> {
    const [json = ''] = (await fs.readFile(metadata(), 'utf8')).split('blake3 ');
    await fs.writeFile(metadata(), JSON.stringify({ ...JSON.parse(json), [key]: value }));
  }

  async function replaceIn(text: string, other: string): Promise<void> {
    const stored = await fs.readFile(metadata(), 'utf8');
    expect(stored).toContain(text);
    await fs.writeFile(metadata(), stored.replace(text, other));
  }
});

describe('fencing and records', () => {
  const member = () => asId<ReplicaId>(replicaId);

  test('a lower epoch is refused, also after a restart, and its writes are too', async () => {
    const replica = await create();
    await replica.fence(3);
    await replica.fence(3);
    await expect(replica.fence(2)).rejects.toMatchObject({ code: 'engine.stale_epoch' });
    await expect(write(replica, 0, filled(1))).rejects.toMatchObject({ code: 'engine.stale_epoch' });
    await expect((await reopen()).fence(2)).rejects.toMatchObject({ code: 'engine.stale_epoch' });
  });

  test('an older record never replaces a newer one', async () => {
    const replica = await create();
    await replica.storeRecord(copyRecord(2, 5, [member()]));
    await expect(replica.storeRecord(copyRecord(2, 4, [member()]))).rejects.toMatchObject({
      code: 'engine.stale_epoch',
    });
    expect((await reopen()).metadata.record).toEqual(copyRecord(2, 5, [member()]));
  });

  test('starting over forgets data and record before anything else', async () => {
    const replica = await create();
    await write(replica, 0, filled(7), FUA);
    await replica.storeRecord(copyRecord(1, 1, [member()]));
    const rebuildId = crypto.randomUUID();
    const layer = { ...snapshot('base'), parentId: null, sizeBytes: SIZE, removed: false, from: null };
    await replica.layers.prepare(rebuildId, [layer], layer.id, SIZE);
    const again = await reopen();
    expect(again.metadata).toMatchObject({ record: null, rebuildId });
    expect(again.metadata.layers.map(({ name }) => name)).toEqual(['base', 'head']);
    expect((await read(again, 0, BLOCK)).equals(filled(0))).toBe(true);
  });
});

/** Least time to read 1 TiB, at 8 GiB/s: the sparse parts must not be read. */
const READ_WHOLE_MS_MIN = 128_000;

test('a sparse device of 1 TiB is created, checked and summed quickly', async () => {
  const replica = await create(1024 * 1024 * MIB);
  await write(replica, 700_000 * MIB, filled(5));
  const startedMs = performance.now();
  const checksum = await deviceChecksum(replica);
  expect(performance.now() - startedMs).toBeLessThan(READ_WHOLE_MS_MIN);
  await write(replica, 700_000 * MIB, filled(6));
  expect(await deviceChecksum(replica)).not.toBe(checksum);
  // Only held requests are waited for, and a failed wait ends the reading.
  const waits: number[] = [];
  await deviceChecksum(replica, async (bytes) => void waits.push(bytes));
  expect(waits).toEqual([4 * MIB]);
  await expect(deviceChecksum(replica, () => Promise.reject(new Error('it is attached')))).rejects.toThrow(
    'attached',
  );
  expect(await replica.writtenBytes()).toBe(BLOCK);
});

test('trimmed space goes back to the file system', async () => {
  const replica = await create();
  await write(replica, 0, crypto.randomBytes(8 * MIB), FUA);
  await replica.writeZeroes(0, 8 * MIB, { ...FUA, mayPunch: true });
  const names = (await fs.readdir(replicaDirectory(disk, replicaId))).filter((name) => name.endsWith('.img'));
  const { blocks } = await fs.stat(path.join(replicaDirectory(disk, replicaId), names[0] ?? ''));
  expect(blocks * 512).toBeLessThan(MIB);
  expect(await replica.writtenBytes()).toBe(0);
});

async function create(sizeBytes = SIZE): Promise<Replica> {
  const volumeId = crypto.randomUUID();
  await Replica.create(disk, {
    replicaId,
    volumeId,
    diskId: volumeId,
    sizeBytes,
    secret: 'secret',
    record: null,
  });
  return reopen();
}

/** Opens the directory as it is now. Memory of another instance is not seen by this one, as after a crash. */
async function reopen(): Promise<Replica> {
  const replica = await Replica.open(disk, replicaId);
  open.push(replica);
  return replica;
}

async function write(replica: Replica, offset: number, data: Buffer, options = NO_FUA): Promise<void> {
  await replica.write(offset, [data], data.length, options);
}

async function read(replica: Replica, offset: number, lengthBytes: number): Promise<Buffer> {
  return contiguous(await replica.read(offset, lengthBytes));
}
