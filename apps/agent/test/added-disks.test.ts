import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Disk } from '../src/disks/disk.js';
import type { DiskSet } from '../src/disks/disks.js';
import { makeIdentity } from '../src/disks/identity.js';
import { KnownDisks } from '../src/disks/known-disks.js';
import { copyFor, replicasOn, takeDisks } from './disk-setup.js';

const GIB = 2 ** 30;
const EMPTY = async () => true;

let home: string;
beforeEach(async () => {
  home = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-added-disks-'));
});
afterEach(() => fs.rm(home, { recursive: true, force: true }));

/** The disks as the agent has them after a start: one that it is configured with, and room for more beside that. */
async function start(): Promise<DiskSet> {
  const known = await KnownDisks.load(path.join(home, 'state'));
  const configured = { type: 'filesystem' as const, path: at('configured'), sizeBytes: GIB };
  return takeDisks([configured], known, [path.join(home, 'disks')]);
}

function at(name: string): string {
  return path.join(home, 'disks', name);
}

function wishFor(where: string, more: { type?: 'filesystem' | 'block' } = {}) {
  const diskId = asId<DiskId>(crypto.randomUUID());
  return {
    diskId,
    name: path.basename(where),
    path: where,
    type: 'filesystem' as const,
    sizeBytes: null,
    ...more,
  };
}

async function namesOf(set: DiskSet): Promise<string[]> {
  return (await set.reports(0)).map(({ name, ready }) => `${name} ${ready ? 'ready' : 'not ready'}`);
}

function diskNamed(set: DiskSet, name: string): Disk {
  const disk = set.list.find((one) => one.name === name);
  if (disk === undefined) throw new Error(`no disk ${name}`);
  return disk;
}

describe('a disk that a user adds', () => {
  test.each(['filesystem', 'block'] as const)(
    'is set up (%s), and there again after a start',
    async (type) => {
      const set = await start();
      const wish = wishFor(at('new'), { type });
      expect(await set.apply({ add: [wish], remove: [] }, EMPTY)).toBe(true);
      expect(await namesOf(set)).toEqual(['configured ready', 'new ready']);
      expect(await set.apply({ add: [wish], remove: [] }, EMPTY)).toBe(false);
      const again = await start();
      expect(diskNamed(again, 'new').diskId).toBe(wish.diskId);
    },
  );

  test('keeps its own identity where a disk is found at the path, and says under which it was added', async () => {
    const first = await start();
    const before = wishFor(at('new'));
    await first.apply({ add: [before], remove: [] }, EMPTY);
    await first.apply({ add: [], remove: [before.diskId] }, EMPTY);
    const again = wishFor(at('new'));
    await first.apply({ add: [again], remove: [] }, EMPTY);
    const reports = await first.reports(0);
    expect(reports).toContainEqual(expect.objectContaining({ diskId: before.diskId, addedAs: again.diskId }));
    expect(reports.map(({ diskId }) => diskId)).not.toContain(again.diskId);
  });

  test.each([
    ['outside of the folders that are allowed', () => path.join(home, 'elsewhere')],
    ['behind a link that leads out of them', () => path.join(at('link'), 'new')],
    ['within another disk', () => path.join(at('configured'), 'new')],
    ['around another disk', () => path.join(home, 'disks', '.')],
  ])('is refused %s, with nothing made there', async (_what, where) => {
    const set = await start();
    await fs.mkdir(path.join(home, 'outside'));
    await fs.symlink(path.join(home, 'outside'), at('link'));
    const wish = wishFor(where());
    await set.apply({ add: [wish], remove: [] }, EMPTY);
    const report = (await set.reports(0)).find(({ diskId }) => diskId === wish.diskId);
    expect(report).toMatchObject({ ready: false, reason: 'DiskRefused' });
    expect(set.list).toHaveLength(1);
    await expect(fs.stat(path.join(where(), 'holdfast-disk.json'))).rejects.toMatchObject({ code: 'ENOENT' });
    await set.apply({ add: [], remove: [] }, EMPTY);
    expect(await set.reports(0)).toHaveLength(1);
  });
});

describe('a disk that a user takes off', () => {
  test('stays off though the configuration names it, until it is added again', async () => {
    const set = await start();
    const { diskId } = diskNamed(set, 'configured');
    await set.apply({ add: [], remove: [diskId] }, EMPTY);
    expect(set.list).toEqual([]);
    expect((await start()).list).toEqual([]);
    await (await start()).apply({ add: [wishFor(at('configured'))], remove: [] }, EMPTY);
    expect(diskNamed(await start(), 'configured').diskId).toBe(diskId);
  });

  test('makes way for the one that was mounted over it at a configured path', async () => {
    const set = await start();
    const below = diskNamed(set, 'configured');
    await fs.rename(at('configured'), at('below'));
    await fs.mkdir(at('configured'));
    const mounted = await makeIdentity(at('configured'));
    await set.apply({ add: [], remove: [below.diskId] }, EMPTY);
    expect(set.list.map(({ diskId }) => diskId)).toEqual([mounted]);
    expect(diskNamed(await start(), 'configured').diskId).toBe(mounted);
  });

  test('stays off where what is found at its configured path is no disk', async () => {
    const set = await start();
    const { diskId } = diskNamed(set, 'configured');
    await fs.writeFile(path.join(at('configured'), 'holdfast-disk.json'), '{');
    await set.apply({ add: [], remove: [diskId] }, EMPTY);
    expect(set.list).toEqual([]);
    expect((await start()).list).toEqual([]);
  });

  test('is kept while a copy is on it', async () => {
    const set = await start();
    const disk = diskNamed(set, 'configured');
    const replicas = replicasOn(disk);
    const copy = copyFor(disk);
    await replicas.create(copy);
    const isEmpty = (one: Disk) => replicas.isNoneOn(one);
    expect(await set.apply({ add: [], remove: [disk.diskId] }, isEmpty)).toBe(false);
    // Also one that this agent has not looked through yet.
    const fresh = replicasOn(disk);
    expect(await fresh.isNoneOn(disk)).toBe(false);
    await replicas.remove(copy.replicaId);
    expect(await set.apply({ add: [], remove: [disk.diskId] }, isEmpty)).toBe(true);
    expect(set.list).toEqual([]);
  });
});
