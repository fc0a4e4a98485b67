/** A copy on a file system without a byte to spare: made for each test in a file of its own, as root on Linux. */
import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import { mkdtempSync, rmdirSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { copyRecord } from '@holdfast/core/model/copy-record.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { replicaDirectory } from '../disk/folder/replica-files.js';
import { contiguous } from '../nbd/export.js';
import { Replica } from './replica.js';

const MIB = 1024 * 1024;
const BLOCK = 4096;
const SIZE = 512 * MIB;
/** Beyond the map pages that the first writes are in. */
const FAR = 300 * MIB;
const OPTIONS = { fua: false, epoch: 0 };

const FILE_SYSTEMS = [
  { name: 'ext4', make: ['mkfs.ext4', '-q', '-m', '0'], sizeBytes: 32 * MIB },
  { name: 'xfs', make: ['mkfs.xfs', '-q', '-f'], sizeBytes: 320 * MIB },
  { name: 'tmpfs', make: undefined, sizeBytes: 32 * MIB },
] as const;

let folder: string;
let disk: string;
let open: Replica[];
let isMounted: boolean;

beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-full-'));
  disk = path.join(folder, 'disk');
  await fs.mkdir(disk);
  open = [];
  isMounted = false;
});
afterEach(async () => {
  for (const replica of open) await replica.close().catch(() => undefined);
  if (isMounted) run('umount', disk);
  await fs.rm(folder, { recursive: true, force: true });
});

type FileSystem = (typeof FILE_SYSTEMS)[number];

const write = (replica: Replica, offset: number, fill: number) =>
  replica.write(offset, [Buffer.alloc(BLOCK, fill)], BLOCK, OPTIONS);

const canMount = process.getuid?.() === 0 && tryToMount();
const described = canMount ? describe : describe.skip;

described.each(FILE_SYSTEMS)('on a full $name', (fileSystem) => {
  test('a copy takes a record and a fence, keeps what it has flushed, and says that it is full', async () => {
    await mount(fileSystem);
    const replica = await create();
    const { replicaId } = replica.metadata;
    await write(replica, 0, 1);
    await replica.flush();
    // Data with space of its own already, in a map page that was never stored.
    await write(replica, FAR, 2);
    await fill();
    await replica.flush();
    await expect(writeUntilFull(replica)).rejects.toMatchObject({ code: 'ENOSPC' });
    for (let epoch = 1; epoch <= 5; epoch += 1) {
      await replica.fence(epoch);
      await replica.storeRecord(copyRecord(epoch, 1, [asId<ReplicaId>(replicaId)]));
    }
    expect(await holds(replica, 0)).toBe(1);
    await replica.close();
    const again = await reopen(replicaId);
    expect(again.metadata).toMatchObject({ epoch: 5, record: { epoch: 5, dataGeneration: 1 } });
    expect(await holds(again, 0)).toBe(1);
    expect(await holds(again, FAR)).toBe(2);
  });

  test('a snapshot is refused without a trace, and taken once there is space', async () => {
    await mount(fileSystem);
    const replica = await create();
    await write(replica, 0, 1);
    const filler = await fill();
    const files = await fs.readdir(replicaDirectory(disk, replica.metadata.replicaId));
    const ask = { id: crypto.randomUUID(), name: 's', origin: 'user', createdAt: '', drop: null } as const;
    await expect(replica.layers.snapshot(ask)).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(replica.metadata.layers).toHaveLength(1);
    expect(await fs.readdir(replicaDirectory(disk, replica.metadata.replicaId))).toEqual(files);
    await write(replica, 0, 2);
    await fs.rm(filler);
    await replica.layers.snapshot(ask);
    await write(replica, FAR, 3);
    await replica.flush();
    expect(await holds(replica, 0)).toBe(2);
  });
});

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Mounts a new file system of this kind. Throws if this machine can't. */
async function mount({ make, sizeBytes }: FileSystem): Promise<void> {
  if (make === undefined) {
    isMounted = run('mount', '-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'none', disk);
  } else {
    const image = path.join(folder, 'image');
    await fs.writeFile(image, '');
    await fs.truncate(image, sizeBytes);
    const [command, ...flags] = make;
    isMounted = run(command, ...flags, image) && run('mount', '-o', 'loop', image, disk);
  }
  if (!isMounted) throw new Error('it could not be mounted');
}

async function create(): Promise<Replica> {
  const volumeId = crypto.randomUUID();
  const replicaId = crypto.randomUUID();
  const record = copyRecord(0, 0, [asId<ReplicaId>(replicaId)]);
  await Replica.create(disk, {
    replicaId,
    volumeId,
    diskId: volumeId,
    sizeBytes: SIZE,
    secret: 's'.repeat(32),
    record,
  });
  return reopen(replicaId);
}

async function reopen(replicaId: string): Promise<Replica> {
  const replica = await Replica.open(disk, replicaId);
  open.push(replica);
  return replica;
}

/** Some file systems keep a little space that a plain file does not get. */
async function writeUntilFull(replica: Replica): Promise<void> {
  for (let block = 1; block < 8192; block += 1) await write(replica, FAR + block * BLOCK, 3);
}

async function holds(replica: Replica, offset: number): Promise<number | undefined> {
  return contiguous(await replica.read(offset, BLOCK))[0];
}

/** Takes all the space that a plain file can get. */
async function fill(): Promise<string> {
  const file = path.join(disk, 'filler');
  const handle = await fs.open(file, 'w');
  try {
    for (let piece = MIB; piece >= 512; ) {
      const error = await handle.appendFile(Buffer.alloc(piece, 0xee)).then(
        () => handle.sync(),
        (thrown: unknown) => thrown,
      );
      if (error !== undefined) piece = Math.floor(piece / 2);
    }
  } finally {
    await handle.close();
  }
  return file;
}

function tryToMount(): boolean {
  const place = mkdtempSync(path.join(os.tmpdir(), 'holdfast-mount-'));
  const isPossible = run('mount', '-t', 'tmpfs', 'none', place) && run('umount', place);
  rmdirSync(place);
  return isPossible;
}
