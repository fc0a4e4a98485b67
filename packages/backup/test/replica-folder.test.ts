/** Folders of Longhorn's replicas: layers by their extents, and what is refused. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { copyReplica, divide, openReplicaFolder } from '../src/longhorn/replica-folder.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-replicas-'));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

const BLOCK = 4096;
const BLOCKS = 16;
let folder: string;

/** A layer: one letter for each block, a dot for a hole. Letters of a newer layer hide those below; `0` is a block of zeros that was written. */
function layer(name: string, parent: string, content: string): void {
  const file = fs.openSync(path.join(folder, name), 'w');
  fs.ftruncateSync(file, content.length * BLOCK);
  for (const [at, letter] of [...content].entries())
    if (letter !== '.')
      fs.writeSync(file, Buffer.alloc(BLOCK, letter === '0' ? 0 : letter), 0, BLOCK, at * BLOCK);
  fs.closeSync(file);
  fs.writeFileSync(
    path.join(folder, `${name}.meta`),
    JSON.stringify({ Name: name, Parent: parent, Labels: null }),
  );
}

function meta(members: object = {}): void {
  const volume = { Size: BLOCKS * BLOCK, Head: 'volume-head-002.img', Dirty: false, Rebuilding: false };
  fs.writeFileSync(path.join(folder, 'volume.meta'), JSON.stringify({ ...volume, ...members }));
}

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(root, 'replica-'));
  meta();
  layer('volume-snap-one.img', '', 'aaaaaaaa');
  layer('volume-snap-two.img', 'volume-snap-one.img', '.bb.....bb......');
  layer('volume-head-002.img', 'volume-snap-two.img', '..c0..........c.');
});

/** What the volume reads as, one letter for each block. */
async function readAs(options: { snapshot?: string } = {}): Promise<string> {
  const replica = await openReplicaFolder(folder, options);
  const image = Buffer.alloc(replica.sizeBytes);
  await copyReplica(replica, {
    write: async (at, bytes) => void bytes.copy(image, at),
    zero: async () => undefined,
  });
  return Array.from({ length: BLOCKS }, (_, at) => {
    const block = image.subarray(at * BLOCK, (at + 1) * BLOCK);
    expect(new Set(block).size).toBe(1);
    return block[0] === 0 ? '.' : String.fromCharCode(block[0] ?? 0);
  }).join('');
}

test('each block is of the newest layer that holds it, holes and shorter layers fall through', async () => {
  expect(await readAs()).toBe('abc.aaaabb....c.');
});

test('a snapshot reads without what is newer', async () => {
  expect(await readAs({ snapshot: 'two' })).toBe('abbaaaaabb......');
  expect(await readAs({ snapshot: 'one' })).toBe('aaaaaaaa........');
});

describe('a folder', () => {
  test.each([
    {
      name: 'of a replica that was being rebuilt',
      spoil: () => meta({ Rebuilding: true }),
      says: /being rebuilt/,
    },
    {
      name: 'of a volume on a backing image',
      spoil: () => meta({ BackingFilePath: '/i/x' }),
      says: /backing image/,
    },
    { name: 'whose head is a path', spoil: () => meta({ Head: '../volume-head-001.img' }), says: /Head/ },
    {
      name: 'without a volume',
      spoil: () => fs.rmSync(path.join(folder, 'volume.meta')),
      says: /no such file/,
    },
    {
      name: 'whose layers go in a circle',
      spoil: () => layer('volume-snap-one.img', 'volume-head-002.img', 'a'),
      says: /circle/,
    },
    {
      name: 'that misses a layer',
      spoil: () => fs.rmSync(path.join(folder, 'volume-snap-two.img')),
      says: /snap-two\.img/,
    },
    {
      name: 'with a layer larger than its volume',
      spoil: () => layer('volume-snap-one.img', '', 'a'.repeat(17)),
      says: /more than its volume/,
    },
  ])('$name is refused with the reason', async ({ spoil, says }) => {
    spoil();
    const failing = readAs();
    await expect(failing).rejects.toMatchObject({ code: 'longhorn_replica.unusable' });
    await expect(failing).rejects.toThrow(says);
  });

  test('that was not closed is read with a warning, and an encrypted one as it is', async () => {
    meta({ Dirty: true, Encrypted: true });
    const replica = await openReplicaFolder(folder);
    expect(replica.warnings).toEqual([expect.stringContaining('not closed')]);
    expect(replica.isEncrypted).toBe(true);
  });

  test('has unfinished work of Longhorn in it, which is left alone', async () => {
    fs.writeFileSync(path.join(folder, 'volume-delta-x.img'), 'zzzz');
    fs.writeFileSync(path.join(folder, 'volume.meta.tmp'), '{');
    expect(await readAs()).toBe('abc.aaaabb....c.');
  });
});

test.each([
  {
    open: [[0, 10]],
    held: [
      [2, 4],
      [6, 12],
    ],
    taken: [
      [2, 4],
      [6, 10],
    ],
    rest: [
      [0, 2],
      [4, 6],
    ],
  },
  {
    open: [
      [0, 2],
      [4, 6],
    ],
    held: [[1, 5]],
    taken: [
      [1, 2],
      [4, 5],
    ],
    rest: [
      [0, 1],
      [5, 6],
    ],
  },
  { open: [[3, 5]], held: [], taken: [], rest: [[3, 5]] },
  {
    open: [[3, 5]],
    held: [
      [0, 3],
      [5, 9],
    ],
    taken: [],
    rest: [[3, 5]],
  },
])('parts are divided between a layer and those below it: $open by $held', ({ open, held, taken, rest }) => {
  const extents = (pairs: number[][]) => pairs.map(([offset = 0, end = 0]) => ({ offset, end }));
  expect(divide(extents(open), extents(held))).toEqual({ taken: extents(taken), rest: extents(rest) });
});
