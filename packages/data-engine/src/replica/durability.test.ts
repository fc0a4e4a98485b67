/** Which syncs a FLUSH waits for, and what a failed sync means for every caller that relied on it. */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { HeldSyncs, stateSoon } from '../../test/held-syncs.js';
import { formatBlockDisk } from '../disk/block/format-block-disk.js';
import { contiguous } from '../nbd/export.js';
import { ReplicaService } from '../replica-server/replica-service.js';
import { Replica } from './replica.js';

const MIB = 1024 * 1024;
const BLOCK = 4096;
const SIZE = 64 * MIB;
const OPTIONS = { fua: false, epoch: 0 };
const SNAPSHOT = '11111111-1111-4111-8111-111111111111';

let folder: string;
let syncs: HeldSyncs;
let open: Replica[];

beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-durable-'));
  syncs = new HeldSyncs(folder);
  open = [];
});
afterEach(async () => {
  syncs.release();
  for (const replica of open) await replica.close().catch(() => undefined);
  syncs.uninstall();
  await fs.rm(folder, { recursive: true, force: true });
});

const DISKS = ['folder', 'block disk'] as const;

const write = (replica: Replica, block: number, fill: number) =>
  replica.write(block * BLOCK, [Buffer.alloc(BLOCK, fill)], BLOCK, OPTIONS);

describe.each(DISKS)('a FLUSH of a copy on a %s', (kind) => {
  test('waits for a sync that covers it while a purge syncs the same head', async () => {
    const replica = await withPrunable(await makeDisk(kind));
    syncs.hold();
    const purging = replica.layers.purge(SNAPSHOT, 0);
    await syncs.caught();
    const flushing = replica.flush();
    expect(await stateSoon(flushing)).toBe('waiting');
    syncs.release();
    await Promise.all([purging, flushing]);
  });

  test('fails when a purge got the error first', async () => {
    const replica = await withPrunable(await makeDisk(kind));
    syncs.hold();
    const purging = replica.layers.purge(SNAPSHOT, 0);
    await syncs.caught();
    syncs.fail();
    await expect(purging).rejects.toThrow('EIO');
    await expect(replica.flush()).rejects.toThrow('EIO');
  });

  test('fails when the flush that it waited behind has failed, and so does every later one', async () => {
    const replica = await create(await makeDisk(kind));
    await write(replica, 0, 1);
    syncs.hold();
    const first = replica.flush();
    await syncs.caught();
    const second = replica.flush();
    syncs.fail();
    expect(await stateSoon(first)).toBe('rejected');
    expect(await stateSoon(second)).toBe('rejected');
    await expect(replica.flush()).rejects.toThrow('EIO');
    await expect(replica.read(0, BLOCK)).rejects.toThrow("the copy can't be used");
  });

  test('is refused behind a close as a matter of the moment, and not as damage', async () => {
    const replica = await create(await makeDisk(kind));
    const closed = replica.close();
    const late = replica.clearIntent();
    await closed;
    await expect(late).rejects.toMatchObject({ code: 'agent.unreachable' });
    await expect(replica.read(0, BLOCK)).rejects.toMatchObject({ code: 'agent.unreachable' });
  });

  test('syncs for the first overwrite after the copy was opened', async () => {
    const disk = await makeDisk(kind);
    const before = await create(disk);
    const { replicaId } = before.metadata;
    await write(before, 0, 1);
    await close(before);
    const replica = await reopen(disk, replicaId);
    await write(replica, 0, 2);
    const begun = syncs.begun.length;
    await replica.flush();
    expect(syncs.begun.length).toBeGreaterThan(begun);
  });

  test('syncs for a write that ended while another sync was under way', async () => {
    const replica = await create(await makeDisk(kind));
    await write(replica, 0, 1);
    await write(replica, 1, 1);
    // From here on no map changes: its sync would cover the data too.
    await replica.flush();
    await write(replica, 1, 2);
    syncs.hold('write');
    const overwriting = write(replica, 0, 2);
    await syncs.caught();
    // The write has begun before this sync, and ends after the sync has begun.
    const letGo = syncs.letGo();
    syncs.hold();
    const first = replica.flush();
    await syncs.caught();
    letGo();
    await overwriting;
    syncs.release();
    await first;
    const begun = syncs.begun.length;
    await replica.flush();
    expect(syncs.begun.length).toBeGreaterThan(begun);
  });

  test('FUA syncs after its own write, also while another sync is under way', async () => {
    const replica = await create(await makeDisk(kind));
    await write(replica, 0, 1);
    syncs.hold();
    const first = replica.flush();
    await syncs.caught();
    const fua = replica.write(0, [Buffer.alloc(BLOCK, 2)], BLOCK, { fua: true, epoch: 0 });
    expect(await stateSoon(fua)).toBe('waiting');
    const begun = syncs.begun.length;
    syncs.release();
    await Promise.all([first, fua]);
    expect(syncs.begun.length).toBeGreaterThan(begun);
  });
});

