/** Write-intent marks: which regions of a copy a write marks, and what it waits for. */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { REGION_BYTES, SECTOR_BYTES } from '@holdfast/core/model/bytes.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { HeldSyncs, stateSoon } from '../../test/held-syncs.js';
import { replicaDirectory } from '../disk/folder/replica-files.js';
import { SECTOR_CONTENT_BYTES } from '../disk/sealed-sectors.js';
import { INTENT_FILE } from './intent-map.js';
import { Replica } from './replica.js';

const BLOCK = 4096;

let disk: string;
let syncs: HeldSyncs;
let open: Replica[];

beforeEach(async () => {
  disk = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-intent-'));
  syncs = new HeldSyncs(disk);
  open = [];
});
afterEach(async () => {
  syncs.uninstall();
  for (const replica of open) await replica.close();
  await fs.rm(disk, { recursive: true, force: true });
});

async function copyOf(regions: number): Promise<Replica> {
  const replicaId = crypto.randomUUID();
  const volumeId = crypto.randomUUID();
  const sizeBytes = regions * REGION_BYTES;
  const spec = { replicaId, volumeId, diskId: volumeId, sizeBytes, secret: 'secret', record: null };
  await Replica.create(disk, spec);
  const replica = await Replica.open(disk, replicaId);
  open.push(replica);
  return replica;
}

/** A block in the middle of the region. */
const writeTo = (replica: Replica, region: number): Promise<void> =>
  replica.write((region + 0.5) * REGION_BYTES, [Buffer.alloc(BLOCK, 1)], BLOCK, { fua: false, epoch: 0 });

const marksStored = () => syncs.begun.filter((file) => path.basename(file) === INTENT_FILE).length;

test('a write in a place of its own marks its region and no other', async () => {
  const replica = await copyOf(64);
  for (const region of [40, 20, 60, 0]) await writeTo(replica, region);
  expect(replica.intentRegions()).toEqual([0, 20, 40, 60].map((first) => ({ first, count: 1 })));
});

test('a stream of writes has its regions marked ahead, many by one store', async () => {
  const replica = await copyOf(64);
  const before = marksStored();
  for (let region = 0; region < 32; region += 1) await writeTo(replica, region);
  expect(marksStored() - before).toBeLessThanOrEqual(12);
  const [run, ...others] = replica.intentRegions();
  expect(others).toEqual([]);
  expect(run?.first).toBe(0);
  // 16 by the last store, and half of those before it.
  expect(run?.count).toBeGreaterThanOrEqual(32);
  expect(run?.count).toBeLessThanOrEqual(32 + 24);
});

test('no region is marked that the device does not have', async () => {
  const replica = await copyOf(13);
  for (let region = 0; region < 13; region += 1) await writeTo(replica, region);
  expect(replica.intentRegions()).toEqual([{ first: 0, count: 13 }]);
  const layer = { id: crypto.randomUUID(), name: 'grown', origin: 'system' as const, drop: null };
  await replica.layers.snapshot({ ...layer, createdAt: '2026-01-01T00:00:00Z' }, 21 * REGION_BYTES);
  for (let region = 13; region < 21; region += 1) await writeTo(replica, region);
  expect(replica.intentRegions()).toEqual([{ first: 0, count: 21 }]);
});

test('a write waits for the mark of its own region, and not for those ahead of it', async () => {
  const replica = await copyOf(64);
  for (const region of [0, 1]) await writeTo(replica, region);
  // The write to region 1 has marked region 2; the write to region 2 has the following ones marked.
  syncs.hold();
  expect(await stateSoon(writeTo(replica, 2))).toBe('resolved');
  await syncs.caught();
  const next = writeTo(replica, 3);
  expect(await stateSoon(next)).toBe('waiting');
  syncs.release();
  await next;
  expect(replica.intentRegions()[0]?.count).toBeGreaterThanOrEqual(4);
});

test('one damaged sector of the map among valid ones has the copy refused: marks may be missing there', async () => {
  const sectors = 3;
  const replica = await copyOf(sectors * 8 * SECTOR_CONTENT_BYTES);
  const { replicaId } = replica.metadata;
  await replica.close();
  open.splice(0);
  const file = await fs.open(path.join(replicaDirectory(disk, replicaId), INTENT_FILE), 'r+');
  await file.write(Buffer.from([1]), 0, 1, SECTOR_BYTES + 7);
  await file.close();
  await expect(Replica.open(disk, replicaId)).rejects.toMatchObject({ code: 'replica.corrupt' });
});
