/** A repository in use: what is uploaded, read again, freed and mended. */
import { randomBytes } from 'node:crypto';
import { FakeTarget } from '@holdfast/testkit/fake-target.js';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { packObject, packOfObject } from '../src/model/names.js';
import { BackupReader } from '../src/repository/backup-reader.js';
import { backupVolume } from '../src/repository/backup-volume.js';
import { deleteBackup, prune } from '../src/repository/prune.js';
import { repair } from '../src/repository/repair.js';
import { Repository } from '../src/repository/repository.js';
import { listBackups, stats } from '../src/repository/stats.js';
import { verify } from '../src/repository/verify.js';
import { ThreadedCoder } from '../src/threads/threaded-coder.js';
import { BLOCK, createRepository, facts, MemoryVolume, openRepository, restored, unlock } from './volumes.js';

const HASTY = { graceMs: 0, orphanAgeMs: 0 };
let target: FakeTarget;
let repository: Repository;

beforeEach(async () => {
  target = new FakeTarget();
  repository = await createRepository(target.connect());
});

const packs = () => [...target.objects.keys()].filter((name) => packOfObject(name) !== undefined);
const backUp = (bytes: Buffer) => backupVolume(repository, { ...facts, source: MemoryVolume.of(bytes) });

describe('a backup', () => {
  test('of a volume whose last block is a part, with holes, is read back as it was', async () => {
    const bytes = Buffer.concat([randomBytes(3 * BLOCK), Buffer.alloc(5 * BLOCK), randomBytes(700)]);
    const backup = await backUp(bytes);
    expect(backup).toMatchObject({ sizeBytes: bytes.length, dataBytes: 4 * BLOCK });
    expect((await restored(await openRepository(target.connect()), backup.id)).equals(bytes)).toBe(true);
  });

  test('has each range read as it was, also across blocks and holes', async () => {
    const bytes = Buffer.concat([randomBytes(2 * BLOCK), Buffer.alloc(BLOCK), randomBytes(2 * BLOCK)]);
    const reader = await BackupReader.open(repository, (await backUp(bytes)).id);
    for (const [offset, length] of [
      [0, 10],
      [BLOCK - 5, 10],
      [2 * BLOCK - 1, BLOCK + 2],
      [0, bytes.length],
    ] as const)
      expect((await reader.read(offset, length)).equals(bytes.subarray(offset, offset + length))).toBe(true);
  });

  test('of content that is there already uploads its map only', async () => {
    const bytes = randomBytes(20 * BLOCK);
    await backUp(bytes);
    const again = await backUp(Buffer.concat([bytes, bytes]));
    expect(again.addedBytes).toBeLessThan(3 * BLOCK);
    expect((await restored(repository, again.id)).equals(Buffer.concat([bytes, bytes]))).toBe(true);
  });

  test('that builds on another one reads what was changed only, and needs it no more', async () => {
    const bytes = randomBytes(30 * BLOCK);
    const base = await backUp(bytes);
    bytes.fill('changed', 7 * BLOCK, 8 * BLOCK);
    const source = MemoryVolume.of(Buffer.concat([bytes, randomBytes(BLOCK)]));
    const changed = [{ offset: 7 * BLOCK + 5, lengthBytes: 10 }];
    const next = await backupVolume(repository, { ...facts, source, base: { backupId: base.id, changed } });
    expect(source.reads).toBe(2);
    await deleteBackup(repository, base.id);
    await prune(repository, HASTY);
    await prune(repository, HASTY);
    expect((await restored(repository, next.id)).equals(source.bytes)).toBe(true);
  });

  test('that was made already under its id is not made again', async () => {
    const source = MemoryVolume.of(randomBytes(BLOCK));
    const first = await backupVolume(repository, { ...facts, source, backupId: 'b1' });
    const again = await backupVolume(repository, { ...facts, source, backupId: 'b1' });
    expect(again.createdAt).toBe(first.createdAt);
    expect(listBackups(repository)).toHaveLength(1);
  });

  test('that was cut short finds what it has stored when it is made again', async () => {
    const source = MemoryVolume.of(randomBytes(60 * BLOCK));
    const cut = new AbortController();
    const failing = backupVolume(repository, {
      ...facts,
      source,
      tellEveryPacks: 1,
      signal: cut.signal,
      onProgress: ({ readBytes }) => {
        if (readBytes >= 50 * BLOCK) cut.abort();
      },
    });
    await expect(failing).rejects.toThrow(/aborted/);
    repository = await openRepository(target.connect());
    const again = await backupVolume(repository, { ...facts, source });
    expect(again.addedBytes).toBeLessThan(40 * BLOCK);
    expect((await restored(repository, again.id)).equals(source.bytes)).toBe(true);
  });

  test('of many blocks has its map in several segments', async () => {
    const bytes = Buffer.alloc(2500 * BLOCK);
    for (const block of [0, 1023, 1024, 2499]) bytes.writeUInt32LE(block + 1, block * BLOCK);
    const backup = await backUp(bytes);
    expect((await restored(repository, backup.id)).equals(bytes)).toBe(true);
  });

  test('computed on threads is the same', async () => {
    const coder = new ThreadedCoder(2);
    const threaded = await Repository.open({ store: target.connect(), unlock, now: () => new Date(), coder });
    const bytes = Buffer.concat([randomBytes(20 * BLOCK), Buffer.alloc(20 * BLOCK, 'text')]);
    const { id } = await backupVolume(threaded, { ...facts, source: MemoryVolume.of(bytes) });
    expect((await restored(threaded, id)).equals(bytes)).toBe(true);
    await coder.close();
    await repository.refresh();
    expect((await restored(repository, id)).equals(bytes)).toBe(true);
  });
});

