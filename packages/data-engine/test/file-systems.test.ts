/**
 * File systems on a volume with three real copies: made, mounted by the kernel, filled, unmounted, checked.
 *
 * nbdfuse presents the volume as a file, and a loop device presents that as a block device. This process must not
 * access the mounted folder: it serves the volume, so it would wait for itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { eventually } from '@holdfast/testkit/eventually.js';
import { hasPrograms, outputOf, runTool } from '@holdfast/testkit/nbd-tools.js';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Cluster, MIB, useClusters } from './engine-cluster.js';
import { ServedVolume } from './served-volume.js';

/** The smallest size that XFS accepts is 300 MB. */
const VOLUME_BYTES = 320 * MIB;
/** Content for the file systems: our own sources, some hundred files. */
const FILES = path.resolve(import.meta.dirname, '../src');

const clusters = useClusters();
const canMount = process.getuid?.() === 0 && fs.existsSync('/dev/fuse') && fs.existsSync('/dev/loop-control');

let folder: string;
/** Clean-up steps, run in reverse order; each may have been done already. */
let undo: (() => Promise<unknown>)[];
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-fs-'));
  undo = [];
});

afterEach(async () => {
  await undoAll();
  fs.rmSync(folder, { recursive: true });
});

const FILE_SYSTEMS = [
  { name: 'ext4', make: ['mkfs.ext4', '-q', '-F'], check: ['e2fsck', '-f', '-n'] },
  { name: 'xfs', make: ['mkfs.xfs', '-q', '-f'], check: ['xfs_repair', '-n'] },
  { name: 'btrfs', make: ['mkfs.btrfs', '-q', '-f'], check: ['btrfs', 'check'] },
];
const programs = [
  ...FILE_SYSTEMS.flatMap(({ make, check }) => [make[0] ?? '', check[0] ?? '']),
  'nbdfuse',
  'losetup',
];

(hasPrograms(...programs) && canMount ? describe : describe.skip)(
  'a file system over nbdfuse and loop',
  () => {
    beforeAll(() => expect(fs.readdirSync(FILES).length).toBeGreaterThan(3));

    test.each(FILE_SYSTEMS)(
      '$name: filled, mounted again, equal, clean, trimmed',
      async ({ name, make, check }) => {
        const cluster = await clusters.cluster(3, VOLUME_BYTES);
        const loop = await device(cluster);
        const run = ([program = '', ...args]: string[], ...more: string[]) =>
          outputOf(program, ...args, ...more);
        await run(make, loop);

        const tree = path.join(folder, 'tree');
        fs.mkdirSync(tree);
        const mount = async () => {
          await outputOf('mount', '-t', name, loop, tree);
          undo.push(() => runTool('umount', [tree]));
        };
        await mount();
        await outputOf('cp', '-r', FILES, `${tree}/files`);
        await outputOf(
          'dd',
          'if=/dev/zero',
          `of=${tree}/large`,
          'bs=1M',
          'count=40',
          'conv=fsync',
          'status=none',
        );
        await outputOf('umount', tree);
        await mount();
        await outputOf('diff', '-r', FILES, `${tree}/files`);
        await outputOf('rm', `${tree}/large`);
        await outputOf('sync', '-f', tree);
        expect(await outputOf('fstrim', '-v', tree)).toMatch(/[1-9]\d* bytes\) trimmed/);
        await outputOf('umount', tree);
        await run(check, loop);
        expect(
          await (await cluster.copy(0).node.replica(cluster.copy(0).address.replicaId)).writtenBytes(),
        ).toBeLessThan(VOLUME_BYTES / 2);
        await undoAll();
        expect((await cluster.checksums()).size).toBe(1);
      },
    );
  },
);

async function undoAll(): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step();
}

/** Serves a new volume, and returns it as a block device. */
async function device(cluster: Cluster): Promise<string> {
  const engine = await cluster.start(1);
  const volume = await ServedVolume.start(engine);
  undo.push(async () => {
    await volume.stop();
    await engine.stop();
  });
  const mount = path.join(folder, 'volume');
  fs.mkdirSync(mount);
  const fuse = spawn('nbdfuse', [mount, volume.uri], { stdio: 'ignore' });
  undo.push(() => unmounted(fuse, mount));
  const file = path.join(mount, 'nbd');
  await eventually(
    'nbdfuse',
    () => runTool('test', ['-f', file]),
    ({ code }) => code === 0,
  );
  const loop = (await outputOf('losetup', '--find', '--show', file)).trim();
  undo.push(() => runTool('losetup', ['--detach', loop]));
  return loop;
}

async function unmounted(fuse: ChildProcess, mount: string): Promise<void> {
  if (fuse.exitCode !== null) return;
  const ended = once(fuse, 'exit');
  await eventually(
    'the end of nbdfuse',
    () => runTool('umount', [mount]),
    ({ code }) => code === 0,
  );
  await ended;
}
