/**
 * Copies as released formats have stored them, kept as archives: each must open for as long as its format is supported.
 *
 * HOLDFAST_WRITE_FORMATS=1 makes the archive of today's format where there is none. An archive is never replaced: a change that
 * needs that is a new format.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyRecord } from '@holdfast/core/model/copy-record.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { outputOf } from '@holdfast/testkit/nbd-tools.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { formatBlockDisk } from '../../src/disk/block/format-block-disk.js';
import { FORMAT_VERSION as BLOCK_FORMAT_VERSION } from '../../src/disk/block/layout.js';
import { contiguous } from '../../src/nbd/export.js';
import { FORMAT_VERSION } from '../../src/replica/metadata.js';
import { Replica } from '../../src/replica/replica.js';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const BLOCK = 4096;
const SIZE = 1024 * 1024;
const REPLICA_ID = asId<ReplicaId>('01a20000-0000-7000-8000-000000000001');
const VOLUME_ID = '01a20000-0000-7000-8000-000000000002';
const SNAPSHOT_ID = '01a20000-0000-7000-8000-000000000003';
const NO_FUA = { fua: false, epoch: 0 };

/** The smallest that a block disk may be: most of it is zeros, which an archive holds in no space. */
const BLOCK_DISK_BYTES = 32 * 1024 * 1024;

/** Formats that this version has to open: of copies in folders, and of block disks. */
const FORMATS = [
  { kind: 'copy', format: 3 },
  { kind: 'copy', format: 4 },
  { kind: 'block-disk', format: 2 },
  { kind: 'block-disk', format: 3 },
  { kind: 'block-disk', format: 4 },
] as const;
type Kind = (typeof FORMATS)[number]['kind'];

let disk: string;
beforeEach(() => {
  disk = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-formats-'));
});
afterEach(() => fs.rmSync(disk, { recursive: true }));

const archiveOf = (kind: Kind, format: number) => path.join(HERE, `${kind}-${format}.tar.gz`);
/** Where the copy is, in the folder that the archive is of. */
const placeOf = (kind: Kind) => (kind === 'copy' ? disk : path.join(disk, 'blocks'));
const filled = (value: number) => Buffer.alloc(BLOCK, value);

/** Three blocks: one of the snapshot, one written over since, one new. */
async function writeToday(kind: Kind): Promise<void> {
  if (kind === 'block-disk') await formatBlockDisk(placeOf(kind), BLOCK_DISK_BYTES);
  const record = copyRecord(7, 2, [REPLICA_ID]);
  const ids = { replicaId: REPLICA_ID, volumeId: VOLUME_ID, diskId: VOLUME_ID };
  await Replica.create(placeOf(kind), { ...ids, sizeBytes: SIZE, secret: 'a secret of the fixture', record });
  const replica = await Replica.open(placeOf(kind), REPLICA_ID);
  await replica.write(0, [filled(1), filled(1)], 2 * BLOCK, NO_FUA);
  await replica.layers.snapshot({
    id: SNAPSHOT_ID,
    name: 'before',
    origin: 'user',
    createdAt: '2026-01-01T00:00:00Z',
    drop: null,
  });
  await replica.write(BLOCK, [filled(2), filled(3)], 2 * BLOCK, NO_FUA);
  await replica.flush();
  await replica.close();
}

test.each(FORMATS)(
  'a $kind of format $format opens with its record, its snapshot and its bytes',
  async ({ kind, format }) => {
    const archive = archiveOf(kind, format);
    if (process.env.HOLDFAST_WRITE_FORMATS === '1' && !fs.existsSync(archive)) {
      await writeToday(kind);
      await outputOf('tar', '--sparse', '--sort=name', '-C', disk, '-czf', archive, '.');
      for (const entry of fs.readdirSync(disk)) fs.rmSync(path.join(disk, entry), { recursive: true });
    }
    await outputOf('tar', '-C', disk, '-xzf', archive);
    const replica = await Replica.open(placeOf(kind), REPLICA_ID);
    const { sizeBytes, volumeId, record, layers } = replica.metadata;
    expect({ sizeBytes, volumeId, record }).toEqual({
      sizeBytes: SIZE,
      volumeId: VOLUME_ID,
      record: copyRecord(7, 2, [REPLICA_ID]),
    });
    expect(layers.filter(({ origin }) => origin === 'user').map(({ id, name }) => [id, name])).toEqual([
      [SNAPSHOT_ID, 'before'],
    ]);
    const bytes = contiguous(await replica.read(0, 4 * BLOCK));
    expect(bytes.equals(Buffer.concat([filled(1), filled(2), filled(3), filled(0)]))).toBe(true);
    // A copy that opens but takes no writes would be of no use.
    await replica.write(3 * BLOCK, [filled(4)], BLOCK, NO_FUA);
    await replica.flush();
    await replica.close();
  },
);

test.each([
  { kind: 'copy', written: FORMAT_VERSION },
  { kind: 'block-disk', written: BLOCK_FORMAT_VERSION },
])('the archives have a $kind of the format that is written today', ({ kind, written }) => {
  expect(FORMATS).toContainEqual({ kind, format: written });
});
