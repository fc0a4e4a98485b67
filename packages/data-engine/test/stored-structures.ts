/** What the data engine stores, each with what writes it and what reads it: the table that `damage.test.ts` goes through. */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { copyRecord } from '@holdfast/core/model/copy-record.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { isZeros, type Stored, type Structure } from '@holdfast/testkit/damage.js';
import { readDiskNote, writeDiskNote } from '../src/disk/block/disk-note.js';
import { blockDiskAt, formatBlockDisk } from '../src/disk/block/format-block-disk.js';
import { rootOffset } from '../src/disk/block/layout.js';
import { FolderFiles } from '../src/disk/folder/folder-store.js';
import { replicaDirectory } from '../src/disk/folder/replica-files.js';
import { layerExtents } from '../src/layers/chain.js';
import { Layer } from '../src/layers/layer.js';
import { RangeSums } from '../src/layers/range-sums.js';
import { loadRangeSums, storeRangeSums } from '../src/layers/stored-range-sums.js';
import { contiguous } from '../src/nbd/export.js';
import { IntentMap } from '../src/replica/intent-map.js';
import { loadMetadata } from '../src/replica/metadata.js';
import { openDiskStore } from '../src/replica/open-disk-store.js';
import { Replica } from '../src/replica/replica.js';

/** Three pages of a map. */
const VOLUME_BYTES = 300 * MIB;
/** The data of a layer that is cut: it is read as a whole to be mended. */
const LAYER_BYTES = 2 * MIB;
const DISK_BYTES = 32 * MIB;
const PAGE = 4096;
const REPLICA_ID = '22222222-2222-4222-8222-222222222222';
const SNAPSHOT_ID = '11111111-1111-4111-8111-111111111111';
/** Begins each page of users' data. */
const DATA = Buffer.from('data of a user: ');
const PARTS = [0, 200 * MIB];
const NO_COPY = ['replica.corrupt'];
const NO_DISK = ['disk.wrong_identity'];
const CHECKSUM = {
  algorithm: 'blake3',
  value: 'a'.repeat(64),
  heldBytes: PAGE,
  changeTime: '1',
  hashedAt: '',
} as const;

export const STRUCTURES: readonly Structure[] = [
  {
    name: "a copy's metadata: layers, record, drop marks, epoch",
    writers: ['replica/metadata.ts', 'disk/folder/spare-text.ts'],
    refusals: NO_COPY,
    make: async (folder) => {
      const directory = await makeCopy(folder);
      return {
        file: path.join(directory, 'replica.json'),
        read: () => loadMetadata(new FolderFiles(directory)),
      };
    },
  },
  {
    name: 'the write-intent map',
    writers: ['replica/intent-map.ts'],
    refusals: NO_COPY,
    make: async (folder) => {
      const directory = await makeCopy(folder);
      const read = async () => {
        const map = await IntentMap.open(new FolderFiles(directory), VOLUME_BYTES);
        await map.close();
        return map.runs();
      };
      return { file: path.join(directory, 'intent.map'), read };
    },
  },
  {
    name: "the map of a layer's blocks, with its marks",
    writers: ['layers/map-file.ts'],
    refusals: NO_COPY,
    make: async (folder) => (await makeLayer(folder, VOLUME_BYTES)).map,
  },
  {
    name: 'the length of the data of a layer',
    writers: ['layers/layer.ts'],
    refusals: NO_COPY,
    kinds: ['cut'],
    make: async (folder) => (await makeLayer(folder, LAYER_BYTES)).data,
  },
  {
    name: 'the range checksums of a layer',
    writers: ['layers/stored-range-sums.ts'],
    refusals: [],
    also: { told: null, when: () => true, because: 'they are computed again from the data' },
    make: async (folder) => {
      const files = new FolderFiles(folder);
      const sums = new RangeSums(VOLUME_BYTES);
      sums.bytes.fill(7);
      await storeRangeSums(files, 'layer.sums', CHECKSUM, sums);
      const read = async () => (await loadRangeSums(files, 'layer.sums', CHECKSUM, 0, 300)) ?? null;
      return { file: path.join(folder, 'layer.sums'), read };
    },
  },
  {
    name: 'the superblock of a block disk',
    writers: ['disk/block/format-block-disk.ts', 'disk/block/recover.ts'],
    refusals: NO_DISK,
    also: {
      told: undefined,
      when: ({ kind, at }) => kind === 'cut' && at === 0,
      because: 'an empty file holds nothing; where a disk is known to be, it is reported as missing',
    },
    make: async (folder) => {
      const file = await makeDisk(folder);
      return { file, bytes: PAGE, read: () => blockDiskAt(file) };
    },
  },
  {
    name: "the agent's note on a block disk",
    writers: ['disk/block/disk-note.ts'],
    refusals: NO_DISK,
    make: async (folder) => {
      const file = await makeDisk(folder);
      for (const text of ['one', 'two', 'three']) await writeDiskNote(file, text);
      return { file, from: 2 * PAGE, bytes: 2 * PAGE, read: () => readDiskNote(file) };
    },
  },
];

