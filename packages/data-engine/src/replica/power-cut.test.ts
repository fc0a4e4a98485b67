import crypto from 'node:crypto';
import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { CrashHistory, type Found } from '../../test/crash-history.js';
import { CrashRecorder, type FolderImage, fingerprint, writeImage } from '../../test/crash-recorder.js';
import { formatBlockDisk } from '../disk/block/format-block-disk.js';
import { takesDirectIo } from '../disk/folder/direct-io.js';

const MIB = 1024 * 1024;
const SIZE = 40 * MIB;
const random = new SeededRandom(1);
const bytes = (blocks: number) => random.bytes(blocks * 4096);

let folder: string;
/** In memory if possible: thousands of small folders are made and removed. */
let scratch: string;
beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-power-'));
  scratch = await fs.mkdtemp('/dev/shm/holdfast-power-').catch(() => folder);
});
afterEach(async () => {
  await fs.rm(folder, { recursive: true, force: true });
  await fs.rm(scratch, { recursive: true, force: true });
});

type History = (copy: CrashHistory) => Promise<void>;

const HISTORIES: Record<string, History> = {
  'writes, flushes and FUA': async (copy) => {
    await Promise.all([copy.write(0, bytes(3)), copy.write(5, bytes(2))]);
    await copy.flush();
    await copy.write(1, bytes(1));
    await copy.write(6, bytes(2), true);
    await Promise.all([copy.write(0, bytes(1)), copy.flush(), copy.write(9, bytes(4))]);
    await copy.zero(0, 2);
    await copy.flush();
  },
  'a snapshot, and writes over it': async (copy) => {
    await copy.write(0, bytes(6));
    await copy.snapshot('11111111-1111-4111-8111-111111111111');
    await copy.write(2, bytes(2));
    await copy.zero(4, 1);
    await copy.flush();
    await copy.write(0, bytes(1), true);
  },
  'marks: cleared, and set again': async (copy) => {
    await copy.write(0, bytes(2));
    await copy.clearIntent();
    await copy.write(1, bytes(2));
    await copy.flush();
    await copy.clearIntent();
    await copy.open(2);
    await copy.write(3, bytes(1));
  },
  'space that is given up and taken again': async (copy) => {
    await copy.write(0, bytes(16));
    await copy.flush();
    await copy.zero(0, 16);
    // More than a block disk has allocated for the copy in advance: space that is free by then is used.
    await Promise.all([copy.flush(), copy.write(16, bytes(3)), copy.spend().then(() => copy.spend())]);
    await copy.write(20, bytes(2), true);
    await copy.zero(16, 16);
    await copy.write(0, bytes(2), true);
    await copy.write(17, bytes(2), true);
  },
  'zeros over a snapshot, and a write among them': async (copy) => {
    await copy.write(0, bytes(2));
    await copy.spend();
    await copy.giveBack();
    await copy.snapshot('11111111-1111-4111-8111-111111111111');
    await copy.zero(0, 16);
    await copy.flush();
    await copy.spend();
    await copy.write(3, bytes(1), true);
  },
  'a revert': async (copy) => {
    const id = '11111111-1111-4111-8111-111111111111';
    await copy.write(0, bytes(4));
    await copy.snapshot(id);
    await copy.write(1, bytes(4));
    await copy.clearIntent();
    await copy.revert(id);
    await copy.write(2, bytes(1), true);
  },
  'two layers that are merged': async (copy) => {
    const ids = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;
    for (const id of ids) {
      await copy.write(id === ids[0] ? 0 : 2, bytes(4));
      await copy.snapshot(id);
    }
    await copy.write(1, bytes(1), true);
    await copy.purge(ids[0]);
    await copy.write(3, bytes(1), true);
  },
  'a layer pruned beneath the head': async (copy) => {
    const id = '11111111-1111-4111-8111-111111111111';
    await copy.write(0, bytes(6));
    await copy.snapshot(id);
    await copy.write(2, bytes(3));
    await copy.purge(id);
    await copy.write(0, bytes(1), true);
  },
  'flushes beside a purge of the layer beneath': async (copy) => {
    const id = '11111111-1111-4111-8111-111111111111';
    await copy.write(0, bytes(6));
    await copy.snapshot(id);
    await copy.write(2, bytes(2));
    await Promise.all([copy.purge(id), copy.flush()]);
    await copy.write(0, bytes(1));
    await Promise.all([copy.flush(), copy.purge(id)]);
    await copy.write(5, bytes(1), true);
  },
  'an overwrite after the copy was opened again': async (copy) => {
    await copy.write(0, bytes(3));
    await copy.flush();
    await copy.reopen();
    await copy.write(1, bytes(1));
    await copy.flush();
    await copy.write(2, bytes(1), true);
  },
  'an expansion': async (copy) => {
    await copy.write(0, bytes(2));
    await copy.snapshot('11111111-1111-4111-8111-111111111111', SIZE + 300 * MIB);
    await copy.write(1, bytes(2), true);
  },
  'becoming the target of a rebuild': async (copy) => {
    await copy.write(0, bytes(2));
    await copy.snapshot('11111111-1111-4111-8111-111111111111');
    await copy.write(1, bytes(2));
    await copy.prepare();
  },
};

type Outcome = { states: number; violations: Set<string> };

