/** What is not the repository's own work is refused with a stable code, and nothing of it is restored. */
import { randomBytes } from 'node:crypto';
import { FakeTarget } from '@holdfast/testkit/fake-target.js';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { BackupSummary } from '../src/model/format.js';
import { CONFIGURATION, DATA_PREFIX, journalName, packOfObject } from '../src/model/names.js';
import { backupVolume } from '../src/repository/backup-volume.js';
import { deleteBackup } from '../src/repository/prune.js';
import { Repository } from '../src/repository/repository.js';
import { BLOCK, createRepository, facts, MemoryVolume, openRepository, restored, unlock } from './volumes.js';

const now = () => new Date();
let target: FakeTarget;
let repository: Repository;
let backup: BackupSummary;

beforeEach(async () => {
  target = new FakeTarget();
  repository = await createRepository(target.connect());
  backup = await backupVolume(repository, { ...facts, source: MemoryVolume.of(randomBytes(40 * BLOCK)) });
});

const names = (is: (name: string) => boolean) => [...target.objects.keys()].filter(is).sort();
const bytesOf = (name: string) => target.objects.get(name)?.bytes ?? Buffer.alloc(0);
const put = (name: string, bytes: Buffer) => target.objects.set(name, { bytes, modifiedAt: now() });
const packs = () => names((name) => packOfObject(name) !== undefined);
const indexes = () => names((name) => /\/i\d+$/.test(name));

describe('keys', () => {
  const passphrase = (text: string) => ({ kind: 'passphrase', passphrase: text }) as const;

  test('a wrong passphrase opens nothing, and the right one does, however it was typed', async () => {
    const store = new FakeTarget().connect();
    const given = { store, now, projectId: 'p', hasConditionalPut: true };
    await Repository.create({ ...given, unlock: passphrase('Schlüssel') });
    await expect(Repository.open({ store, now, unlock: passphrase('Schlussel') })).rejects.toMatchObject({
      code: 'backup.wrong_key',
    });
    const decomposed = passphrase('Schlüssel'.normalize('NFD'));
    expect((await Repository.open({ store, now, unlock: decomposed })).facts.projectId).toBe('p');
  });

  test('a key service that returns another key opens nothing', async () => {
    const other = { ...unlock, unwrap: async () => randomBytes(32) };
    await expect(Repository.open({ store: target.connect(), now, unlock: other })).rejects.toMatchObject({
      code: 'backup.damaged',
    });
  });
});

describe('the configuration', () => {
  const changed = (change: object) =>
    put(
      CONFIGURATION,
      Buffer.from(JSON.stringify({ ...JSON.parse(bytesOf(CONFIGURATION).toString()), ...change })),
    );

  test.each([
    { name: 'with another block size', change: { blockBytes: 2 * BLOCK }, code: 'backup.damaged' },
    { name: "with another project's name", change: { projectId: 'project-2' }, code: 'backup.damaged' },
    { name: 'of a newer format', change: { version: 2 }, code: 'backup.repository_newer' },
    { name: 'of no form at all', change: { repositoryId: 7 }, code: 'backup.damaged' },
  ])('$name is refused', async ({ change, code }) => {
    changed(change);
    await expect(openRepository(target.connect())).rejects.toMatchObject({ code });
  });

  test("of another project is refused, whoever has its key, and a target without one isn't one", async () => {
    const given = { unlock, now, projectId: 'project-2' };
    await expect(Repository.open({ ...given, store: target.connect() })).rejects.toMatchObject({
      code: 'backup.repository_foreign',
    });
    await expect(Repository.open({ ...given, store: new FakeTarget().connect() })).rejects.toMatchObject({
      code: 'backup.repository_not_found',
    });
  });

  test('is never replaced by another creation', async () => {
    await expect(createRepository(target.connect())).rejects.toMatchObject({
      code: 'backup.repository_exists',
    });
  });
});

