/**
 * Rot in the metadata of a copy, anywhere on the disk: the copy then reads as before, or reports that it can't be
 * read. Rot in data is out of scope here: checksums of snapshots find that.
 */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { copyRecord } from '@holdfast/core/model/copy-record.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { DATA_MARK, type Harm, harmsBy, PAGE, pagesIn } from '../../test/metadata-harms.js';
import { formatBlockDisk } from '../disk/block/format-block-disk.js';
import { BlockFile } from '../disk/block-file.js';
import { replicaDirectory } from '../disk/folder/replica-files.js';
import { contiguous } from '../nbd/export.js';
import { openDiskStore } from './open-disk-store.js';
import { Replica } from './replica.js';

/** Maps of several pages, on a disk that is quickly copied. */
const VOLUME_BYTES = 300 * MIB;
const DISK_BYTES = 32 * MIB;
/** Parts that are written and compared. */
const PARTS = [0, 70 * MIB, 250 * MIB];
const PART_BYTES = 24 * PAGE;
const ROUNDS = { folder: 600, block: 150 };
/** Offset of the roots of the first copy on a block disk. */
const ROOTS = 64 * 1024;
const SNAPSHOT = '11111111-1111-4111-8111-111111111111';
const COPIES = ['22222222-2222-4222-8222-222222222222', '33333333-3333-4333-8333-333333333333'];

let folder: string;
beforeEach(async () => {
  const base = await fs.mkdtemp('/dev/shm/holdfast-rot-').catch(() => '');
  folder = base === '' ? await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-rot-')) : base;
});
afterEach(async () => {
  jest.restoreAllMocks();
  await fs.rm(folder, { recursive: true, force: true });
});

const random = new SeededRandom(1);
const HARMS = harmsBy(random);

/** Counts the outcomes of the rounds. */
class Outcomes {
  readonly counts: Record<string, number> = {};

  note(outcome: string): void {
    this.counts[outcome] = (this.counts[outcome] ?? 0) + 1;
  }
}

const NAMED = ['replica.corrupt', 'disk.wrong_identity'];

describe('rot in the metadata of a copy is reported, or does no harm', () => {
  test('on a folder', async () => {
    const disk = path.join(folder, 'disk');
    await fs.mkdir(disk);
    const [replicaId = ''] = COPIES;
    await makeCopy(disk, replicaId);
    const right = await tell(disk, replicaId);
    const directory = replicaDirectory(disk, replicaId);
    const names = (await fs.readdir(directory)).filter((name) => !name.endsWith('.img'));
    const outcomes = new Outcomes();
    for (let round = 0; round < ROUNDS.folder; round += 1) {
      const harm = HARMS[round % HARMS.length] as Harm;
      const file = path.join(directory, random.pick(names));
      const before = await fs.readFile(file);
      const after = Buffer.from(before);
      harm.apply(after, random.pick(pagesIn(before)));
      await fs.writeFile(file, after);
      const { told, code = 'right' } = await tellOrFault(disk, replicaId);
      if (after.equals(before)) continue;
      outcomes.note(code);
      if (told !== right) expect(`${harm.name} in ${path.extname(file)}: ${code}`).toMatch('replica.corrupt');
      await fs.writeFile(file, before);
    }
    expect(outcomes.counts['replica.corrupt']).toBeGreaterThan(ROUNDS.folder / 2);
  });

  test('on a folder, also where pages from the start of a file on read as zeros, or the file ends early', async () => {
    const disk = path.join(folder, 'disk');
    await fs.mkdir(disk);
    const [replicaId = ''] = COPIES;
    await makeCopy(disk, replicaId);
    const right = await tell(disk, replicaId);
    const directory = replicaDirectory(disk, replicaId);
    const names = (await fs.readdir(directory)).filter((name) => /\.(map|json)$/.test(name));
    expect(names.length).toBe(4);
    for (const name of names) {
      const before = await fs.readFile(path.join(directory, name));
      for (let end = 0; end <= before.length; end += 512) {
        const blank = Buffer.from(before).fill(0, 0, end);
        for (const after of [blank, before.subarray(0, end)]) {
          await fs.writeFile(path.join(directory, name), after);
          const { told, code } = await tellOrFault(disk, replicaId);
          const isSame = after.equals(before);
          expect([name, end, told === right ? 'right' : code]).toEqual([
            name,
            end,
            isSame || told === right ? 'right' : 'replica.corrupt',
          ]);
          if (end > 0 && name.endsWith('.map') && !isSame) expect(told).toBeUndefined();
        }
      }
      await fs.writeFile(path.join(directory, name), before);
    }
  });

  test('on a block disk, where it costs one copy at most', async () => {
    const disk = path.join(folder, 'disk');
    await formatBlockDisk(disk, DISK_BYTES);
    for (const replicaId of COPIES) await makeCopy(disk, replicaId);
    const right = await Promise.all(COPIES.map((replicaId) => tell(disk, replicaId)));
    const bytes = await fs.readFile(disk);
    const pages = pagesIn(bytes);
    const outcomes = new Outcomes();
    for (let round = 0; round < ROUNDS.block; round += 1) {
      const harm = HARMS[round % HARMS.length] as Harm;
      const page = random.pick(pages);
      const whole = Buffer.from(bytes.subarray(page, page + PAGE));
      harm.apply(bytes, page);
      await overwrite(disk, page, bytes);
      const found = [];
      for (const replicaId of COPIES) found.push(await tellOrFault(disk, replicaId));
      const wrong = found.filter(({ told }, index) => told !== right[index]);
      const said = wrong.map(({ code = 'wrong data' }) => code);
      for (const code of said) {
        outcomes.note(code);
        expect(`${harm.name} at ${page}: ${code}`).toMatch(new RegExp(NAMED.join('|')));
      }
      // Only a damaged superblock costs the disk.
      if (said.length === 2) expect([page, ...said]).toEqual([0, ...said.map(() => 'disk.wrong_identity')]);
      whole.copy(bytes, page);
      await overwrite(disk, page, bytes);
    }
    expect(outcomes.counts['replica.corrupt']).toBeGreaterThan(ROUNDS.block / 4);
  });
});

