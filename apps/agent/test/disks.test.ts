import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { KnownDisks } from '../src/disks/known-disks.js';
import { canMount, copyFor, mountTmpfs, replicasOn, takeDisk, takeDisks } from './disk-setup.js';

const GIB = 2 ** 30;

let home: string;
let folder: string;

beforeEach(async () => {
  home = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-disks-'));
  folder = path.join(home, 'disk');
});
afterEach(async () => {
  spawnSync('umount', [folder], { stdio: 'ignore' });
  await fs.rm(home, { recursive: true, force: true });
});

/** Adopts the folder as an agent does when it starts. */
const take = () => takeDisk(home, { type: 'filesystem', path: folder, sizeBytes: GIB });

describe('a disk', () => {
  test('is itself again after a restart', async () => {
    const { diskId } = await take();
    expect((await take()).diskId).toBe(diskId);
    expect(await (await take()).report(0)).toMatchObject({ diskId, ready: true, reason: '' });
  });

  test.each<{ name: string; harm: () => Promise<unknown>; reason: string }>([
    {
      name: 'is gone (its folder is an empty mount point)',
      harm: async () => {
        await fs.rm(folder, { recursive: true });
        await fs.mkdir(folder);
      },
      reason: 'DiskMissing',
    },
    {
      name: 'is gone with its folder',
      harm: () => fs.rm(folder, { recursive: true }),
      reason: 'DiskMissing',
    },
    {
      name: 'was swapped for another',
      harm: () => fs.writeFile(identityFile(), JSON.stringify({ format: 1, diskId: crypto.randomUUID() })),
      reason: 'DiskSwapped',
    },
    { name: 'has a damaged identity', harm: () => fs.writeFile(identityFile(), '{'), reason: 'DiskSwapped' },
  ])(
    'that $name is reported, and nothing is written there, also after a restart',
    async ({ harm, reason }) => {
      const disk = await take();
      await harm();
      const restarted = reason === 'DiskMissing' ? [disk, await take()] : [disk];
      for (const one of restarted) {
        expect(await one.report(0)).toMatchObject({ diskId: disk.diskId, ready: false, reason });
        await expect(replicasOn(one).create(copyFor(one))).rejects.toMatchObject({ code: 'disk.not_ready' });
      }
      const left = await fs.readdir(folder).catch(() => []);
      expect(left.filter((name) => name !== path.basename(identityFile()))).toEqual([]);
    },
  );

  test('that returns brings its copies back', async () => {
    const disk = await take();
    const spec = copyFor(disk);
    await replicasOn(disk).create(spec);
    const elsewhere = `${folder}-away`;
    await fs.rename(folder, elsewhere);
    const replicas = replicasOn(await take());
    expect(await replicas.reports()).toEqual([]);
    await fs.rename(elsewhere, folder);
    expect((await replicas.reports()).map(({ replicaId }) => replicaId)).toEqual([spec.replicaId]);
  });

  test('that was taken over twice is refused', async () => {
    await take();
    const twin = path.join(home, 'twin');
    await fs.cp(folder, twin, { recursive: true });
    const known = await KnownDisks.load(path.join(home, 'state'));
    const both = [folder, twin].map((at) => ({ type: 'filesystem' as const, path: at, sizeBytes: GIB }));
    await expect(takeDisks(both, known)).rejects.toMatchObject({
      code: 'disk.wrong_identity',
    });
  });
});

const onMount = canMount() ? test : test.skip;

describe('a file system', () => {
  onMount('that is read-only is reported, and refused for new copies', async () => {
    await fs.mkdir(folder);
    mountTmpfs(folder, 'size=32m');
    const disk = await take();
    spawnSync('mount', ['-o', 'remount,ro', folder]);
    expect(await disk.report(0)).toMatchObject({ ready: false, reason: 'DiskReadOnly' });
    await expect(replicasOn(disk).create(copyFor(disk))).rejects.toMatchObject({ code: 'disk.not_ready' });
  });

  onMount('that is full is reported, and stays in use', async () => {
    await fs.mkdir(folder);
    mountTmpfs(folder, 'size=18m');
    const disk = await take();
    expect(await disk.report(0)).toMatchObject({ ready: true, reason: '' });
    await fs.writeFile(path.join(folder, 'ballast'), Buffer.alloc(4 * 2 ** 20));
    expect(await disk.report(0)).toMatchObject({ ready: true, reason: 'DiskFull' });
  });
});

function identityFile(): string {
  return path.join(folder, 'holdfast-disk.json');
}

describe('an orphan', () => {
  const reported = async (replicas: ReturnType<typeof replicasOn>) => {
    const [report] = await replicas.reports();
    if (report === undefined) throw new Error('no copy was reported');
    const { replicaId, volumeId, diskId, record } = report;
    return { replicaId, ask: { volumeId, diskId, record } };
  };

  test('is removed as it was reported, and once more', async () => {
    const disk = await take();
    const replicas = replicasOn(disk);
    await replicas.create(copyFor(disk));
    const { replicaId, ask } = await reported(replicas);
    await replicas.removeOrphan(replicaId, ask);
    expect(await replicas.reports()).toEqual([]);
    expect(await disk.replicaIds()).toEqual([]);
    await replicas.removeOrphan(replicaId, ask);
  });

  test.each<[string, object]>([
    ['of another volume', { volumeId: crypto.randomUUID() }],
    ['on another disk', { diskId: crypto.randomUUID() }],
    ['with another record', { record: { epoch: 1, dataGeneration: 0, members: [] } }],
  ])('that is by now one %s stays', async (_name, other) => {
    const disk = await take();
    const replicas = replicasOn(disk);
    await replicas.create(copyFor(disk));
    const { replicaId, ask } = await reported(replicas);
    const removal = replicas.removeOrphan(replicaId, { ...ask, ...other });
    await expect(removal).rejects.toMatchObject({ code: 'agent.refused' });
    expect(await disk.replicaIds()).toEqual([replicaId]);
  });

  test('on a disk that is not in its place stays', async () => {
    const disk = await take();
    const replicas = replicasOn(disk);
    await replicas.create(copyFor(disk));
    const { replicaId, ask } = await reported(replicas);
    await fs.rename(folder, `${folder}.away`);
    await expect(replicas.removeOrphan(replicaId, ask)).rejects.toMatchObject({ code: 'disk.not_ready' });
    await fs.rename(`${folder}.away`, folder);
    expect(await disk.replicaIds()).toEqual([replicaId]);
    await replicas.removeOrphan(replicaId, ask);
    expect(await disk.replicaIds()).toEqual([]);
  });
});
