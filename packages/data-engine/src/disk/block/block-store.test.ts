import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { CLUSTER_BYTES, MIB } from '@holdfast/core/model/bytes.js';
import { outputOf } from '@holdfast/testkit/nbd-tools.js';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Layer } from '../../layers/layer.js';
import { contiguous } from '../../nbd/export.js';
import type { CopyFile, CopyFiles, FileUse } from '../disk-store.js';
import { BlockDisk } from './block-disk.js';
import { BlockStore } from './block-store.js';
import { ClusterOwners } from './cluster-owners.js';
import { blockDiskAt, formatBlockDisk } from './format-block-disk.js';
import { abandonShared } from './shared-disks.js';

const BLOCK = 4096;
const SIZE_BYTES = 64 * MIB;
const random = new SeededRandom(1);
/** Ranges where the file holds data, as a layer's map would know them. */
let held: { from: number; to: number };
const DATA: FileUse = {
  kind: 'data',
  holds: (position, lengthBytes) => position < held.to && position + lengthBytes > held.from,
};
const MAP: FileUse = { kind: 'map' };

let folder: string;
let disk: string;
let stores: BlockStore[];

beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-block-'));
  disk = path.join(folder, 'disk');
  stores = [];
  held = { from: 0, to: 0 };
  await formatBlockDisk(disk, SIZE_BYTES);
});
afterEach(async () => {
  for (const store of stores) await store.close().catch(() => undefined);
  await fs.rm(folder, { recursive: true, force: true });
});

describe('an empty file becomes a block disk', () => {
  test('of the size that was asked for, with all its space', async () => {
    const { size, blocks } = await fs.stat(disk);
    expect([size, blocks * 512 >= SIZE_BYTES]).toEqual([SIZE_BYTES, true]);
    expect(await blockDiskAt(disk)).toBe((await open()).diskId);
  });

  test.each<{ name: string; head: Buffer; error: string }>([
    {
      name: 'a file system',
      head: Buffer.from('\u0053\u00ef', 'latin1'),
      error: 'something that is no block disk',
    },
    {
      name: 'a block disk with a damaged superblock',
      head: Buffer.from('HOLDFAST-BLOCKS\n'),
      error: 'damaged',
    },
  ])('but $name is not written to', async ({ head, error }) => {
    const file = path.join(folder, 'precious');
    await fs.writeFile(
      file,
      Buffer.concat([Buffer.alloc(head.length === 2 ? 1080 : 0), head, Buffer.alloc(40 * MIB)]),
    );
    const before = await fs.readFile(file);
    await expect(formatBlockDisk(file, SIZE_BYTES)).rejects.toThrow(error);
    await expect(BlockStore.open(file)).rejects.toMatchObject({ code: 'disk.wrong_identity' });
    expect((await fs.readFile(file)).equals(before)).toBe(true);
  });

  test('and a block disk is not formatted again', async () => {
    await expect(formatBlockDisk(disk, SIZE_BYTES)).rejects.toMatchObject({ code: 'disk.wrong_identity' });
  });

  test('one that is too small is refused', async () => {
    await expect(formatBlockDisk(path.join(folder, 'tiny'), MIB)).rejects.toMatchObject({
      code: 'disk.no_space',
    });
  });
});