/** Opening a disk writes nothing else that matters. */
async function overwrite(disk: string, page: number, bytes: Buffer): Promise<void> {
  const handle = await fs.open(disk, 'r+');
  await handle.write(bytes, page, PAGE, page);
  await handle.close();
}

describe('a block disk that fails to read', () => {
  test.each<{ name: string; costs: number; isFailing: (position: number, page: Buffer) => boolean }>([
    {
      name: 'the roots of a copy',
      costs: 1,
      isFailing: (at) => at >= ROOTS && at < ROOTS + 2 * PAGE,
    },
    { name: 'one root of a copy', costs: 1, isFailing: (at) => at === ROOTS + 3 * PAGE },
    {
      name: 'the catalog of a copy',
      costs: 1,
      isFailing: (_, page) => page.includes('"format":') && page.includes(COPIES[0] ?? ''),
    },
  ])('$name opens the others, lists what it can, and takes no place twice', async ({ costs, isFailing }) => {
    const disk = path.join(folder, 'disk');
    await formatBlockDisk(disk, DISK_BYTES);
    for (const replicaId of COPIES) await makeCopy(disk, replicaId);
    const right = await Promise.all(COPIES.map((replicaId) => tell(disk, replicaId)));
    const bytes = await fs.readFile(disk);
    const readInto = BlockFile.prototype.readInto;
    const failing = jest.spyOn(BlockFile.prototype, 'readInto');
    failing.mockImplementation(function (this: BlockFile, buffer: Buffer, position: number) {
      for (let at = position - (position % PAGE); at < position + buffer.length; at += PAGE) {
        if (!isFailing(at, bytes.subarray(at, at + PAGE))) continue;
        return Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' }));
      }
      return readInto.call(this, buffer, position);
    });
    const found = [];
    for (const replicaId of COPIES) found.push(await tellOrFault(disk, replicaId));
    const told = found.filter((one, index) => one.told === right[index]);
    expect(found.flatMap(({ code }) => code ?? [])).toEqual(Array(costs).fill('replica.corrupt'));
    expect(told.length).toBe(COPIES.length - costs);
    const other = '44444444-4444-4444-8444-444444444444';
    await makeCopy(disk, other);
    failing.mockRestore();
    const store = await openDiskStore(disk);
    expect(await store.list()).toEqual([...COPIES, other]);
    await store.close();
  });

  test('a copy says so when its catalog reads as another one', async () => {
    const disk = path.join(folder, 'disk');
    await formatBlockDisk(disk, DISK_BYTES);
    const [replicaId = ''] = COPIES;
    const store = await openDiskStore(disk);
    await store.create(replicaId, (files) => files.writeText('text', 'what was written'));
    expect(await store.readText(replicaId, 'text')).toBe('what was written');
    const bytes = await fs.readFile(disk);
    const page = bytes.indexOf('what was written');
    bytes.write('that', page);
    await overwrite(disk, page - (page % PAGE), bytes);
    await expect(store.readText(replicaId, 'text')).rejects.toMatchObject({ code: 'replica.corrupt' });
    await store.close();
  });

  test('a new copy of which the newest root is gone says so', async () => {
    const disk = path.join(folder, 'disk');
    await formatBlockDisk(disk, DISK_BYTES);
    const [replicaId = ''] = COPIES;
    const store = await openDiskStore(disk);
    await store.create(replicaId, async () => undefined);
    const bytes = await fs.readFile(disk);
    for (const root of [ROOTS, ROOTS + PAGE]) {
      const without = Buffer.from(bytes);
      without.fill(0, root, root + PAGE);
      await overwrite(disk, root, without);
      await expect(store.open(replicaId)).rejects.toMatchObject({ code: 'replica.corrupt' });
      expect(await store.list()).toEqual([replicaId]);
      await overwrite(disk, root, bytes);
    }
    await store.close();
  });

  test('a copy of which both roots read as zeros says so, and its slot is given to no other', async () => {
    const disk = path.join(folder, 'disk');
    await formatBlockDisk(disk, DISK_BYTES);
    const [replicaId = '', other = ''] = COPIES;
    await makeCopy(disk, replicaId);
    const bytes = await fs.readFile(disk);
    const roots = Buffer.from(bytes.subarray(ROOTS, ROOTS + 2 * PAGE));
    bytes.fill(0, ROOTS, ROOTS + 2 * PAGE);
    for (const root of [ROOTS, ROOTS + PAGE]) await overwrite(disk, root, bytes);
    expect(await tellOrFault(disk, replicaId)).toEqual({ code: 'replica.corrupt' });
    await makeCopy(disk, other);
    const after = await fs.readFile(disk);
    expect(after.subarray(ROOTS, ROOTS + 2 * PAGE).equals(Buffer.alloc(2 * PAGE))).toBe(true);
    expect(roots.equals(Buffer.alloc(2 * PAGE))).toBe(false);
  });

  test('a damaged copy can be removed, and its place is used again', async () => {
    const disk = path.join(folder, 'disk');
    await formatBlockDisk(disk, DISK_BYTES);
    const [replicaId = ''] = COPIES;
    await makeCopy(disk, replicaId);
    const bytes = await fs.readFile(disk);
    bytes.fill(0, ROOTS, ROOTS + PAGE);
    await overwrite(disk, ROOTS, bytes);
    const store = await openDiskStore(disk);
    expect(await store.list()).toEqual([replicaId]);
    await expect(store.open(replicaId)).rejects.toMatchObject({ code: 'replica.corrupt' });
    await store.remove(replicaId);
    expect(await store.list()).toEqual([]);
    await store.close();
    await makeCopy(disk, replicaId);
    expect(JSON.parse(await tell(disk, replicaId))[0].replicaId).toBe(replicaId);
  });
});

