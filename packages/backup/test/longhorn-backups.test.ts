/** Longhorn's backupstore: what its real engine wrote, what is like it, and what is wrong with it. */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { lockVolume } from '../src/longhorn/backup-lock.js';
import { LonghornBackupstore, volumeFolder } from '../src/longhorn/backupstore.js';
import { copyReplica, openReplicaFolder } from '../src/longhorn/replica-folder.js';
import { changesBetween, restoreLonghornBackup } from '../src/longhorn/restore-backup.js';
import { openTarget } from '../src/store/open-target.js';
import { checksumOf, LonghornTarget, MIB } from './longhorn-target.js';

const REAL = fileURLToPath(new URL('./fixtures/longhorn', import.meta.url));
/** Whole volumes that the real engine wrote: 40 MiB, which stand beside the repository where they are at hand. */
const WHOLE =
  process.env.HOLDFAST_LONGHORN_FIXTURES ??
  fileURLToPath(new URL('../../../../shared/fixtures/longhorn', import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-backupstore-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const BLOCK = 2 * MIB;
let longhorn: LonghornTarget;
let backupstore: LonghornBackupstore;
beforeEach(() => {
  longhorn = new LonghornTarget('pvc-1');
  backupstore = new LonghornBackupstore(longhorn.target.connect());
});

class Image {
  readonly bytes: Buffer;
  constructor(sizeBytes: number) {
    this.bytes = Buffer.alloc(sizeBytes);
  }
  async write(offset: number, bytes: Buffer): Promise<void> {
    bytes.copy(this.bytes, offset);
  }
  async zero(offset: number, lengthBytes: number): Promise<void> {
    this.bytes.fill(0, offset, offset + lengthBytes);
  }
  sha256 = () => createHash('sha256').update(this.bytes).digest('hex');
}

async function restored(store: LonghornBackupstore, volumeName: string, backupName: string): Promise<Image> {
  const volume = await store.volume(volumeName);
  const image = new Image(volume.sizeBytes);
  await restoreLonghornBackup(store, volume, await store.backup(volumeName, backupName), image);
  return image;
}

describe('what the real engine wrote', () => {
  let store: LonghornBackupstore;
  beforeAll(async () => {
    store = new LonghornBackupstore(await openTarget(`vfs://${REAL}`));
  });

  test('is listed: volumes, and their complete backups', async () => {
    const { volumes, problems } = await store.volumes();
    expect(problems).toEqual([]);
    expect(volumes.map(({ name, sizeBytes, dataEngine }) => [name, sizeBytes, dataEngine])).toEqual([
      ['pvc-aurora', 32 * MIB, 'v1'],
      ['pvc-basalt', 32 * MIB, 'v1'],
    ]);
    const { backups } = await store.backups('pvc-aurora');
    expect(backups.map(({ name, snapshotName, blockBytes }) => [name, snapshotName, blockBytes])).toEqual([
      ['backup-00000000000000aa', 'snap-one', BLOCK],
      ['backup-00000000000000bb', 'snap-two', BLOCK],
    ]);
  });

  test.each(['pvc-aurora', 'pvc-basalt'])(
    'has blocks of %s that unpack to what their names say',
    async (name) => {
      let read = 0;
      for (const backup of (await store.backups(name)).backups)
        for (const block of backup.blocks) {
          const file = path.join(
            volumeFolder(name),
            'blocks',
            block.checksum.slice(0, 2),
            block.checksum.slice(2, 4),
          );
          // The larger blocks are left out of the repository.
          if (!fs.existsSync(path.join(REAL, file, `${block.checksum}.blk`))) continue;
          expect(checksumOf(await store.block(backup, block))).toBe(block.checksum);
          read += 1;
        }
      expect(read).toBeGreaterThanOrEqual(3);
    },
  );

  test('reads as the sums of whole volumes and replicas say, where those are at hand', async () => {
    const archives = fs.existsSync(WHOLE)
      ? fs.readdirSync(WHOLE).filter((name) => name.endsWith('.tar.gz'))
      : [];
    for (const archive of archives) {
      spawnSync('tar', ['-xzf', path.join(WHOLE, archive), '-C', folder]);
      const name = path.basename(archive, '.tar.gz');
      const at = path.join(folder, name);
      const { sha256 }: { sha256: Record<string, string> } = JSON.parse(
        fs.readFileSync(path.join(at, 'expected.json'), 'utf8'),
      );
      const whole = new LonghornBackupstore(await openTarget(`vfs://${at}/backupstore-target`));
      for (const { name: backup } of (await whole.backups(name)).backups)
        expect((await restored(whole, name, backup)).sha256()).toBe(sha256[backup]);
      const [replica = ''] = fs.readdirSync(path.join(at, 'replicas'));
      for (const layer of ['snap-one', 'snap-two', 'snap-three', 'volume-head']) {
        const options = layer === 'volume-head' ? {} : { snapshot: layer };
        const opened = await openReplicaFolder(path.join(at, 'replicas', replica), options);
        const image = new Image(opened.sizeBytes);
        await copyReplica(opened, image);
        expect(image.sha256()).toBe(sha256[layer]);
      }
      fs.rmSync(at, { recursive: true });
    }
  });
});

describe.each(['none', 'gzip', 'lz4'] as const)('a backup that is compressed by %s', (compression) => {
  test('reads as it was, zeros where it has no block', async () => {
    const [one, other] = [randomBytes(BLOCK), Buffer.alloc(BLOCK, 'text')];
    longhorn.backup('b1', { compression, blocks: { 0: one, [3 * BLOCK]: other } });
    const { bytes } = await restored(backupstore, 'pvc-1', 'b1');
    expect(bytes.equals(Buffer.concat([one, Buffer.alloc(2 * BLOCK), other]))).toBe(true);
  });
});

describe('a list of backups', () => {
  test('leaves out what is being made, and files that are being written', async () => {
    longhorn.backup('b1', { blocks: {} });
    longhorn.backup('b2', { blocks: {}, members: { CreatedTime: '' } });
    longhorn.put(`${longhorn.fileOf('b3')}.tmp.1767225600`, '{');
    const { backups, problems } = await backupstore.backups('pvc-1');
    expect(backups.map(({ name }) => name)).toEqual(['b1']);
    expect(problems).toEqual([]);
  });

  test('names the files that can not be read beside those that can', async () => {
    longhorn.backup('b1', { blocks: {} });
    longhorn.put(longhorn.fileOf('b2'), '{"Name":"b2","Blocks":[{"Offset":0,');
    const { backups, problems } = await backupstore.backups('pvc-1');
    expect(backups.map(({ name }) => name)).toEqual(['b1']);
    expect(problems).toEqual([{ file: 'b2', message: expect.stringContaining('backup_b2.cfg') }]);
  });

  test('reads what older versions left out: gzip, and blocks of 2 MiB', async () => {
    const bytes = Buffer.alloc(BLOCK, 'old');
    longhorn.backup('b1', {
      blocks: { 0: bytes },
      members: { CompressionMethod: undefined, Parameters: null },
    });
    expect((await restored(backupstore, 'pvc-1', 'b1')).bytes.subarray(0, BLOCK).equals(bytes)).toBe(true);
  });
});

describe('what is refused', () => {
  const UNSUPPORTED = 'longhorn_backup.unsupported';
  const DAMAGED = 'longhorn_backup.damaged';
  const block = Buffer.alloc(BLOCK, 'block');
  const blockFile = () => longhorn.blockFile(checksumOf(block));

  test.each([
    {
      name: 'a backup that is a single file',
      members: { SingleFile: { FilePath: 'x.bak' } },
      code: UNSUPPORTED,
    },
    { name: 'a backup that was never completed', members: { CreatedTime: '' }, code: UNSUPPORTED },
    {
      name: 'another block size',
      members: { Parameters: { 'backup-block-size': '3Mi' } },
      code: UNSUPPORTED,
    },
    { name: "another backup's file", members: { Name: 'b9' }, code: DAMAGED },
    {
      name: 'a block that begins within one',
      members: { Blocks: [{ Offset: 5, BlockChecksum: '0'.repeat(64) }] },
      code: DAMAGED,
    },
    {
      name: 'a checksum that is a path',
      members: { Blocks: [{ Offset: 0, BlockChecksum: '../../x' }] },
      code: DAMAGED,
    },
    {
      name: 'blocks out of order',
      members: {
        Blocks: [
          { Offset: BLOCK, BlockChecksum: '0'.repeat(64) },
          { Offset: 0, BlockChecksum: '0'.repeat(64) },
        ],
      },
      code: DAMAGED,
    },
  ])('$name', async ({ members, code }) => {
    longhorn.backup('b1', { blocks: {}, members });
    await expect(backupstore.backup('pvc-1', 'b1')).rejects.toMatchObject({ code });
  });

  test('a volume that stands on a backing image, by its name', async () => {
    longhorn.volume({ BackingImageName: '"ubuntu"' });
    longhorn.backup('b1', { blocks: {} });
    await expect(restored(backupstore, 'pvc-1', 'b1')).rejects.toThrow(/ubuntu/);
  });

  test.each([
    { name: 'missing', spoil: () => longhorn.target.objects.delete(blockFile()), says: /it is missing/ },
    { name: 'cut off', spoil: () => cut(blockFile()), says: /\.blk: / },
    { name: 'empty', spoil: () => longhorn.put(blockFile(), ''), says: /\.blk: / },
    { name: "another one's", spoil: () => longhorn.put(blockFile(), Buffer.alloc(BLOCK)), says: /\.blk: / },
  ])('a block whose file is $name, which is named', async ({ spoil, says }) => {
    for (const compression of ['gzip', 'lz4', 'none'] as const) {
      longhorn.backup('b1', { blocks: { 0: block }, compression });
      spoil();
      const failing = restored(backupstore, 'pvc-1', 'b1');
      await expect(failing).rejects.toMatchObject({ code: DAMAGED });
      await expect(failing).rejects.toThrow(says);
    }
  });

  test('a volume and a backup that are not there', async () => {
    await expect(backupstore.volume('pvc-2')).rejects.toMatchObject({ code: 'longhorn_backup.not_found' });
    await expect(backupstore.volume('../pvc-1')).rejects.toMatchObject({ code: 'longhorn_backup.not_found' });
    await expect(backupstore.backup('pvc-1', 'b7')).rejects.toMatchObject({
      code: 'longhorn_backup.not_found',
    });
  });

  function cut(name: string): void {
    const bytes = longhorn.target.objects.get(name)?.bytes ?? Buffer.alloc(0);
    longhorn.put(name, bytes.subarray(0, bytes.length - 20));
  }
});

test('what follows an older backup writes and zeroes what differs only', async () => {
  const [a, b, c] = [randomBytes(BLOCK), randomBytes(BLOCK), randomBytes(BLOCK)];
  longhorn.backup('b1', { blocks: { 0: a, [BLOCK]: b, [2 * BLOCK]: c } });
  longhorn.backup('b2', { blocks: { 0: a, [BLOCK]: c } });
  const [older, newer] = (await backupstore.backups('pvc-1')).backups;
  if (older === undefined || newer === undefined) throw new Error('both are there');
  const changes = changesBetween(older, newer);
  expect(changes).toEqual({ write: [{ offset: BLOCK, checksum: checksumOf(c) }], zero: [2 * BLOCK] });
  const image = new Image(8 * MIB);
  const volume = await backupstore.volume('pvc-1');
  await restoreLonghornBackup(backupstore, volume, older, image);
  await restoreLonghornBackup(backupstore, volume, newer, image, { older });
  expect(image.bytes.equals(Buffer.concat([a, c, Buffer.alloc(2 * BLOCK)]))).toBe(true);
});

describe('a lock', () => {
  const clock = { sleep: async () => undefined, randomHex: () => '00000000000000ff' };
  const file = (name: string) => `${volumeFolder('pvc-1')}locks/${name}.lck`;
  const deletion = (isAcquired: boolean) =>
    longhorn.put(file('lock-1'), JSON.stringify({ Name: 'lock-1', Type: 2, Acquired: isAcquired }));

  test('is taken while blocks are read, and given back', async () => {
    const lock = await lockVolume(longhorn.target.connect(), 'pvc-1', clock);
    const written = longhorn.target.objects.get(file('lock-00000000000000ff'))?.bytes.toString() ?? '';
    expect(JSON.parse(written)).toEqual({ Name: 'lock-00000000000000ff', Type: 1, Acquired: true });
    await lock.release();
    expect(longhorn.target.objects.has(file('lock-00000000000000ff'))).toBe(false);
  });

  test('is not taken while Longhorn deletes, and nothing of it stays', async () => {
    deletion(true);
    await expect(lockVolume(longhorn.target.connect(), 'pvc-1', clock)).rejects.toMatchObject({
      code: 'backup.busy',
    });
    expect(longhorn.target.objects.has(file('lock-00000000000000ff'))).toBe(false);
  });

  test('of a deletion that has died is not waited for', async () => {
    deletion(true);
    const object = longhorn.target.objects.get(file('lock-1'));
    if (object !== undefined) object.modifiedAt = new Date(Date.now() - 151_000);
    expect((await lockVolume(longhorn.target.connect(), 'pvc-1', clock)).isHeld).toBe(true);
  });

  test('is done without where the target may only be read', async () => {
    longhorn.target.isReadOnly = true;
    expect((await lockVolume(longhorn.target.connect(), 'pvc-1', clock)).isHeld).toBe(false);
  });
});
