/** `holdfast longhorn backups|restore|replica` and `holdfast backup-repository` as programs: what they make, print, and end with. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { volumeFolder } from '@holdfast/backup/longhorn/backupstore.js';
import { backupVolume } from '@holdfast/backup/repository/backup-volume.js';
import { Repository } from '@holdfast/backup/repository/repository.js';
import { FileStore } from '@holdfast/backup/store/file-store.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LonghornTarget, MIB } from '../../../../packages/backup/test/longhorn-target.js';
import { MemoryVolume } from '../../../../packages/backup/test/volumes.js';

const CLI = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-restore-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
const at = (...parts: string[]) => path.join(folder, ...parts);

function holdfast(args: readonly string[], more: Record<string, string> = {}) {
  const env = { PATH: process.env.PATH, HOME: folder, ...more };
  const { stdout, stderr, status } = spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8', env });
  return { stdout, stderr, status };
}

describe('of a Longhorn target', () => {
  const target = `vfs://${at('target')}`;
  const data = randomBytes(2 * MIB);
  const restore = (backup: string, to: string) =>
    holdfast(['longhorn', 'restore', target, 'pvc-1', backup, '--to', to]);

  beforeAll(() => {
    const longhorn = new LonghornTarget('pvc-1');
    longhorn.backup('b1', { blocks: { [4 * MIB]: data }, compression: 'lz4' });
    longhorn.backup('b2', { blocks: {}, members: { SingleFile: { FilePath: 'x' } } });
    for (const [name, { bytes }] of longhorn.target.objects) {
      fs.mkdirSync(path.dirname(at('target', name)), { recursive: true });
      fs.writeFileSync(at('target', name), bytes);
    }
  });

  test('volumes and backups are listed', () => {
    const volumes = holdfast(['longhorn', 'backups', target, '-o', 'json']);
    expect({ status: volumes.status, items: JSON.parse(volumes.stdout).items }).toMatchObject({
      status: 0,
      items: [{ name: 'pvc-1', sizeBytes: 8 * MIB }],
    });
    const backups = holdfast(['longhorn', 'backups', target, '--volume', 'pvc-1']);
    expect(backups).toMatchObject({ status: 0, stdout: expect.stringMatching(/^NAME.*\nb1 +snap-b1/) });
  });

  test('a backup becomes a sparse image, which is read back, and no file is replaced', () => {
    const { stdout, status } = holdfast([
      'longhorn',
      'restore',
      target,
      'pvc-1',
      'b1',
      '--to',
      at('image'),
      '-o',
      'json',
    ]);
    expect({ status, ...JSON.parse(stdout) }).toMatchObject({
      status: 0,
      schema: 'holdfast.longhorn.restore/1',
      sizeBytes: 8 * MIB,
      writtenBytes: 2 * MIB,
      warnings: [],
    });
    const image = fs.readFileSync(at('image'));
    expect(image.equals(Buffer.concat([Buffer.alloc(4 * MIB), data, Buffer.alloc(2 * MIB)]))).toBe(true);
    expect(fs.statSync(at('image')).blocks * 512).toBeLessThan(3 * MIB);
    expect(restore('b1', at('image')).status).toBe(2);
    expect(
      fs.readdirSync(at('target', volumeFolder('pvc-1'), 'locks').replace(/\/locks$/, '')),
    ).not.toContain('locks');
  });

  test.each([
    { name: 'a backup that is not there', backup: 'b9', wanted: 5 },
    { name: 'a single file', backup: 'b2', wanted: 2 },
  ])('$name ends with $wanted, and leaves no file', ({ backup, wanted }) => {
    expect(restore(backup, at('none')).status).toBe(wanted);
    expect(fs.existsSync(at('none'))).toBe(false);
  });

  test('a damaged block ends with 3, names its file, and leaves no file', () => {
    const [block = ''] = fs
      .readdirSync(at('target'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.blk'));
    fs.truncateSync(at('target', block), 1000);
    const { status, stderr } = restore('b1', at('none'));
    expect({ status, stderr }).toEqual({ status: 3, stderr: expect.stringContaining(path.basename(block)) });
    expect(fs.readdirSync(folder).filter((name) => name.includes('none'))).toEqual([]);
  });
});

describe("of a replica's folder", () => {
  test('an image is made, with a warning where the replica was not closed', () => {
    const meta = { Size: MIB, Head: 'volume-head-000.img', Dirty: true };
    fs.mkdirSync(at('replica'));
    fs.writeFileSync(at('replica', 'volume.meta'), JSON.stringify(meta));
    fs.writeFileSync(at('replica', 'volume-head-000.img.meta'), JSON.stringify({ Parent: '' }));
    const head = Buffer.concat([Buffer.alloc(4096, 'a'), Buffer.alloc(MIB - 4096)]);
    fs.writeFileSync(at('replica', 'volume-head-000.img'), head);
    const { stdout, status } = holdfast([
      'longhorn',
      'replica',
      at('replica'),
      '--to',
      at('copy'),
      '-o',
      'json',
    ]);
    expect({ status, ...JSON.parse(stdout) }).toMatchObject({
      status: 0,
      warnings: [expect.stringContaining('not closed')],
    });
    expect(fs.readFileSync(at('copy')).equals(head)).toBe(true);
    fs.writeFileSync(at('replica', 'volume.meta'), JSON.stringify({ ...meta, Rebuilding: true }));
    expect(holdfast(['longhorn', 'replica', at('replica'), '--to', at('none')])).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('being rebuilt'),
    });
  });
});

describe('of a backup repository', () => {
  const target = `file://${at('repository')}`;
  const secret = { HOLDFAST_BACKUP_PASSPHRASE: 'correct horse' };
  const ask = (verb: string, ...more: string[]) =>
    holdfast(['backup-repository', verb, target, ...more], secret);

  beforeAll(async () => {
    const store = new FileStore(at('repository'));
    const unlock = { kind: 'passphrase', passphrase: secret.HOLDFAST_BACKUP_PASSPHRASE } as const;
    const given = { store, unlock, now: () => new Date(), projectId: 'shop', hasConditionalPut: true };
    const repository = await Repository.create({ ...given, blockBytes: 65_536 });
    const source = MemoryVolume.of(randomBytes(MIB));
    await backupVolume(repository, {
      source,
      volumeId: 'v1',
      volumeName: 'pg-data',
      snapshotName: 'nightly',
    });
  });

  test('backups, figures and a verification are told', () => {
    expect(ask('list')).toMatchObject({ status: 0, stdout: expect.stringContaining('pg-data') });
    expect(JSON.parse(ask('stats', '-o', 'json').stdout)).toMatchObject({
      backups: 1,
      blobs: 17,
      volumeBytes: MIB,
    });
    expect(ask('verify')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/1 of 1 pack read.*: whole/),
    });
  });

  test('a wrong passphrase ends with 4, none with 2, and no repository with 5', () => {
    const wrong = { HOLDFAST_BACKUP_PASSPHRASE: 'wrong' };
    expect(holdfast(['backup-repository', 'list', target], wrong).status).toBe(4);
    expect(holdfast(['backup-repository', 'list', target]).status).toBe(2);
    expect(holdfast(['backup-repository', 'list', `file://${at('nowhere')}`], secret).status).toBe(5);
  });

  test('damage ends with 3, and names the backup', () => {
    const [pack = ''] = fs
      .readdirSync(at('repository'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\/p\d+$/.test(name));
    const bytes = fs.readFileSync(at('repository', pack));
    bytes.writeUInt8(bytes.readUInt8(5000) ^ 1, 5000);
    fs.writeFileSync(at('repository', pack), bytes);
    expect(ask('verify')).toMatchObject({ status: 3, stdout: expect.stringContaining('damaged: backup') });
  });
});