async function makeCopy(disk: string, replicaId: string): Promise<void> {
  const record = copyRecord(1, 3, [asId<ReplicaId>(replicaId)]);
  const [volumeId, diskId] = [crypto.randomUUID(), crypto.randomUUID()];
  const secret = 'a-secret-of-sixteen';
  await Replica.create(disk, { replicaId, volumeId, diskId, sizeBytes: VOLUME_BYTES, secret, record });
  const copy = await Replica.open(disk, replicaId);
  await copy.fence(1);
  for (const part of PARTS) await write(copy, part, 16);
  await copy.layers.snapshot({ id: SNAPSHOT, name: 'a', origin: 'user', createdAt: '', drop: null });
  for (const part of PARTS) {
    await write(copy, part + 3 * PAGE, 4);
    await copy.writeZeroes(part, PAGE, { epoch: 1, fua: true, mayPunch: true });
  }
  await copy.clearIntent();
  await write(copy, 20 * PAGE, 2);
  await copy.close();
}

async function write(copy: Replica, offset: number, blocks: number): Promise<void> {
  const bytes = random.bytes(blocks * PAGE);
  for (let at = 0; at < bytes.length; at += PAGE) DATA_MARK.copy(bytes, at);
  await copy.write(offset, [bytes], bytes.length, { epoch: 1, fua: true });
}

/** Everything that a copy reports: its device, its snapshot, and itself. */
async function tell(disk: string, replicaId: string): Promise<string> {
  const copy = await Replica.open(disk, replicaId);
  try {
    const hash = crypto.createHash('sha256');
    for (const part of PARTS) {
      hash.update(contiguous(await copy.read(part, PART_BYTES)));
      hash.update(contiguous(await copy.chainUpTo(SNAPSHOT).read(part, PART_BYTES)));
    }
    return JSON.stringify([copy.metadata, copy.intentRegions(), copy.heldBytes, hash.digest('hex')]);
  } finally {
    await copy.close();
  }
}

/** The report, or the code of the fault instead. */
async function tellOrFault(disk: string, replicaId: string): Promise<{ told?: string; code?: string }> {
  try {
    return { told: await tell(disk, replicaId) };
  } catch (error) {
    if (isFault(error)) return { code: error.code };
    throw error;
  }
}