/** Read as a whole, by opening the disk and its copy: slower, so less densely. */
export const WHOLE: readonly Structure[] = [
  {
    name: 'the roots of a copy on a block disk',
    writers: ['disk/block/stored-copy.ts'],
    refusals: [...NO_COPY, ...NO_DISK],
    make: async (folder) => ({ ...(await copyOnDisk(folder)), from: rootOffset(0, 0), bytes: 2 * PAGE }),
  },
  {
    name: 'everything on a block disk',
    writers: ['disk/block/block-copy-file.ts', 'disk/block/cluster-owners.ts', 'disk/block/block-disk.ts'],
    refusals: [...NO_COPY, ...NO_DISK],
    make: copyOnDisk,
  },
];

/** Sources that store nothing of their own, and why. */
export const NO_STRUCTURE: Readonly<Record<string, string>> = {
  'disk/durable-file.ts': 'what it writes is its caller’s',
  'disk/folder/direct-io.ts': 'a probe, which is removed',
  'disk/block/old-disk-note.ts':
    'an earlier format: its damage can not be told, and it is renewed when the disk is opened',
};

async function makeCopy(folder: string): Promise<string> {
  const record = copyRecord(1, 3, [asId<ReplicaId>(REPLICA_ID)]);
  await writeCopy(folder, record);
  return replicaDirectory(folder, REPLICA_ID);
}

async function writeCopy(disk: string, record: ReturnType<typeof copyRecord>): Promise<void> {
  const [volumeId, diskId] = [crypto.randomUUID(), crypto.randomUUID()];
  const secret = 'a-secret-of-sixteen';
  await Replica.create(disk, {
    replicaId: REPLICA_ID,
    volumeId,
    diskId,
    sizeBytes: VOLUME_BYTES,
    secret,
    record,
  });
  const copy = await Replica.open(disk, REPLICA_ID);
  await copy.fence(1);
  for (const part of PARTS) await write(copy, part, 16);
  await copy.layers.snapshot({ id: SNAPSHOT_ID, name: 'a', origin: 'user', createdAt: '', drop: null });
  for (const part of PARTS) await write(copy, part + 3 * PAGE, 4);
  await copy.close();
}

async function write(copy: Replica, offset: number, blocks: number): Promise<void> {
  const bytes = Buffer.alloc(blocks * PAGE, DATA);
  await copy.write(offset, [bytes], bytes.length, { epoch: 1, fua: true });
}

async function makeLayer(folder: string, sizeBytes: number): Promise<{ map: Stored; data: Stored }> {
  const files = new FolderFiles(folder);
  const made = await Layer.create(files, 'layer', sizeBytes);
  await made.write([Buffer.alloc(8 * PAGE, 1)], 0, 8 * PAGE);
  await made.write([Buffer.alloc(PAGE, 2)], sizeBytes - 100 * PAGE, PAGE);
  await made.flush();
  await made.close();
  const read = async () => {
    const layer = await Layer.open(files, 'layer', sizeBytes);
    const extents = layerExtents(layer, 0, sizeBytes, 100);
    await layer.close();
    return extents;
  };
  return {
    map: { file: path.join(folder, 'layer.map'), read },
    data: { file: path.join(folder, 'layer.img'), read },
  };
}

async function makeDisk(folder: string): Promise<string> {
  const file = path.join(folder, 'blocks');
  await formatBlockDisk(file, DISK_BYTES);
  return file;
}

async function copyOnDisk(folder: string): Promise<Stored> {
  const file = await makeDisk(folder);
  await writeDiskNote(file, 'a note');
  await writeCopy(file, copyRecord(1, 3, [asId<ReplicaId>(REPLICA_ID)]));
  const read = async () => {
    const store = await openDiskStore(file);
    try {
      const copy = await Replica.open(file, REPLICA_ID);
      try {
        const hash = crypto.createHash('sha256');
        for (const part of PARTS) {
          hash.update(contiguous(await copy.read(part, 24 * PAGE)));
          hash.update(contiguous(await copy.chainUpTo(SNAPSHOT_ID).read(part, 24 * PAGE)));
        }
        const said = [await store.list(), await readDiskNote(file), copy.metadata, copy.intentRegions()];
        return [...said, copy.heldBytes, hash.digest('hex')];
      } finally {
        await copy.close();
      }
    } finally {
      await store.close();
    }
  };
  return { file, isOther: (page) => isZeros(page) || page.subarray(0, DATA.length).equals(DATA), read };
}

/** A folder in memory where there is one: thousands of files are written. */
export async function fastFolder(): Promise<string> {
  return fs.mkdtemp('/dev/shm/holdfast-damage-').catch(() => fs.mkdtemp('/tmp/holdfast-damage-'));
}