describe('a prune', () => {
  test('frees what only deleted backups used, after its grace', async () => {
    const kept = randomBytes(10 * BLOCK);
    const { id } = await backUp(kept);
    const gone = await backUp(randomBytes(40 * BLOCK));
    const before = target.usedBytes();
    await deleteBackup(repository, gone.id);
    const first = await prune(repository, { ...HASTY, graceMs: 3_600_000 });
    expect(first.condemnedPacks).toBeGreaterThan(4);
    expect(target.usedBytes()).toBeGreaterThan(before - 10 * BLOCK);
    await prune(repository, HASTY);
    expect(target.usedBytes()).toBeLessThan(before - 35 * BLOCK);
    expect((await restored(await openRepository(target.connect()), id)).equals(kept)).toBe(true);
  });

  test('of an untouched repository changes nothing', async () => {
    await backUp(randomBytes(10 * BLOCK));
    await prune(repository, HASTY);
    const { sequence } = repository.state;
    expect(await prune(repository, HASTY)).toMatchObject({ condemnedPacks: 0, deletedObjects: 0 });
    expect(repository.state.sequence).toBe(sequence);
  });

  test('copies what is in use out of packs that are nearly empty', async () => {
    const shared = randomBytes(BLOCK);
    const gone = await backUp(Buffer.concat([shared, randomBytes(20 * BLOCK)]));
    const { id } = await backUp(shared);
    await deleteBackup(repository, gone.id);
    const report = await prune(repository, HASTY);
    expect(report.copiedBytes).toBeGreaterThanOrEqual(BLOCK);
    expect(packs().length).toBeLessThanOrEqual(2);
    expect((await restored(repository, id)).equals(shared)).toBe(true);
  });

  test('leaves a condemned pack that a later backup uses', async () => {
    const bytes = randomBytes(8 * BLOCK);
    const gone = await backUp(bytes);
    const writer = await openRepository(target.connect());
    await deleteBackup(repository, gone.id);
    await prune(repository, { ...HASTY, graceMs: 3_600_000 });
    const again = await backupVolume(writer, { ...facts, source: MemoryVolume.of(bytes) });
    expect(again.addedBytes).toBeLessThan(BLOCK);
    const rescued = writer.blobs.find([...writer.blobs.entries()][0]?.id ?? Buffer.alloc(32))?.pack;
    expect(repository.state.condemned.has(rescued ?? '')).toBe(true);
    await repository.refresh();
    expect(repository.state.condemned.has(rescued ?? '')).toBe(false);
    await prune(repository, HASTY);
    expect((await restored(repository, again.id)).equals(bytes)).toBe(true);
  });

  test('leaves locked objects, and frees them later', async () => {
    target.hasObjectLock = true;
    repository = await openRepository(target.connect());
    const lockedUntil = new Date(Date.now() + 1000);
    const source = MemoryVolume.of(randomBytes(8 * BLOCK));
    const { id } = await backupVolume(repository, { ...facts, source, lockedUntil });
    const late = await Repository.open({
      store: target.connect(),
      unlock,
      now: () => new Date(lockedUntil.getTime() + 1),
    });
    for (const object of target.objects.values()) object.lockedUntil &&= new Date(Date.now() + 3_600_000);
    await deleteBackup(late, id);
    expect(await prune(late, HASTY)).toMatchObject({ lockedObjects: expect.any(Number) });
    expect(packs().length).toBeGreaterThan(0);
    for (const object of target.objects.values()) object.lockedUntil = undefined;
    await prune(late, HASTY);
    expect(packs()).toEqual([]);
  });
});

