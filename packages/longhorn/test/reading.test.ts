/** Reading of Longhorn's objects: worlds written as each release and each kind of source has them give back the world. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { readCluster } from '../src/read-cluster.js';
import { FORMS, writeForm } from './bundle-files.js';
import { objectsOf, RELEASES } from './longhorn-objects.js';
import { aWorld, worldRead } from './worlds.js';
import { zipOf } from './zip-folder.js';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'longhorn-reading-'));
afterAll(() => fs.rmSync(home, { recursive: true, force: true }));
const newFolder = () => fs.mkdtempSync(path.join(home, 'source-'));

describe.each(RELEASES)('of release %s', (release) => {
  test.each(FORMS)('a world as %s is read back', async (form) => {
    const world = aWorld(release);
    const cluster = await readCluster(writeForm(newFolder(), form, objectsOf(world, release)));
    expect(cluster.problems).toEqual([]);
    expect({ version: cluster.version, namespace: cluster.namespace }).toEqual({
      version: `v${release}.0`,
      namespace: 'storage-of-ours',
    });
    expect(worldRead(cluster)).toEqual(world);
  });
});

test.each(['longhorn-bundle', 'kit-bundle'] as const)(
  'a zip of a %s is read as its folder is',
  async (form) => {
    const world = aWorld('1.3');
    const archive = zipOf(writeForm(newFolder(), form, objectsOf(world, '1.3')));
    const cluster = await readCluster(archive);
    expect(cluster.problems).toEqual([]);
    expect(worldRead(cluster)).toEqual(world);
    expect(cluster.unreadFiles).toBeGreaterThan(0);
  },
);

test('a folder of a bundle, an archive and a dump is one cluster', async () => {
  const world = aWorld('1.9');
  const folder = newFolder();
  const lists = objectsOf(world, '1.9');
  zipOf(writeForm(folder, 'kit-bundle', lists));
  writeForm(path.join(folder, 'more'), 'kubectl-json', lists);
  const cluster = await readCluster(folder);
  expect(cluster.problems).toEqual([]);
  expect(worldRead(cluster)).toEqual(world);
});
