import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { formatBlockDisk } from '@holdfast/data-engine/disk/block/format-block-disk.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { canMount, copyFor, mountTmpfs, replicasOn, takeDisk } from './disk-setup.js';

const SIZE_BYTES = 64 * MIB;

let home: string;
let file: string;

beforeEach(async () => {
  home = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-block-disks-'));
  file = path.join(home, 'disks', 'block');
});
afterEach(() => fs.rm(home, { recursive: true, force: true }));

/** Adopts the disk as an agent does when it starts. */
const take = (at = file) => takeDisk(home, { type: 'block', path: at, sizeBytes: SIZE_BYTES });

describe('a block disk', () => {
  test('is made where there is nothing, and is itself again after a restart', async () => {
    const { diskId } = await take();
    const disk = await take();
    expect(disk.diskId).toBe(diskId);
    const report = await disk.report(0);
    expect(report).toMatchObject({ diskId, type: 'block', ready: true, reason: '' });
    expect(report.availableBytes).toBe(report.maximumBytes);
    expect(report.maximumBytes).toBeGreaterThan(SIZE_BYTES * 0.9);
  });

  test.each<{ name: string; content: () => Buffer }>([
    { name: 'a file system', content: () => Buffer.concat([Buffer.alloc(1080, 0), Buffer.alloc(MIB, 1)]) },
    {
      name: 'data in its first block',
      content: () => Buffer.concat([Buffer.from('x'), Buffer.alloc(40 * MIB)]),
    },
  ])('is not made of a file with $name', async ({ content }) => {
    await fs.mkdir(path.dirname(file));
    const before = content();
    await fs.writeFile(file, before);
    await expect(take()).rejects.toMatchObject({ code: 'disk.wrong_identity' });
    expect((await fs.readFile(file)).equals(before)).toBe(true);
  });

  test.each<{ name: string; harm: () => Promise<unknown>; reason: string }>([
    { name: 'is gone', harm: () => fs.rm(file), reason: 'DiskMissing' },
    {
      name: 'was emptied',
      harm: async () => {
        await fs.rm(file);
        await fs.writeFile(file, Buffer.alloc(SIZE_BYTES));
      },
      reason: 'DiskMissing',
    },
    {
      name: 'was swapped for another',
      harm: async () => {
        await fs.rm(file);
        await formatBlockDisk(file, SIZE_BYTES);
      },
      reason: 'DiskSwapped',
    },
    {
      name: 'has a damaged superblock',
      harm: async () => {
        const handle = await fs.open(file, 'r+');
        await handle.write(Buffer.from('x'), 0, 1, 100);
        await handle.close();
      },
      reason: 'DiskSwapped',
    },
    { name: 'is a folder now', harm: () => fs.rm(file).then(() => fs.mkdir(file)), reason: 'DiskUnreadable' },
  ])(
    'that $name is reported, and nothing is written there, also after a restart',
    async ({ harm, reason }) => {
      const disk = await take();
      expect(await disk.report(0)).toMatchObject({ ready: true });
      await harm();
      const isFile = (await fs.stat(file).catch(() => undefined))?.isFile() ?? false;
      const before = isFile ? await fs.readFile(file) : undefined;
      for (const one of [disk, await take()]) {
        expect(await one.report(0)).toMatchObject({ diskId: disk.diskId, ready: false, reason });
        await expect(replicasOn(one).create(copyFor(one))).rejects.toMatchObject({ code: 'disk.not_ready' });
      }
      if (before !== undefined) expect((await fs.readFile(file)).equals(before)).toBe(true);
    },
  );

  (canMount() ? test : test.skip)('that is read-only is reported, and refused for new copies', async () => {
    const folder = path.dirname(file);
    await fs.mkdir(folder);
    mountTmpfs(folder, 'size=80m');
    try {
      const disk = await take();
      spawnSync('mount', ['-o', 'remount,ro', folder]);
      expect(await disk.report(0)).toMatchObject({ ready: false, reason: 'DiskReadOnly' });
      await expect(replicasOn(disk).create(copyFor(disk))).rejects.toMatchObject({ code: 'disk.not_ready' });
    } finally {
      spawnSync('umount', [folder]);
    }
  });

  test('that returns brings its copies back', async () => {
    const disk = await take();
    const spec = copyFor(disk);
    await replicasOn(disk).create(spec);
    await fs.rename(file, `${file}-away`);
    expect(await disk.report(0)).toMatchObject({ ready: false });
    const replicas = replicasOn(await take());
    expect(await replicas.reports()).toEqual([]);
    await fs.rename(`${file}-away`, file);
    // A report does not wait for a disk that takes long to open.
    await eventually(
      'the copy is reported again',
      async () => (await replicas.reports()).map(({ replicaId }) => replicaId),
      (reported) => reported.includes(spec.replicaId),
    );
  });

  test('that is full is reported, and stays in use', async () => {
    const disk = await take();
    const store = await disk.store();
    await store.create(crypto.randomUUID(), async (files) => {
      const use = { kind: 'data', holds: () => false } as const;
      const data = await files.createFile('data', SIZE_BYTES, use);
      for (let at = 0; at < 50 * MIB; at += MIB) await data.write([Buffer.alloc(MIB, 1)], at);
      await data.close();
    });
    expect(await disk.report(0)).toMatchObject({ ready: true, reason: 'DiskFull' });
  });

  test('gives the space of a removed copy back', async () => {
    const disk = await take();
    const replicas = replicasOn(disk);
    const before = await (await disk.store()).usedBytes();
    const spec = copyFor(disk);
    await replicas.create(spec);
    expect((await replicas.reports()).map(({ replicaId }) => replicaId)).toEqual([spec.replicaId]);
    await replicas.remove(spec.replicaId);
    expect(await replicas.reports()).toEqual([]);
    expect(await (await disk.store()).usedBytes()).toBe(before);
  });
});