describe('a file on a block disk', () => {
  test('holds what was written, at any offset, after it was reopened', async () => {
    const store = await open();
    const { id, files, data } = await makeCopy(store);
    const writes = [0, BLOCK, CLUSTER_BYTES - BLOCK, 5 * MIB, SIZE_BYTES - CLUSTER_BYTES].map((at) => ({
      at,
      bytes: random.bytes(at === 5 * MIB ? 3 * MIB : 2 * BLOCK),
    }));
    for (const { at, bytes } of writes) await data.write([bytes], at);
    await data.syncData();
    await data.close();
    await files.close();
    const again = await store.open(id);
    const file = await again.openFile('data', DATA);
    for (const { at, bytes } of writes.slice(1)) {
      expect((await read(file, at, bytes.length)).equals(bytes)).toBe(true);
    }
    expect(await again.readText('text')).toBe('first');
    expect(await file.sizeBytes()).toBe(SIZE_BYTES);
    await file.close();
    await again.close();
  });

  test('what was never written reads as zeros, though another copy had the space before', async () => {
    const store = await open();
    await soil(store);
    const { files } = await makeCopy(store);
    const map = await files.createFile('map', MIB, MAP);
    await map.write([Buffer.from('abc')], 100_001);
    const held = await read(map, 0, MIB);
    expect(held.subarray(100_001, 100_004).toString()).toBe('abc');
    expect(held.fill(0, 100_001, 100_004).every((byte) => byte === 0)).toBe(true);
  });

  test.each<{ name: string; from: number; count: number; mayPunch: boolean }>([
    { name: 'part of a cluster that has data', from: 1, count: 2, mayPunch: true },
    { name: 'a whole cluster that has data', from: 0, count: 16, mayPunch: true },
    { name: 'part of one that has none', from: 33, count: 2, mayPunch: true },
    { name: 'more than one, without giving space back', from: 8, count: 40, mayPunch: false },
  ])(
    'zeros over $name stay zeros when something is written beside them',
    async ({ from, count, mayPunch }) => {
      const store = await open();
      await soil(store);
      const { data } = await makeCopy(store);
      await data.write([random.bytes(CLUSTER_BYTES)], 0);
      await data.zero(from * BLOCK, count * BLOCK, mayPunch);
      held = { from: from * BLOCK, to: (from + count) * BLOCK };
      for (const block of [from - 1, from + count]) {
        if (block >= 0) await data.write([random.bytes(BLOCK)], block * BLOCK);
      }
      expect((await read(data, from * BLOCK, count * BLOCK)).every((byte) => byte === 0)).toBe(true);
    },
  );

  test('allocates one cluster for a concurrent write and zeroing', async () => {
    const store = await open();
    await soil(store);
    const { data } = await makeCopy(store);
    const bytes = random.bytes(BLOCK);
    await Promise.all([data.write([bytes], 0), data.zero(BLOCK, 2 * BLOCK, true)]);
    const held = await read(data, 0, 3 * BLOCK);
    expect(held.equals(Buffer.concat([bytes, Buffer.alloc(2 * BLOCK)]))).toBe(true);
  });

  test('frees whole clusters, once the change is durable', async () => {
    const store = await open();
    const { data } = await makeCopy(store);
    await data.write([random.bytes(8 * MIB)], 0);
    await data.syncData();
    const before = await store.freeBytes();
    await data.zero(0, 6 * MIB, true);
    expect(await store.freeBytes()).toBe(before);
    await data.syncData();
    await data.close();
    expect(await freed(store, before)).toBe(6 * MIB);
  });

  test('frees a given-up cluster only after the change is durable', async () => {
    const store = await open();
    const { data } = await makeCopy(store);
    await data.write([random.bytes(MIB)], 0);
    await data.syncData();
    const before = await store.freeBytes();
    // The cast: makes the disk as slow as this test wants.
    const { disk: slow } = store as unknown as { disk: BlockDisk };
    const sync = slow.sync.bind(slow);
    let goOn = () => undefined as unknown;
    const stuck = new Promise((resolve) => {
      goOn = () => resolve(undefined);
    });
    slow.sync = () => stuck.then(sync);
    await data.zero(0, MIB, true);
    const syncing = data.syncData();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await store.freeBytes()).toBe(before);
    goOn();
    await syncing;
    expect(await freed(store, before)).toBe(MIB);
  });

  test('frees a given-up cluster only after its last reader has ended', async () => {
    const store = await open();
    const { data } = await makeCopy(store);
    await data.write([random.bytes(MIB)], 0);
    await data.syncData();
    const before = await store.freeBytes();
    // The cast: makes the disk as slow as this test wants.
    const { direct } = (store as unknown as { disk: BlockDisk }).disk;
    const readInto = direct.readInto.bind(direct);
    let goOn = () => undefined as unknown;
    const stuck = new Promise((resolve) => {
      goOn = () => resolve(undefined);
    });
    direct.readInto = (buffer, position) => stuck.then(() => readInto(buffer, position));
    const reading = read(data, 0, BLOCK);
    await data.zero(0, MIB, true);
    await data.syncData();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await store.freeBytes()).toBe(before);
    goOn();
    await reading;
    expect(await freed(store, before)).toBe(MIB);
  });

  test('shows no earlier content of its space to a reader of a single layer', async () => {
    const store = await open();
    await soil(store);
    const { files } = await makeCopy(store);
    const layer = await Layer.create(files, 'layer', MIB);
    const bytes = random.bytes(BLOCK);
    await layer.write([bytes], 3 * BLOCK, BLOCK);
    const shown = contiguous(await layer.read(0, CLUSTER_BYTES));
    const expected = Buffer.alloc(CLUSTER_BYTES);
    bytes.copy(expected, 3 * BLOCK);
    expect(shown.equals(expected)).toBe(true);
    await layer.close();
  });

  test('that is removed frees its space', async () => {
    const store = await open();
    const empty = await store.freeBytes();
    const { id, files, data } = await makeCopy(store);
    await data.write([random.bytes(8 * MIB)], 0);
    await data.close();
    await files.keepOnly(new Set());
    await files.close();
    expect(await store.freeBytes()).toBeGreaterThan(empty - MIB);
    await store.remove(id);
    expect(await store.freeBytes()).toBe(empty);
  });

  test('has another change time after each change that follows a look at it', async () => {
    const store = await open();
    const { data } = await makeCopy(store);
    await data.write([random.bytes(BLOCK)], 0);
    const time = await data.changeTime();
    expect(await data.changeTime()).toBe(time);
    await data.zero(0, BLOCK, true);
    expect(await data.changeTime()).not.toBe(time);
  });
});

