import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Disk } from './disk.js';
import { FolderDisk } from './folder-disk.js';
import { KnownDisks } from './known-disks.js';
import { Stamps } from './stamps.js';
import { DiskOwesAnswer } from './watched-disk.js';

let base: string;
let disk: FolderDisk;

beforeEach(async () => {
  base = await fs.mkdtemp(path.join(os.tmpdir(), 'stamps-'));
  disk = await diskAt('disk');
});

afterEach(() => fs.rm(base, { recursive: true, force: true }));

/** A disk in a folder, as an agent of its own takes it. */
async function diskAt(name: string): Promise<FolderDisk> {
  const known = await KnownDisks.load(path.join(base, `${name}-state`));
  return FolderDisk.take(path.join(base, name), name, 2 ** 30, known);
}

/** An agent's stamps, whose heartbeats a control plane answers that stores all of them, or none. It waits for long only where one comes. */
function agent(answers: { stores: boolean } | undefined, advanceMs = 0): Stamps {
  const stamps: Stamps = new Stamps({
    soon: () => void beat(stamps, disk, answers),
    advanceMs,
    confirmMsMax: answers?.stores === true ? 60_000 : 200,
  });
  if (answers !== undefined) stamps.confirm([]);
  return stamps;
}

async function beat(stamps: Stamps, of: Disk, answers: { stores: boolean } | undefined) {
  const report = await stamps.report(of);
  const stored = [{ diskId: of.diskId, stampId: report.id }];
  if (answers !== undefined) stamps.confirm(answers.stores ? stored : []);
  return report;
}

describe('the stamp of a disk', () => {
  test('is stored as in use, and confirmed, before a copy is opened', async () => {
    const stamps = agent({ stores: true });
    expect(await stamps.report(disk)).toMatchObject({ id: null, generation: 0 });
    await stamps.engage(disk);
    expect(await disk.readStamp()).toMatchObject({ isOpen: true, generation: 1 });
  });

  test('is advanced while copies are in use, and names those before it', async () => {
    const stamps = agent({ stores: true });
    await stamps.engage(disk);
    const first = await disk.readStamp();
    const next = await beat(stamps, disk, { stores: true });
    expect(next).toMatchObject({ generation: 2, trail: [first?.id], isOpen: true });
  });

  test('is reported as it was last while the disk is slow, and not while it hangs', async () => {
    const stamps = agent({ stores: true });
    await stamps.engage(disk);
    const last = await beat(stamps, disk, { stores: true });
    const owes = (isHung: boolean) => async () => {
      throw new DiskOwesAnswer('it answers slowly', isHung);
    };
    disk.readStamp = owes(false);
    expect(await stamps.report(disk)).toEqual(last);
    disk.readStamp = owes(true);
    await expect(stamps.report(disk)).rejects.toMatchObject({ code: 'disk.not_ready' });
  });

  test('stays as it is where the control plane does not confirm it, and no copy is opened', async () => {
    await agent({ stores: true }).engage(disk);
    const before = await disk.readStamp();
    const restarted = agent({ stores: false });
    await expect(restarted.engage(disk)).rejects.toMatchObject({ code: 'disk.not_ready' });
    await beat(restarted, disk, { stores: false });
    expect(await disk.readStamp()).toEqual(before);
    // Nor does an agent whose control plane does not answer open it.
    await expect(agent(undefined).engage(disk)).rejects.toMatchObject({ code: 'disk.not_ready' });
  });

  test('says after a clean stop that nothing is written any more', async () => {
    const stamps = agent({ stores: true });
    await stamps.engage(disk);
    await stamps.seal();
    expect(await disk.readStamp()).toMatchObject({ isOpen: false, generation: 2 });
    // Later heartbeats of the same process do not open it again.
    expect(await stamps.report(disk)).toMatchObject({ isOpen: false, generation: 2 });
  });

  test('is none with a control plane that knows no stamps', async () => {
    const stamps = agent(undefined);
    stamps.confirm(undefined);
    await stamps.engage(disk);
    expect(await disk.readStamp()).toBeUndefined();
  });

  test('a copied disk has the stamp, and other files', async () => {
    await agent({ stores: true }).engage(disk);
    await fs.cp(disk.path, path.join(base, 'copy'), { recursive: true });
    const copy = await diskAt('copy');
    expect(copy.diskId).toBe(disk.diskId);
    expect(await copy.readStamp()).toEqual(await disk.readStamp());
    expect(await copy.fileId()).not.toBe(await disk.fileId());
    await fs.rename(disk.path, path.join(base, 'moved'));
    expect(await (await diskAt('moved')).fileId()).toMatch(/^\d+\.\d+$/);
  });
});