/** Where in a folder the disk is: the folder itself, or a block disk in it. */
const DISKS = { folder: '.', 'block disk': 'disk.img' };
type DiskKind = keyof typeof DISKS;
const BLOCK_DISK_BYTES = 48 * MIB;
const CREATION = 'writes, flushes and FUA';

async function cutEverywhere(
  kind: DiskKind,
  history: History,
  ignoresSync?: (file: string, isFolder: boolean) => boolean,
): Promise<Outcome> {
  const disk = path.join(folder, 'disk');
  await fs.mkdir(disk);
  // If data goes through the page cache too, data and metadata can't be told apart.
  const tearsBlocks = (await takesDirectIo(folder)) ? isBuffered : undefined;
  const recorder = new CrashRecorder(disk, ignoresSync, tearsBlocks);
  const copy = new CrashHistory(path.join(disk, DISKS[kind]), recorder, SIZE);
  let since = 0;
  recorder.start();
  try {
    if (kind === 'block disk') await formatBlockDisk(path.join(disk, DISKS[kind]), BLOCK_DISK_BYTES);
    await copy.create();
    // Formatting a block disk and creating a copy are the same in all histories: one of them covers it.
    if (kind === 'block disk' && history !== HISTORIES[CREATION]) since = recorder.now();
    await history(copy);
    // Includes background work: freed space is given back without a waiting caller.
    await copy.replica.close();
  } finally {
    recorder.stop();
  }
  const whole = path.join(folder, 'whole');
  await writeImage(recorder.image(recorder.whole()), whole);
  expect(await listing(whole)).toEqual(await listing(disk));

  const violations = new Set<string>();
  // The content of a disk is read once, and judged by the promises of each moment that can leave it so.
  const byChanges = new Map<string, Found>();
  const byContents = new Map<string, Found>();
  let states = 0;
  for (const state of recorder.states(new SeededRandom(7), since)) {
    const changes = `${state.kept.map(({ number }) => number)} ${state.torn?.number}`;
    let found = byChanges.get(changes);
    if (found === undefined) {
      const image = recorder.image(state);
      const contents = fingerprint(image);
      found = byContents.get(contents) ?? (await look(copy, kind, image));
      byContents.set(contents, found);
      byChanges.set(changes, found);
    }
    const wrong = copy.judge(state.at, found);
    if (wrong !== '') violations.add(wrong);
    states += 1;
    // The planted fault has been found: further states would say the same.
    if (ignoresSync !== undefined && violations.size > 0) break;
  }
  return { states, violations };
}

async function look(copy: CrashHistory, kind: DiskKind, image: FolderImage): Promise<Found> {
  const after = path.join(scratch, crypto.randomUUID());
  await writeImage(image, after);
  const found = await copy.look(path.join(after, DISKS[kind]));
  await fs.rm(after, { recursive: true });
  return found;
}

/** Every file with a hash of its bytes. */
async function listing(at: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await fs.readdir(at, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const hash = crypto.createHash('sha256').update(await fs.readFile(file));
    found[path.relative(at, file)] = hash.digest('hex');
  }
  return found;
}

/** Hundreds of crash states each, on a machine that may be busy with other suites. */
jest.setTimeout(180_000);

describe('a power cut at any moment leaves a copy with all that it has acknowledged', () => {
  const cases = Object.keys(DISKS).flatMap((kind) => Object.keys(HISTORIES).map((name) => ({ kind, name })));
  test.each(cases)(
    '$name, on a $kind',
    async ({ kind, name }) => {
      const { states, violations } = await cutEverywhere(kind as DiskKind, HISTORIES[name] as History);
      expect([...violations]).toEqual([]);
      expect(states).toBeGreaterThan(150);
      // Some make a thousand folders of several MiB, on machines with other load.
    },
    180_000,
  );
});

/** A program that forgets one kind of sync. */
describe('the recorder finds', () => {
  test.each<{
    fault: string;
    history: string;
    kind?: DiskKind;
    ignores: (file: string, isFolder: boolean) => boolean;
  }>([
    {
      fault: 'folders that are not synced',
      history: 'a snapshot, and writes over it',
      ignores: (_, isFolder) => isFolder,
    },
    {
      fault: 'data that is not synced',
      history: 'writes, flushes and FUA',
      ignores: (file) => file.endsWith('.img'),
    },
    {
      fault: 'maps that are not synced',
      history: 'writes, flushes and FUA',
      ignores: (file) => file.endsWith('.map') && !file.endsWith('intent.map'),
    },
    {
      fault: 'marks that are not synced',
      history: 'marks: cleared, and set again',
      ignores: (file) => file.endsWith('intent.map'),
    },
    {
      fault: 'metadata that is renamed before it is synced',
      history: 'a revert',
      ignores: (file) => file.endsWith('.spare'),
    },
    {
      fault: 'a block disk that syncs every second time',
      history: 'a snapshot, and writes over it',
      kind: 'block disk',
      ignores: everySecond(),
    },
  ])('$fault', async ({ history, kind = 'folder', ignores }) => {
    const { violations } = await cutEverywhere(kind, HISTORIES[history] as History, ignores);
    expect(violations.size).toBeGreaterThan(0);
  });
});

function everySecond(): () => boolean {
  let count = 0;
  return () => {
    count += 1;
    return count % 2 === 0;
  };
}

/** Metadata of copies goes through the page cache, and has to withstand more than users are promised. */
function isBuffered(flags: string | number): boolean {
  return typeof flags === 'number' && (flags & constants.O_DIRECT) === 0;
}