async function freed(store: BlockStore, before: number): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if ((await store.freeBytes()) !== before) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return (await store.freeBytes()) - before;
}

describe('a full block disk', () => {
  test('answers ENOSPC, still stores metadata of its copies, and takes data again when some was freed', async () => {
    const store = await open();
    const { data, files } = await makeCopy(store);
    const fill = async () => {
      const bytes = random.bytes(CLUSTER_BYTES);
      for (let at = 0; at < SIZE_BYTES; at += bytes.length) await data.write([bytes], at);
    };
    await expect(fill()).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(await store.freeBytes()).toBe(0);
    await data.syncData();
    await files.writeText('text', 'x'.repeat(3 * CLUSTER_BYTES));
    await expect(data.write([random.bytes(BLOCK)], SIZE_BYTES - BLOCK)).rejects.toMatchObject({
      code: 'ENOSPC',
    });
    await data.write([random.bytes(BLOCK)], 0);
    await data.zero(0, MIB, true);
    await data.syncData();
    await freed(store, 0);
    await data.write([random.bytes(BLOCK)], SIZE_BYTES - BLOCK);
  });
});

describe('two processes', () => {
  test('never allocate the same cluster', async () => {
    const disks = await Promise.all(
      [0, 1].map(async (index) => {
        const at = path.join(folder, `process-${index}`);
        await fs.symlink(disk, at);
        return BlockDisk.open(at, async () => undefined);
      }),
    );
    const taken = await Promise.all(
      disks.flatMap((one, slot) => {
        const owners = new ClusterOwners(one);
        return Array.from({ length: 20 }, () => owners.take(slot, 1, 16, 'data'));
      }),
    );
    const clusters = taken.flat();
    expect(new Set(clusters).size).toBe(clusters.length);
    for (const one of disks) await one.close();
  });

  test('never allocate the same space', async () => {
    const [one, two] = [await openElsewhere(), await openElsewhere()];
    const copies = await Promise.all([makeCopy(one.store), makeCopy(two.store)]);
    const contents = copies.map(() => random.bytes(12 * MIB));
    await Promise.all(
      copies.map(async ({ data }, index) => {
        for (let at = 0; at < 12 * MIB; at += CLUSTER_BYTES) {
          await data.write([(contents[index] ?? Buffer.alloc(0)).subarray(at, at + CLUSTER_BYTES)], at);
        }
        await data.syncData();
      }),
    );
    for (const [index, { data }] of copies.entries()) {
      expect((await read(data, 0, 12 * MIB)).equals(contents[index] ?? Buffer.alloc(0))).toBe(true);
    }
    const listed = await one.store.list();
    expect(listed).toEqual(copies.map(({ id }) => id).sort());
  });

  test('exclude each other from a copy; one that dies drops its lock', async () => {
    const { store, at } = await openElsewhere();
    const { id, data } = await makeCopy(store);
    await data.write([random.bytes(MIB)], 0);
    const other = (await openElsewhere()).store;
    const free = await other.freeBytes();
    let isOpen = false;
    const waiting = other.open(id).then((files) => {
      isOpen = true;
      return files;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isOpen).toBe(false);
    await abandonShared(at);
    const files = await waiting;
    // Clusters that the dead process had allocated without naming them are free again.
    expect(await other.freeBytes()).toBeGreaterThanOrEqual(free + MIB);
    await files.close();
  });

  test('one that dies while it creates a copy leaves nothing', async () => {
    const { store, at } = await openElsewhere();
    const free = await store.freeBytes();
    const id = crypto.randomUUID();
    const making = store.create(id, async (files) => {
      const file = await files.createFile('data', SIZE_BYTES, DATA);
      await file.write([random.bytes(MIB)], 0);
      await file.syncData();
      const watching = (await openElsewhere()).store;
      expect(await watching.list()).toEqual([]);
      await abandonShared(at);
      throw new Error('it died');
    });
    await expect(making).rejects.toThrow();
    const other = (await openElsewhere()).store;
    expect(await other.list()).toEqual([]);
    expect(await other.freeBytes()).toBe(free);
  });
});

/** Probed: a container may have the program and not the permission. */
function canMakeLoopDevices(): boolean {
  const file = path.join(os.tmpdir(), `holdfast-loop-${process.pid}`);
  writeFileSync(file, Buffer.alloc(MIB));
  try {
    const { stdout, status } = spawnSync('losetup', ['--find', '--show', file], { encoding: 'utf8' });
    if (status === 0) spawnSync('losetup', ['--detach', stdout.trim()]);
    return status === 0;
  } finally {
    rmSync(file);
  }
}

const onDevice = canMakeLoopDevices() ? test : test.skip;
onDevice('a device is a block disk as a file is', async () => {
  const file = path.join(folder, 'image');
  await fs.writeFile(file, '');
  await fs.truncate(file, SIZE_BYTES);
  const device = (await outputOf('losetup', '--find', '--show', file)).trim();
  try {
    await formatBlockDisk(device, 0);
    const store = await BlockStore.open(device);
    const { data, files } = await makeCopy(store);
    const bytes = random.bytes(2 * MIB);
    await data.write([bytes], MIB);
    await data.syncData();
    expect((await read(data, MIB, bytes.length)).equals(bytes)).toBe(true);
    await data.close();
    await files.close();
    await store.close();
  } finally {
    spawnSync('losetup', ['--detach', device]);
  }
});

async function open(at = disk): Promise<BlockStore> {
  const store = await BlockStore.open(at);
  stores.push(store);
  return store;
}

/** Opens the disk like another process: with locks and memory of its own. */
async function openElsewhere(): Promise<{ store: BlockStore; at: string }> {
  const at = path.join(folder, crypto.randomUUID());
  await fs.symlink(disk, at);
  return { store: await open(at), at };
}

async function makeCopy(store: BlockStore): Promise<{ id: string; files: CopyFiles; data: CopyFile }> {
  const id = crypto.randomUUID();
  await store.create(id, async (files) => {
    const file = await files.createFile('data', SIZE_BYTES, DATA);
    await file.close();
    await files.writeText('text', 'first');
  });
  const files = await store.open(id);
  return { id, files, data: await files.openFile('data', DATA) };
}

/** Leaves content other than zeros in all free space, like a removed copy. */
async function soil(store: BlockStore): Promise<void> {
  const { id, files, data } = await makeCopy(store);
  const free = (await store.freeBytes()) - CLUSTER_BYTES;
  for (let at = 0; at < free; at += MIB) {
    await data.write([Buffer.alloc(Math.min(MIB, free - at), 0xdd)], at);
  }
  await data.syncData();
  await data.close();
  await files.close();
  await store.remove(id);
}

async function read(file: CopyFile, position: number, lengthBytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(lengthBytes, 7);
  await file.readInto(buffer, position);
  return buffer;
}
