import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { SECTOR_BYTES } from '@holdfast/core/model/bytes.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { FolderFiles } from '../disk/folder/folder-store.js';
import { BlockMap } from './block-map.js';
import { MapFile } from './map-file.js';

const NAME = 'layer.map';
const BLOCKS = 100;
/** Behind the page of marks. */
const PAGE_AT = 4096;
const PAGE_SECTORS = 8;

let folder: string;
let files: FolderFiles;
beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-map-'));
  files = new FolderFiles(folder);
});
afterEach(() => fs.rm(folder, { recursive: true, force: true }));

/** @returns the blocks that a new process finds in the map */
async function load(): Promise<number> {
  const map = new BlockMap(BLOCKS);
  const mapFile = await MapFile.load(await files.openFile(NAME, { kind: 'map' }), map, false);
  await mapFile.close();
  return map.heldBlocks;
}

/** The bytes of the file before and after its first page was stored. */
async function bytesAround(): Promise<[before: Buffer, after: Buffer]> {
  const map = new BlockMap(BLOCKS);
  const mapFile = await MapFile.create(files, NAME, map.pageCount);
  const before = await fs.readFile(path.join(folder, NAME));
  map.setRange(0, 10);
  await mapFile.store(map.takeDirty());
  await mapFile.close();
  return [before, await fs.readFile(path.join(folder, NAME))];
}

test.each(Array.from({ length: PAGE_SECTORS }, (_, kept) => kept))(
  'a map whose first page was torn by a power cut can be opened again and again: only sector %i is there',
  async (kept) => {
    const [before, after] = await bytesAround();
    const at = PAGE_AT + kept * SECTOR_BYTES;
    after.copy(before, at, at, at + SECTOR_BYTES);
    await fs.writeFile(path.join(folder, NAME), before);
    const found = await load();
    expect(found).toBe(kept === 0 ? 10 : 0);
    // The second opening must not take the result of the first one for damage.
    expect(await load()).toBe(found);
  },
);

test('a page that is marked and has lost a sector is damage', async () => {
  const [, after] = await bytesAround();
  after.fill(0, PAGE_AT + SECTOR_BYTES, PAGE_AT + 2 * SECTOR_BYTES);
  await fs.writeFile(path.join(folder, NAME), after);
  await expect(load()).rejects.toMatchObject({ code: 'replica.corrupt' });
});
