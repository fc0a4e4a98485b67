/** Power cuts at the moments of a history of a copy: each crash state is made anew, opened, and judged. */
import crypto from 'node:crypto';
import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { expect } from '@jest/globals';
import { formatBlockDisk } from '../src/disk/block/format-block-disk.js';
import { supportsDirectIo } from '../src/disk/folder/direct-io.js';
import { CRASH_HISTORIES, CRASH_VOLUME_BYTES, type History } from './crash-histories.js';
import { CrashHistory, type Found } from './crash-history.js';
import { CrashRecorder } from './crash-recorder.js';
import { type FolderImage, fingerprint, writeImage } from './folder-image.js';

const MIB = 1024 * 1024;

type Outcome = { states: number; violations: Set<string> };

/** Where in a folder the disk is: the folder itself, or a block disk in it. */
const DISKS = { folder: '.', 'block disk': 'block-disk' };
export type DiskKind = keyof typeof DISKS;
const BLOCK_DISK_BYTES = 48 * MIB;
const CREATION = 'writes, flushes and FUA';

/** Every history on every kind of disk. */
export const CUT_CASES = (['folder', 'block disk'] as const).flatMap((kind) =>
  Object.entries(CRASH_HISTORIES).map(([name, history]) => ({ kind, name, history })),
);

export type CutFolders = { readonly folder: string; readonly scratch: string };

type Cuts = {
  readonly folders: CutFolders;
  readonly kind: DiskKind;
  readonly history: History;
  /** Syncs that a broken program would leave out. */
  readonly ignoresSync?: (file: string, isFolder: boolean) => boolean;
  /** Only each so manieth state is looked into. */
  readonly share?: number;
};

export async function makeCutFolders(): Promise<CutFolders> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-power-'));
  // In memory if possible: thousands of small folders are made and removed.
  const scratch = await fs.mkdtemp('/dev/shm/holdfast-power-').catch(() => folder);
  return { folder, scratch };
}

export async function removeCutFolders({ folder, scratch }: CutFolders): Promise<void> {
  await fs.rm(folder, { recursive: true, force: true });
  await fs.rm(scratch, { recursive: true, force: true });
}

/**
 * Metadata of copies has to withstand more than users are promised. It is in files of its own, or on a block disk written through
 * the page cache.
 */
function isMetadata(flags: string | number, file: string): boolean {
  return typeof flags === 'number' && (flags & constants.O_DIRECT) === 0 && !file.endsWith('.img');
}

/** Cuts the power at moments of a history, and judges what each leaves of the copy. */
export async function cutPower({
  folders: { folder, scratch },
  kind,
  history,
  ignoresSync,
  share = 1,
}: Cuts): Promise<Outcome> {
  const disk = path.join(folder, 'disk');
  await fs.mkdir(disk);
  // If the data of a block disk goes through the page cache too, data and metadata can't be told apart.
  const tearsBlocks = (await supportsDirectIo(folder)) ? isMetadata : undefined;
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
  let passed = 0;
  for (const state of recorder.states(new SeededRandom(7), since)) {
    passed += 1;
    if (passed % share !== 0) continue;
    const changes = `${state.kept.map(({ number }) => number)} ${state.torn?.number}`;
    let found = byChanges.get(changes);
    if (found === undefined) {
      const image = recorder.image(state);
      const contents = fingerprint(image);
      found = byContents.get(contents) ?? (await look(copy, kind, image, scratch));
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

async function look(copy: CrashHistory, kind: DiskKind, image: FolderImage, scratch: string): Promise<Found> {
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