describe('bytes at the target', () => {
  test('of a pack that were changed are not restored', async () => {
    const [pack = ''] = packs();
    bytesOf(pack).writeUInt8(bytesOf(pack).readUInt8(1000) ^ 1, 1000);
    await expect(restored(repository, backup.id)).rejects.toMatchObject({ code: 'backup.damaged' });
  });

  test('of a pack that was cut off are not restored', async () => {
    const [pack = ''] = packs();
    put(pack, bytesOf(pack).subarray(0, 5000));
    await expect(restored(repository, backup.id)).rejects.toMatchObject({ code: 'backup.damaged' });
  });

  test('of two exchanged packs are not restored', async () => {
    const [one = '', other = ''] = packs();
    const [oneBytes, otherBytes] = [bytesOf(one), bytesOf(other)];
    put(one, otherBytes);
    put(other, oneBytes);
    await expect(restored(repository, backup.id)).rejects.toMatchObject({ code: 'backup.damaged' });
  });

  test('of an index that stands in for another one are refused', async () => {
    await backupVolume(repository, { ...facts, source: MemoryVolume.of(randomBytes(BLOCK)) });
    const [one = '', other = ''] = indexes();
    put(one, bytesOf(other));
    await expect(openRepository(target.connect())).rejects.toMatchObject({ code: 'backup.damaged' });
  });

  test('of an old index under a new name are refused', async () => {
    const [old = ''] = indexes();
    await backupVolume(repository, { ...facts, source: MemoryVolume.of(randomBytes(BLOCK)) });
    const fresh = indexes().find((name) => name !== old) ?? '';
    put(fresh, bytesOf(old));
    await expect(openRepository(target.connect())).rejects.toMatchObject({ code: 'backup.damaged' });
  });

  test('of an older record of the journal in place of a newer one are refused', async () => {
    put(journalName(2), bytesOf(journalName(1)));
    await expect(openRepository(target.connect())).rejects.toMatchObject({ code: 'backup.damaged' });
  });

  test("of another repository's journal are refused, whoever has both keys", async () => {
    const other = new FakeTarget();
    const foreign = await createRepository(other.connect());
    const { id } = await backupVolume(foreign, { ...facts, source: MemoryVolume.of(randomBytes(BLOCK)) });
    await expect(restored(repository, id)).rejects.toMatchObject({ code: 'backup.not_found' });
    for (const [name, object] of other.objects) if (name !== CONFIGURATION) target.objects.set(name, object);
    await expect(openRepository(target.connect())).rejects.toMatchObject({ code: 'backup.damaged' });
  });
});

describe('an older state of the whole repository', () => {
  test('is refused to a caller that remembers a newer one', async () => {
    const older = new Map(target.objects);
    const { id } = await backupVolume(repository, { ...facts, source: MemoryVolume.of(randomBytes(BLOCK)) });
    const { head: trusted } = repository.journal;
    const given = { unlock, now, trusted };
    expect((await Repository.open({ ...given, store: target.connect() })).state.backups.has(id)).toBe(true);
    const replayed = new FakeTarget();
    for (const [name, object] of older) replayed.objects.set(name, object);
    await expect(Repository.open({ ...given, store: replayed.connect() })).rejects.toMatchObject({
      code: 'backup.repository_rolled_back',
    });
  });

  test('is refused also where it was continued otherwise', async () => {
    const { head } = repository.journal;
    const store = target.connect();
    const trusted = { ...head, digest: '0'.repeat(64) };
    await expect(Repository.open({ store, unlock, now, trusted })).rejects.toMatchObject({
      code: 'backup.repository_rolled_back',
    });
  });
});

describe('a deletion', () => {
  test('of a locked backup is refused until its time', async () => {
    const lockedUntil = new Date(Date.now() + 3_600_000);
    const source = MemoryVolume.of(randomBytes(BLOCK));
    const { id } = await backupVolume(repository, { ...facts, source, lockedUntil });
    await expect(deleteBackup(repository, id)).rejects.toMatchObject({ code: 'backup.locked' });
    await deleteBackup(repository, backup.id);
    expect([...repository.state.backups.keys()]).toEqual([id]);
  });

  test('of what is not there is refused', async () => {
    await expect(deleteBackup(repository, 'nothing')).rejects.toMatchObject({ code: 'backup.not_found' });
  });
});

test('nothing at the target shows the content, its name, or which blocks are equal', async () => {
  const text = Buffer.alloc(BLOCK, 'a secret of the shop ');
  await backupVolume(repository, { ...facts, source: MemoryVolume.of(Buffer.concat([text, text])) });
  for (const name of names((one) => one.startsWith(DATA_PREFIX) || one.startsWith('journal')))
    for (const word of ['a secret of the shop', 'pg-data', 'nightly'])
      expect(bytesOf(name).includes(word)).toBe(false);
});
