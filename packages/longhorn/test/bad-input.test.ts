/** Input that is no cluster, or only a part of one: what can be read is read, and what can not be is told with its place. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { readCluster } from '../src/read-cluster.js';
import { writeFile, writeForm } from './bundle-files.js';
import { objectsOf } from './longhorn-objects.js';
import { aWorld } from './worlds.js';
import { zipOf } from './zip-folder.js';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'longhorn-bad-'));
afterAll(() => fs.rmSync(home, { recursive: true, force: true }));
let folder = home;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(home, 'input-'));
});

const lists = objectsOf(aWorld('1.9'), '1.9');
const problemsOf = async (source: string) =>
  (await readCluster(source)).problems.map(
    ({ file, line, message }) => `${path.relative(folder, file)}:${line} ${message}`,
  );

test.each([10, 50, 90])(
  'a zip that was cut off at %i percent is told, and not taken for an empty cluster',
  async (percent) => {
    const archive = zipOf(writeForm(folder, 'kit-bundle', lists));
    const bytes = fs.readFileSync(archive);
    fs.writeFileSync(archive, bytes.subarray(0, (bytes.length * percent) / 100));
    const problems = await problemsOf(archive);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^supportbundle_\S+\.zip:1 the archive can't be read: /);
  },
);

test('one byte that rotted in an entry costs that entry', async () => {
  const archive = zipOf(writeForm(folder, 'kit-bundle', lists));
  const bytes = fs.readFileSync(archive);
  const at = bytes.indexOf('v1beta2/settings.yaml') + 'v1beta2/settings.yaml'.length + 40;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
  fs.writeFileSync(archive, bytes);
  const cluster = await readCluster(archive);
  expect(cluster.problems.map(({ file }) => path.basename(file))).toContain('settings.yaml');
  expect(cluster.nodes).toHaveLength(4);
});

test('a zip bomb is refused by its ratio, and the rest is read', async () => {
  const top = writeForm(folder, 'kit-bundle', lists);
  const bomb = path.join(top, 'yamls/namespaced/longhorn-system/longhorn.io/v1beta2/orphans.yaml');
  writeFile(bomb, ' '.repeat(8 * 1024 * 1024));
  const cluster = await readCluster(zipOf(top));
  expect(cluster.problems.map(({ message }) => message)).toEqual([
    'the entry grows to more than 200 times its packed size',
  ]);
  expect(cluster.nodes).toHaveLength(4);
});

test.each<{ name: string; text: string; wanted: RegExp }>([
  { name: 'text that is no YAML', text: 'a: [1\nb: }\n', wanted: /^f\.yaml:\d+ this is not YAML/ },
  {
    name: 'one broken item of a list',
    text: `${item('a')}- apiVersion: "longhorn.io\n${item('b', '')}`,
    wanted: /^f\.yaml:\d+ this is not YAML/,
  },
  {
    name: 'aliases',
    text: 'a: &a [x, x]\nmetadata:\n  name: n\n  b: *a\n',
    wanted: /^f\.yaml:1 this can't be read: .*alias/i,
  },
  {
    name: 'brackets without end',
    text: `a: ${'['.repeat(100_000)}`,
    wanted: /^f\.yaml:1 the object is nested more than 64 deep/,
  },
  {
    name: 'an object without a name',
    text: 'apiVersion: longhorn.io/v1beta2\nkind: Volume\n',
    wanted: /^f\.yaml:1 this is not an object of Kubernetes/,
  },
  {
    name: 'an object that is too large',
    text: `a: ${'x'.repeat(9 * 1024 * 1024)}`,
    wanted: /^f\.yaml:1 the object is larger than/,
  },
  {
    name: 'JSON that was cut off',
    text: '{"apiVersion": "v1",\n"items": [{"kind": "Volume"',
    wanted: /^f\.yaml:1 the JSON ends inside an object/,
  },
  {
    name: 'a size that is no number',
    text: item('v').replace('size: "1"', 'size: "many"'),
    wanted: /^f\.yaml:4 Volume v: size is no whole number/,
  },
])('$name is told with its place', async ({ text, wanted }) => {
  const file = writeFile(path.join(folder, 'f.yaml'), text);
  const problems = await problemsOf(file);
  expect(problems[0]?.replace(/^:/, 'f.yaml:')).toMatch(wanted);
});

test('items around a broken one are read', async () => {
  const file = writeFile(path.join(folder, 'f.yaml'), `${item('a')}- [\n${item('b', '')}`);
  const cluster = await readCluster(file);
  expect(cluster.volumes.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(cluster.problems).toHaveLength(1);
});

test('objects of another product are counted, and none of them is taken for ours', async () => {
  const file = writeFile(
    path.join(folder, 'f.yaml'),
    item('a').replaceAll('longhorn.io/v1beta2', 'ceph.rook.io/v1'),
  );
  const cluster = await readCluster(file);
  expect(cluster.volumes).toEqual([]);
  expect([...cluster.otherKinds]).toEqual([['Volume.ceph.rook.io', 1]]);
});

test('an object without a status, as it is just after its creation, is read', async () => {
  const cluster = await readCluster(writeFile(path.join(folder, 'f.yaml'), item('a')));
  expect(cluster.volumes[0]).toMatchObject({ name: 'a', state: '', robustness: '', conditions: [] });
});

test('a folder that links to itself ends', async () => {
  fs.symlinkSync(folder, path.join(folder, 'again'));
  writeFile(path.join(folder, 'f.yaml'), item('a'));
  const cluster = await readCluster(folder);
  expect({ volumes: cluster.volumes.length, problems: cluster.problems }).toEqual({
    volumes: 1,
    problems: [],
  });
});

/** A list of one volume, or one more item of it. */
function item(name: string, head = 'apiVersion: v1\nkind: List\nitems:\n'): string {
  return `${head}- apiVersion: longhorn.io/v1beta2\n  kind: Volume\n  metadata:\n    name: ${name}\n  spec:\n    size: "1"\n`;
}
