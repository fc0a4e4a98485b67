import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DiskEntry } from '../src/disks/disks.js';
import { copyFor, replicasOn, takeDisk } from './disk-setup.js';

let home: string;
beforeEach(async () => {
  home = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-damaged-'));
});
afterEach(() => fs.rm(home, { recursive: true, force: true }));

/** Damage of each kind of disk: one byte of what describes the copy changes. */
const HARMS: Record<DiskEntry['type'], (disk: string, replicaId: string) => Promise<void>> = {
  filesystem: (disk, replicaId) => harm(path.join(disk, 'replicas', replicaId, 'replica.json')),
  block: (disk) => harm(disk),
};

async function harm(file: string): Promise<void> {
  const bytes = await fs.readFile(file);
  for (let at = bytes.indexOf('"epoch'); at >= 0; at = bytes.indexOf('"epoch', at + 1))
    bytes.write('E', at + 1);
  await fs.writeFile(file, bytes);
}

describe.each<DiskEntry['type']>(['filesystem', 'block'])(
  'a copy on a %s disk that can not be read',
  (type) => {
    const entry = (): DiskEntry => ({ type, path: path.join(home, 'disk'), sizeBytes: 64 * MIB });

    test('answers calls with the reason, costs no other copy, and can be removed', async () => {
      const disk = await takeDisk(home, entry());
      const copies = [copyFor(disk)];
      await replicasOn(disk).create(copies[0] ?? copyFor(disk));
      await HARMS[type](entry().path, copies[0]?.replicaId ?? '');
      copies.push(copyFor(disk));
      await replicasOn(disk).create(copies[1] ?? copyFor(disk));
      const [bad = '', good = ''] = copies.map(({ replicaId }) => replicaId);

      const restarted = await takeDisk(home, entry());
      const replicas = replicasOn(restarted);
      expect((await replicas.reports()).map(({ replicaId }) => replicaId)).toEqual([good]);
      await expect(replicas.openAt(bad, { epoch: 1 })).rejects.toMatchObject({ code: 'replica.corrupt' });
      expect(await restarted.replicaIds()).toEqual([bad, good].sort());
      await replicas.remove(bad);
      expect(await restarted.replicaIds()).toEqual([good]);
      await expect(replicas.openAt(bad, { epoch: 1 })).rejects.toMatchObject({ code: 'replica.not_found' });
    });
  },
);

test('a copy whose folder has vanished is not reported any more, once its disk is looked through', async () => {
  const disk = await takeDisk(home, {
    type: 'filesystem',
    path: path.join(home, 'disk'),
    sizeBytes: 64 * MIB,
  });
  const replicas = replicasOn(disk);
  expect(replicas.areListed(disk.diskId)).toBe(false);
  const copies = [copyFor(disk), copyFor(disk)];
  for (const copy of copies) await replicas.create(copy);
  const reported = async () => (await replicas.reports()).map(({ replicaId }) => replicaId).sort();
  expect(await reported()).toEqual(copies.map(({ replicaId }) => replicaId).sort());
  expect(replicas.areListed(disk.diskId)).toBe(true);
  const [lost, kept] = copies;
  await fs.rm(path.join(home, 'disk', 'replicas', lost?.replicaId ?? ''), { recursive: true });
  expect(await reported()).toEqual([kept?.replicaId]);
});
