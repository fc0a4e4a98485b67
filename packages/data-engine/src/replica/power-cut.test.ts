import crypto from 'node:crypto';
import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { CRASH_HISTORIES, CRASH_VOLUME_BYTES, type History } from '../../test/crash-histories.js';
import { CrashHistory, type Found } from '../../test/crash-history.js';
import { CrashRecorder } from '../../test/crash-recorder.js';
import { type FolderImage, fingerprint, writeImage } from '../../test/folder-image.js';
import { formatBlockDisk } from '../disk/block/format-block-disk.js';
import { takesDirectIo } from '../disk/folder/direct-io.js';

const MIB = 1024 * 1024;

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

type Outcome = { states: number; violations: Set<string> };

/** Where in a folder the disk is: the folder itself, or a block disk in it. */
const DISKS = { folder: '.', 'block disk': 'block-disk' };
type DiskKind = keyof typeof DISKS;
const BLOCK_DISK_BYTES = 48 * MIB;
const CREATION = 'writes, flushes and FUA';

/** Hundreds of crash states each, on a machine that may be busy with other suites. */

describe('a power cut at any moment leaves a copy with all that it has acknowledged', () => {
  const cases = Object.keys(DISKS).flatMap((kind) =>
    Object.keys(CRASH_HISTORIES).map((name) => ({ kind, name })),
  );
  test.each(cases)('$name, on a $kind', async ({ kind, name }) => {
    const { states, violations } = await cutEverywhere(kind as DiskKind, CRASH_HISTORIES[name] as History);
    expect([...violations]).toEqual([]);
    expect(states).toBeGreaterThan(150);
    // Some make a thousand folders of several MiB, on machines with other load.
  });
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
    const { violations } = await cutEverywhere(kind, CRASH_HISTORIES[history] as History, ignores);
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

/**
 * Metadata of copies has to withstand more than users are promised. It is in files of its own, or on a block disk written through
 * the page cache.
 */
function isMetadata(flags: string | number, file: string): boolean {
  return typeof flags === 'number' && (flags & constants.O_DIRECT) === 0 && !file.endsWith('.img');
}

async function cutEverywhere(
  kind: DiskKind,
  history: History,
  ignoresSync?: (file: string, isFolder: boolean) => boolean,
): Promise<Outcome> {
  const disk = path.join(folder, 'disk');
  await fs.mkdir(disk);
  // If the data of a block disk goes through the page cache too, data and metadata can't be told apart.
  const tearsBlocks = (await takesDirectIo(folder)) ? isMetadata : undefined;
  const recorder = new CrashRecorder(disk, ignoresSync, tearsBlocks);
  const copy = new CrashHistory(path.join(disk, DISKS[kind]), recorder, CRASH_VOLUME_BYTES);
  let since = 0;
  recorder.start();
  try {
    if (kind === 'block disk') await formatBlockDisk(path.join(disk, DISKS[kind]), BLOCK_DISK_BYTES);
    await copy.create();
    // Formatting a block disk and creating a copy are the same in all histories: one of them covers it.
    if (kind === 'block disk' && history !== CRASH_HISTORIES[CREATION]) since = recorder.now();
    await history(copy);
    // Includes background work: freed space is given back without a waiting caller.
    await copy.replica.close();
  } finally {
    recorder.stop();
  }
  const whole = path.join(folder, 'whole');
  writeImage(recorder.image(recorder.whole()), whole);
  expect(await differences(whole, disk)).toEqual([]);

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
  writeImage(image, after);
  const found = await copy.look(path.join(after, DISKS[kind]));
  await fs.rm(after, { recursive: true });
  return found;
}

/** Files that only one of two folders has, or whose bytes differ. */
async function differences(one: string, other: string): Promise<string[]> {
  const files = new Set([...(await filesIn(one)), ...(await filesIn(other))]);
  return [...files].filter((file) => !areEqual(path.join(one, file), path.join(other, file)));
}

async function filesIn(at: string): Promise<string[]> {
  const entries = await fs.readdir(at, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(at, path.join(entry.parentPath, entry.name)));
}

/** Reads both in parts, into the same memory each time: new memory for a whole disk costs more than to read it. */
function areEqual(one: string, other: string): boolean {
  if (!existsSync(one) || !existsSync(other)) return false;
  const files = [openSync(one, 'r'), openSync(other, 'r')] as const;
  const [first, second] = [Buffer.alloc(MIB), Buffer.alloc(MIB)];
  try {
    for (;;) {
      const lengthBytes = readSync(files[0], first);
      if (readSync(files[1], second) !== lengthBytes) return false;
      if (lengthBytes === 0) return true;
      if (!first.subarray(0, lengthBytes).equals(second.subarray(0, lengthBytes))) return false;
    }
  } finally {
    for (const file of files) closeSync(file);
  }
}