describe('a sync that a file begins by itself', () => {
  /** Writes until the page cache holds so much that the file syncs itself, which is held. */
  async function withBackgroundSync(): Promise<Replica> {
    const replica = await create(await makeDisk('folder'));
    await write(replica, 0, 1);
    await replica.flush();
    syncs.hold();
    const begun = syncs.begun.length;
    for (let fill = 0; syncs.begun.length === begun; fill += 1) {
      expect(fill).toBeLessThan(20_000);
      await write(replica, 0, fill % 256);
    }
    await syncs.caught();
    return replica;
  }

  test('ends the copy when it fails, without a FLUSH', async () => {
    const replica = await withBackgroundSync();
    const ended = new Promise<void>((resolve) => {
      replica.onFailed = resolve;
    });
    syncs.fail();
    expect(await stateSoon(ended)).toBe('resolved');
    expect(replica.hasEnded).toBe(true);
    await expect(replica.flush()).rejects.toMatchObject({ code: 'replica.corrupt' });
    await expect(write(replica, 0, 1)).rejects.toMatchObject({ code: 'replica.corrupt' });
    await expect(replica.clearIntent()).rejects.toMatchObject({ code: 'replica.corrupt' });
  });

  test('is waited for by a FLUSH beside it, which fails with it', async () => {
    const replica = await withBackgroundSync();
    const flushing = replica.flush();
    expect(await stateSoon(flushing)).toBe('waiting');
    syncs.fail();
    await expect(flushing).rejects.toThrow('EIO');
    await expect(replica.flush()).rejects.toThrow('EIO');
  });

  test('is shared with no FLUSH that comes during it', async () => {
    const replica = await withBackgroundSync();
    const flushing = replica.flush();
    const before = syncs.begun.length;
    syncs.release();
    await flushing;
    expect(syncs.begun.length).toBeGreaterThan(before);
  });
});

test.each(DISKS)(
  'a clear of marks on a %s that fails ends the copy, and takes nothing back',
  async (kind) => {
    const replica = await create(await makeDisk(kind));
    await write(replica, 0, 1);
    await replica.flush();
    let ends = 0;
    replica.onFailed = () => {
      ends += 1;
    };
    syncs.hold();
    const clearing = replica.clearIntent({
      epoch: 0,
      lease: replica.lease,
      marker: replica.intentMarker(),
      regions: [{ first: 0, count: 1 }],
    });
    await syncs.caught();
    syncs.fail();
    await expect(clearing).rejects.toThrow('EIO');
    expect(ends).toBe(1);
    // The disk may say that the region is clear, so no write may count on its mark.
    expect(replica.intentRegions()).toEqual([]);
    await expect(write(replica, 0, 2)).rejects.toMatchObject({ code: 'replica.corrupt' });
  },
);

test.each(DISKS)('a purge on a %s gives no block back before what replaces it is durable', async (kind) => {
  const replica = await withPrunable(await makeDisk(kind));
  syncs.hold();
  const flushing = replica.flush();
  await syncs.caught();
  const allocated = replica.layer(SNAPSHOT)?.map.heldBlocks;
  const purging = replica.layers.purge(SNAPSHOT, 0);
  expect(await stateSoon(purging)).toBe('waiting');
  expect(syncs.punched).toEqual([]);
  expect(replica.layer(SNAPSHOT)?.map.heldBlocks).toBe(allocated);
  syncs.release();
  await Promise.all([flushing, purging]);
  expect(replica.layer(SNAPSHOT)?.map.heldBlocks).toBe(0);
});

test.each(DISKS)('a read on a %s waits for a write of its block that is under way', async (kind) => {
  const replica = await create(await makeDisk(kind));
  await write(replica, 0, 1);
  expect(await holds(replica, 0)).toBe(1);
  syncs.hold('write');
  const writing = write(replica, 0, 2);
  await syncs.caught();
  const reading = holds(replica, 0);
  expect(replica.readNow(0, BLOCK)).toBeUndefined();
  expect(await stateSoon(reading)).toBe('waiting');
  syncs.release();
  await writing;
  expect(await reading).toBe(2);
});

