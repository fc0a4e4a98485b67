import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { BLOCK_BYTES, CLUSTER_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FolderFiles } from '../disk/folder/folder-store.js';
import { Layer } from '../layers/layer.js';
import { hashWindow } from '../layers/window-hash.js';
import { contiguous } from '../nbd/export.js';
import { LayerExport } from './replica-exports.js';
import { SentWindows } from './sent-windows.js';

const ID = 'layer-1';
/** The last window is a short one. */
const SIZE = 3 * WINDOW_BYTES + CLUSTER_BYTES;
const SHORT_WINDOW = 3;
/** A window of which the layer holds only these runs. */
const SPARSE_WINDOW = 2;
const SPARSE_START = SPARSE_WINDOW * WINDOW_BYTES + CLUSTER_BYTES;
const RUNS = [
  { offset: SPARSE_START, lengthBytes: 2 * BLOCK_BYTES },
  { offset: SPARSE_START + CLUSTER_BYTES, lengthBytes: BLOCK_BYTES },
  { offset: SPARSE_START + 3 * CLUSTER_BYTES, lengthBytes: BLOCK_BYTES },
] as const;

let folder: string;
let layer: Layer;
let sent: SentWindows;
let exported: LayerExport;

beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-sent-'));
  layer = await Layer.create(new FolderFiles(folder), 'layer', SIZE);
  await write(0, WINDOW_BYTES);
  await write(WINDOW_BYTES, WINDOW_BYTES - BLOCK_BYTES);
  for (const { offset, lengthBytes } of RUNS) await write(offset, lengthBytes);
  await write(SHORT_WINDOW * WINDOW_BYTES, CLUSTER_BYTES);
  sent = new SentWindows(false);
  exported = new LayerExport(ID, layer, sent);
});

afterEach(async () => {
  await layer.close();
  await fs.rm(folder, { recursive: true, force: true });
});

const write = (offset: number, lengthBytes: number) =>
  layer.write([crypto.randomBytes(lengthBytes)], offset, lengthBytes);

describe('what a rebuild was sent', () => {
  test.each([
    { name: 'a whole window', window: 0, lengthBytes: WINDOW_BYTES },
    { name: 'the whole of a short one', window: SHORT_WINDOW, lengthBytes: CLUSTER_BYTES },
  ])('$name: its hash is known, once', async ({ window, lengthBytes }) => {
    await exported.read(window * WINDOW_BYTES, lengthBytes);
    expect(sent.take(ID, layer, window)?.hash).toBe(await hashWindow(layer, window));
    expect(sent.take(ID, layer, window)).toBeUndefined();
  });

  test.each([
    { name: 'a part of a window', offset: 0, lengthBytes: WINDOW_BYTES - BLOCK_BYTES },
    { name: 'not from its beginning', offset: BLOCK_BYTES, lengthBytes: WINDOW_BYTES },
    {
      name: 'a window of which it does not hold all',
      offset: WINDOW_BYTES,
      lengthBytes: WINDOW_BYTES,
    },
  ])('$name: nothing is known', async ({ offset, lengthBytes }) => {
    await exported.read(offset, lengthBytes);
    expect(sent.size).toBe(0);
  });

  test('the runs of a window that holds little: its hash is known', async () => {
    const pieces = await exported.readRanges(RUNS);
    for (const [index, { offset, lengthBytes }] of RUNS.entries())
      expect(pieces[index]).toEqual(contiguous(await layer.read(offset, lengthBytes)));
    expect(sent.take(ID, layer, SPARSE_WINDOW)?.hash).toBe(await hashWindow(layer, SPARSE_WINDOW));
  });

  const [FIRST, SECOND, THIRD] = RUNS;
  test.each([
    { name: 'a run is left out', ranges: [FIRST, THIRD] },
    { name: 'a run was read in part', ranges: [{ ...FIRST, lengthBytes: BLOCK_BYTES }, SECOND, THIRD] },
    {
      name: 'more was read than the layer holds',
      ranges: [FIRST, { ...SECOND, lengthBytes: 2 * BLOCK_BYTES }, THIRD],
    },
  ])('the runs of a window: nothing is known if $name', async ({ ranges }) => {
    const pieces = await exported.readRanges(ranges);
    for (const [index, { offset, lengthBytes }] of ranges.entries())
      expect(pieces[index]).toEqual(contiguous(await layer.read(offset, lengthBytes)));
    expect(sent.size).toBe(0);
  });

  test('the runs of a window: nothing is known of them where range checksums are kept', async () => {
    const withSums = new SentWindows(true);
    await new LayerExport(ID, layer, withSums).readRanges(RUNS);
    expect(withSums.size).toBe(0);
  });

  test.each([
    { name: 'written again', change: () => write(BLOCK_BYTES, BLOCK_BYTES) },
    { name: 'freed', change: () => layer.forget(BLOCK_BYTES, BLOCK_BYTES) },
  ])('a layer of which a block is $name since is hashed from its files', async ({ change }) => {
    await exported.read(0, WINDOW_BYTES);
    await change();
    expect(sent.take(ID, layer, 0)).toBeUndefined();
  });

  test('a write while it was being read voids it too', async () => {
    const reading = exported.read(0, WINDOW_BYTES);
    await write(BLOCK_BYTES, BLOCK_BYTES);
    await reading;
    expect(sent.take(ID, layer, 0)).toBeUndefined();
  });

  test('another layer of that name is not it', async () => {
    await exported.read(0, WINDOW_BYTES);
    const other = await Layer.create(new FolderFiles(folder), 'other', SIZE);
    // Written to as often.
    for (let at = 0; at < layer.map.changes; at += 1) other.map.setRange(at, 1);
    expect(sent.take(ID, other, 0)).toBeUndefined();
    await other.close();
  });

  test('the oldest are forgotten', async () => {
    const offset = SHORT_WINDOW * WINDOW_BYTES;
    const [pieces, { changes }] = [await layer.read(offset, CLUSTER_BYTES), layer.map];
    const runs = [{ first: offset / BLOCK_BYTES, count: CLUSTER_BYTES / BLOCK_BYTES }];
    for (let index = 0; index <= 512; index += 1)
      sent.note({ layerId: `layer-${index}`, layer, changes, runs, pieces });
    expect(sent.size).toBe(512);
    expect(sent.take('layer-0', layer, SHORT_WINDOW)).toBeUndefined();
    expect(sent.take('layer-512', layer, SHORT_WINDOW)).toBeDefined();
  });
});