describe('damage', () => {
  test('is found by reading back, named by backup, and healed by the next backup after a repair', async () => {
    const bytes = randomBytes(30 * BLOCK);
    const whole = await backUp(randomBytes(4 * BLOCK));
    const hurt = await backUp(bytes);
    expect(await verify(repository)).toMatchObject({ damagedBlobs: [], damagedBackups: [] });
    const pack =
      repository.blobs.find([...repository.blobs.entries()].at(-20)?.id ?? Buffer.alloc(32))?.pack ?? '';
    target.objects.get(packObject(pack))?.bytes.fill(0, 9000, 9100);
    const report = await verify(repository);
    expect(report.damagedBlobs.length).toBeGreaterThan(0);
    expect(report.damagedBackups.map(({ backupId }) => backupId)).toEqual([hurt.id]);
    expect((await repair(repository)).damagedBackups.map(({ backupId }) => backupId)).toEqual([hurt.id]);
    const healed = await backUp(bytes);
    expect((await restored(repository, healed.id)).equals(bytes)).toBe(true);
    expect((await restored(repository, hurt.id)).equals(bytes)).toBe(true);
    expect(await verify(repository)).toMatchObject({ damagedBackups: [] });
    expect(whole.id).not.toBe(hurt.id);
  });

  test('of all indexes is repaired from the packs', async () => {
    const bytes = randomBytes(30 * BLOCK);
    const { id } = await backUp(bytes);
    for (const name of target.objects.keys()) if (/\/i\d+$/.test(name)) target.objects.delete(name);
    const lenient = await Repository.open({
      store: target.connect(),
      unlock,
      now: () => new Date(),
      toleratesDamage: true,
    });
    expect(await repair(lenient)).toMatchObject({ damagedBackups: [], unreadablePacks: [] });
    expect((await restored(await openRepository(target.connect()), id)).equals(bytes)).toBe(true);
  });

  test('is not pruned: nothing is deleted on grounds that are not whole', async () => {
    await backUp(randomBytes(10 * BLOCK));
    const gone = await backUp(randomBytes(10 * BLOCK));
    await deleteBackup(repository, gone.id);
    const [first] = repository.indexedPacks();
    const entries = [...repository.blobs.entries()]
      .filter(({ pack }) => pack !== first)
      .map(({ id }) => Buffer.from(id));
    expect(entries.length).toBeGreaterThan(0);
    for (const name of packs()) target.objects.delete(name);
    await expect(prune(repository, HASTY)).rejects.toMatchObject({ code: 'backup.damaged' });
  });
});

test('a sample reads a share of the packs', async () => {
  await backUp(randomBytes(60 * BLOCK));
  let turn = 0;
  const report = await verify(repository, { share: 0.5, random: () => (turn++ % 2 === 0 ? 0.1 : 0.9) });
  expect(report.packsRead).toBe(Math.ceil(report.packs / 2));
});

test('stats tell what is held, from journal and index alone', async () => {
  await backUp(Buffer.alloc(16 * BLOCK, 'text'));
  await backUp(randomBytes(8 * BLOCK));
  const gets = target.calls.get;
  expect(await stats(repository)).toMatchObject({
    backups: 2,
    volumes: 1,
    volumeBytes: 24 * BLOCK,
    blobs: 11,
  });
  expect(target.calls.get).toBe(gets + 1);
});