test.each(DISKS)(
  'an engine that begins with a copy on a %s whose flush failed gets it opened anew',
  async (kind) => {
    const disk = await makeDisk(kind);
    const replica = await create(disk);
    const { replicaId } = replica.metadata;
    await close(replica);
    const service = new ReplicaService(() => {
      throw new Error('there is no other copy');
    });
    await service.open(disk, replicaId);
    await service.command(replicaId, 'open', { epoch: 1 });
    const failing = (await service.find(replicaId)).replica;
    await failing.write(0, [Buffer.alloc(BLOCK, 1)], BLOCK, { fua: false, epoch: 1 });
    syncs.hold();
    const flushing = failing.flush();
    await syncs.caught();
    syncs.fail();
    await expect(flushing).rejects.toThrow('EIO');
    const opened = await service.command(replicaId, 'open', { epoch: 2 });
    // The failed flush may have lost data: the mark says where, and the copy does not count as one that kept everything.
    expect(opened).toMatchObject({ clean: false, kept: false });
    const { replica: again } = await service.find(replicaId);
    await again.write(0, [Buffer.alloc(BLOCK, 2)], BLOCK, { fua: true, epoch: 2 });
    await service.closeAll(0);
  },
);

describe('a sync of a block disk that failed', () => {
  test('fails every copy of that disk in the process, whichever caller got the error', async () => {
    const disk = await makeDisk('block disk');
    const told = await create(disk);
    const other = await create(disk);
    const idle = await create(disk);
    await write(told, 0, 1);
    await write(other, 0, 1);
    syncs.hold();
    const flushing = told.flush();
    await syncs.caught();
    syncs.fail();
    await expect(flushing).rejects.toThrow('EIO');
    expect(other.hasEnded).toBe(true);
    await expect(other.flush()).rejects.toThrow('EIO');
    // One that has written nothing since its last flush has nothing to sync, and must not say that all is well.
    await expect(idle.flush()).rejects.toThrow('EIO');
  });

  test('is over for a copy once it was reopened', async () => {
    const disk = await makeDisk('block disk');
    const replica = await create(disk);
    const { replicaId } = replica.metadata;
    await write(replica, 0, 1);
    await replica.flush();
    await write(replica, 1, 1);
    syncs.hold();
    const flushing = replica.flush();
    await syncs.caught();
    syncs.fail();
    await expect(flushing).rejects.toThrow('EIO');
    await close(replica);
    const again = await reopen(disk, replicaId);
    expect(await holds(again, 0)).toBe(1);
    await write(again, 1, 2);
    await again.flush();
  });
});

async function makeDisk(kind: (typeof DISKS)[number]): Promise<string> {
  const disk = path.join(folder, kind === 'folder' ? 'disk' : 'disk.img');
  if (kind === 'folder') await fs.mkdir(disk);
  else await formatBlockDisk(disk, 128 * MIB);
  return disk;
}

async function create(disk: string, replicaId: string = crypto.randomUUID()): Promise<Replica> {
  const volumeId = crypto.randomUUID();
  const spec = { replicaId, volumeId, diskId: volumeId, sizeBytes: SIZE, secret: 'secret', record: null };
  await Replica.create(disk, spec);
  return reopen(disk, replicaId);
}

async function reopen(disk: string, replicaId: string): Promise<Replica> {
  const replica = await Replica.open(disk, replicaId);
  open.push(replica);
  return replica;
}

async function close(replica: Replica): Promise<void> {
  open = open.filter((one) => one !== replica);
  await replica.close();
}

async function holds(replica: Replica, block: number): Promise<number | undefined> {
  return contiguous(await replica.read(block * BLOCK, BLOCK))[0];
}

/** A copy with a removed snapshot whose block the head has overwritten, not durably yet: a purge prunes it. */
async function withPrunable(disk: string): Promise<Replica> {
  const replica = await create(disk);
  await write(replica, 0, 1);
  await replica.layers.snapshot({ id: SNAPSHOT, name: 's', origin: 'user', createdAt: '', drop: null });
  await replica.layers.markRemoved(SNAPSHOT);
  // The region is marked from here on: later syncs are for the data alone.
  await write(replica, 1, 1);
  await replica.flush();
  await write(replica, 0, 2);
  return replica;
}
