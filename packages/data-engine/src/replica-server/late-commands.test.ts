/** Commands that are late, duplicated or overtaken: each takes effect in the state that it expects, or not at all. */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { copyRecord } from '@holdfast/core/model/copy-record.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { stateSoon } from '../../test/held-syncs.js';
import { contiguous } from '../nbd/export.js';
import type { Ask, CommandName } from '../protocol/commands.js';
import { Replica } from '../replica/replica.js';
import { ReplicaExport } from './replica-exports.js';
import { ReplicaService } from './replica-service.js';

const MIB = 1024 * 1024;
const SIZE = 64 * MIB;
const STALE = { code: 'engine.stale_epoch' };
const CHANGED = { code: 'replica.state_changed' };

let disk: string;
let replicaId: string;
let service: ReplicaService;
let loseSource: (reason: Error) => void;
let replica: Replica;

beforeEach(async () => {
  disk = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-late-'));
  replicaId = crypto.randomUUID();
  const volumeId = crypto.randomUUID();
  const spec = { replicaId, volumeId, diskId: volumeId, sizeBytes: SIZE, secret: 'secret' };
  await Replica.create(disk, { ...spec, record: recordOf(0, 0) });
  service = new ReplicaService(unasked, { connectData: connectUntilLost });
  await service.open(disk, replicaId);
  ({ replica } = await service.find(replicaId));
  await command('open', { epoch: 5 });
});
afterEach(async () => {
  await service.closeAll(0);
  await fs.rm(disk, { recursive: true, force: true });
});

const recordOf = (epoch: number, generation: number) =>
  copyRecord(epoch, generation, [asId<ReplicaId>(replicaId)]);
const command = <Name extends CommandName>(name: Name, ask: Ask<Name>) =>
  service.command(replicaId, name, ask);
const layerNamed = (name: string, origin: 'user' | 'system' = 'user') => ({
  id: crypto.randomUUID(),
  name,
  origin,
  createdAt: '2026-01-01T00:00:00Z',
  drop: null,
});
const adopted = (name: string, from: string | null = null) => ({
  ...layerNamed(name, 'system'),
  parentId: null,
  sizeBytes: SIZE,
  removed: false,
  from,
});
const write = (offset: number, data: Buffer, epoch = 5) =>
  replica.write(offset, [data], data.length, { fua: false, epoch });
const read = async (offset: number, length: number) => contiguous(await replica.read(offset, length));
const filled = (value: number, length = 4096) => Buffer.alloc(length, value);

describe('a command that waits while the copy is fenced', () => {
  const base = layerNamed('base');
  const asks: { [Name in CommandName]?: () => Ask<Name> } = {
    record: () => ({ epoch: 5, record: recordOf(5, 1) }),
    snapshot: () => ({ epoch: 5, layer: layerNamed('late'), sizeBytes: SIZE }),
    unfreeze: () => ({ epoch: 5, layerId: base.id }),
    revert: () => ({ epoch: 5, layerId: base.id, headId: crypto.randomUUID() }),
    'mark-removed': () => ({ epoch: 5, layerId: base.id }),
    'clear-intent': () => ({ epoch: 5 }),
    prepare: () => ({
      epoch: 5,
      rebuildId: crypto.randomUUID(),
      layers: [],
      headParentId: null,
      sizeBytes: SIZE,
    }),
  };

  test.each(Object.keys(asks) as (keyof typeof asks)[])('%s is refused and changes nothing', async (name) => {
    await write(0, filled(7));
    await command('snapshot', { epoch: 5, layer: base, sizeBytes: SIZE });
    if (name !== 'unfreeze') await write(4096, filled(8));
    const before = replica.metadata;
    const late = asks[name]?.();
    if (late === undefined) throw new Error('no such command');
    const [opened, answer] = await Promise.allSettled([
      replica.fence(6),
      // The cast: the table above gives each command its own parameters.
      command(name, late as never),
    ]);
    expect(opened.status).toBe('fulfilled');
    expect(answer).toMatchObject({ status: 'rejected', reason: STALE });
    expect(replica.metadata).toEqual({ ...before, epoch: 6, grantId: null });
    expect(replica.isClean).toBe(false);
  });

  test('a purge is refused before it gives anything back', async () => {
    const old = layerNamed('old', 'system');
    await write(0, filled(7, MIB));
    await command('snapshot', { epoch: 5, layer: old, sizeBytes: SIZE });
    await write(0, filled(8, MIB));
    const held = replica.layer(old.id)?.map.heldBlocks;
    const [, purged] = await Promise.allSettled([
      replica.fence(6),
      command('purge', { epoch: 5, layerId: old.id, firstWindow: 0 }),
    ]);
    expect(purged).toMatchObject({ status: 'rejected', reason: STALE });
    expect(replica.layer(old.id)?.map.heldBlocks).toBe(held);
  });
});

test('a connection that was opened before a fence reads, flushes and describes nothing any more', async () => {
  await write(0, filled(7));
  const older = new ReplicaExport(replica, 5);
  expect(contiguous(await older.read(0, 4096)).equals(filled(7))).toBe(true);
  await replica.fence(6);
  await expect(older.read(0, 4096)).rejects.toMatchObject(STALE);
  expect(() => older.readNow(0, 4096)).toThrow(expect.objectContaining(STALE));
  await expect(older.flush()).rejects.toMatchObject(STALE);
  await expect(older.blockStatus(0, 4096, 1)).rejects.toMatchObject(STALE);
});

describe('fences and records at once', () => {
  test.each([
    { epochs: [6, 7], left: 7 },
    { epochs: [7, 6], left: 7 },
  ])('of the fences $epochs the higher one is left', async ({ epochs, left }) => {
    const ended = await Promise.allSettled(epochs.map((epoch) => replica.fence(epoch)));
    expect(replica.metadata.epoch).toBe(left);
    // The lower one may have succeeded first, but never after the higher one.
    expect(ended[epochs.indexOf(left)]?.status).toBe('fulfilled');
    await expect(write(0, filled(1), 6)).rejects.toMatchObject(STALE);
  });

  test('of two records the newer one is left', async () => {
    await Promise.allSettled([replica.storeRecord(recordOf(5, 2)), replica.storeRecord(recordOf(5, 1))]);
    expect(replica.metadata.record).toEqual(recordOf(5, 2));
  });

  test('a record of an epoch that the copy was not opened at is refused', async () => {
    const ask = { epoch: 5, record: recordOf(9, 1) };
    await expect(command('record', ask)).rejects.toMatchObject(STALE);
    expect(replica.metadata.record).toEqual(recordOf(0, 0));
  });
});

describe('a command of an opening that another has replaced', () => {
  test('is refused at the same epoch too, whatever process holds the copy by then', async () => {
    const { lease } = await command('open', { epoch: 5 });
    await command('stat', { epoch: 5, lease });
    const { lease: next } = await command('open', { epoch: 5, afresh: true });
    const late = { epoch: 5, lease, record: recordOf(5, 1) };
    await expect(command('record', late)).rejects.toMatchObject(CHANGED);
    await command('record', { epoch: 5, lease: next, record: recordOf(5, 1) });
    await service.close(replicaId);
    await service.open(disk, replicaId);
    await expect(command('stat', { epoch: 5, lease: next })).rejects.toMatchObject(CHANGED);
  });

  test('a doubled opening does not end itself, and a late one not the next', async () => {
    const open = (count: number) => command('open', { epoch: 5, afresh: true, count });
    const first = await open(1);
    expect((await open(1)).lease).toBe(first.lease);
    const second = await open(2);
    expect(second.lease).not.toBe(first.lease);
    await expect(open(1)).rejects.toMatchObject(CHANGED);
    await command('stat', { epoch: 5, lease: second.lease });
  });
});

describe('a command that is delivered twice', () => {
  test('a second prepare leaves what was filled meanwhile', async () => {
    const rebuildId = crypto.randomUUID();
    const base = adopted('base');
    const prepare = {
      epoch: 5,
      rebuildId,
      layers: [base],
      headParentId: base.id,
      sizeBytes: SIZE,
      expectedHeadId: replica.headId,
      headId: crypto.randomUUID(),
    };
    await command('prepare', prepare);
    await replica.layer(base.id)?.write([filled(9, MIB)], 0, MIB);
    await expect(command('prepare', prepare)).resolves.toEqual({ headId: prepare.headId });
    expect((await read(0, MIB)).equals(filled(9, MIB))).toBe(true);

    await command('record', { epoch: 5, record: recordOf(5, 1) });
    await expect(command('prepare', prepare)).rejects.toMatchObject(CHANGED);
    expect((await read(0, MIB)).equals(filled(9, MIB))).toBe(true);
    expect(replica.metadata).toMatchObject({ rebuildId: null, record: recordOf(5, 1) });
  });

  test('a second prepare of an older attempt is refused', async () => {
    const rebuildId = crypto.randomUUID();
    const ask = (base: ReturnType<typeof adopted>, expectedHeadId: string | undefined) => ({
      epoch: 5,
      rebuildId,
      layers: [base],
      headParentId: base.id,
      sizeBytes: SIZE,
      expectedHeadId,
      headId: crypto.randomUUID(),
    });
    const first = ask(adopted('first'), replica.headId);
    const second = ask(adopted('second'), first.headId);
    await command('prepare', first);
    await command('prepare', second);
    await expect(command('prepare', first)).rejects.toMatchObject(CHANGED);
    expect(replica.metadata.layers.map(({ name }) => name)).toEqual(['second', 'head']);
  });

  test('a second revert keeps what was written in between, before and after another snapshot', async () => {
    const base = layerNamed('base');
    await command('snapshot', { epoch: 5, layer: base, sizeBytes: SIZE });
    const revert = {
      epoch: 5,
      layerId: base.id,
      headId: crypto.randomUUID(),
      expectedHeadId: replica.headId,
    };
    await command('revert', revert);
    await write(0, filled(3));
    await command('revert', revert);
    expect((await read(0, 4096)).equals(filled(3))).toBe(true);
    await command('snapshot', { epoch: 5, layer: layerNamed('after'), sizeBytes: SIZE });
    await expect(command('revert', revert)).rejects.toMatchObject(CHANGED);
    expect((await read(0, 4096)).equals(filled(3))).toBe(true);
  });

  test('a late snapshot does not freeze another head than it was asked for', async () => {
    const ask = {
      epoch: 5,
      layer: layerNamed('once'),
      sizeBytes: SIZE,
      expectedHeadId: replica.headId,
      headId: crypto.randomUUID(),
    };
    await command('snapshot', ask);
    const unfreeze = {
      epoch: 5,
      layerId: ask.layer.id,
      expectedHeadId: ask.headId,
      headId: crypto.randomUUID(),
    };
    await command('unfreeze', unfreeze);
    await command('unfreeze', unfreeze);
    await expect(command('snapshot', ask)).rejects.toMatchObject(CHANGED);
    expect(replica.metadata.layers).toHaveLength(1);
  });
});

describe('a cancel that names an attempt', () => {
  test('leaves a later attempt of the same rebuild alone', async () => {
    const rebuildId = crypto.randomUUID();
    const base = adopted('base');
    const { id, name } = base;
    const headId = crypto.randomUUID();
    await command('prepare', {
      epoch: 5,
      rebuildId,
      layers: [base],
      headParentId: id,
      sizeBytes: SIZE,
      headId,
    });
    await command('pull', {
      epoch: 5,
      rebuildId,
      sources: [
        {
          replicaId: 'source',
          nodeId: 'node',
          nbdHost: 'source',
          nbdPort: 1,
          secret: 'secret',
          controlUrl: 'http://source',
        },
      ],
      layers: [{ id, name, method: 'full', reason: '', heldBytes: MIB, ranges: null }],
      blockHash: 'blake3',
      tuning: { bandwidthBytesPerSecond: null, paused: false },
      attempt: 2,
    });
    const late = await stateSoon(command('cancel-pull', { epoch: 5, rebuildId, attempt: 1 }));
    loseSource(new Error('the source is lost'));
    expect(late).toBe('resolved');
    const wait = { state: 'copying', atMostMs: 5_000 } as const;
    expect(await command('progress', { epoch: 5, rebuildId, wait })).toMatchObject({
      state: 'failed',
      error: { code: 'rebuild.failed', sourceLost: true },
    });
  });
});

describe('a purge beside a change of the layers', () => {
  test('never changes what the device reads, and keeps a layer from being reverted to', async () => {
    const [older, newer] = [layerNamed('older', 'system'), layerNamed('newer', 'system')];
    await write(0, filled(1, SIZE));
    await command('snapshot', { epoch: 5, layer: older, sizeBytes: SIZE });
    await write(0, filled(2, SIZE));
    const purging = command('purge', { epoch: 5, layerId: older.id, firstWindow: 0 });
    const frozen = command('snapshot', { epoch: 5, layer: newer, sizeBytes: SIZE });
    await Promise.all([purging, frozen]);
    // Another purge merges what the frozen head covers; the device reads the same meanwhile.
    expect((await read(0, SIZE)).equals(filled(2, SIZE))).toBe(true);
    await command('revert', { epoch: 5, layerId: newer.id, headId: crypto.randomUUID() });
    expect((await read(0, SIZE)).equals(filled(2, SIZE))).toBe(true);
    const again = { epoch: 5, layerId: older.id, headId: crypto.randomUUID() };
    await expect(command('revert', again)).rejects.toMatchObject({ code: 'snapshot.not_found' });
  });
});

/** Connecting to a source of a pull takes until the test loses it. */
function connectUntilLost(): Promise<never> {
  return new Promise((_, reject) => {
    loseSource = reject;
  });
}

function unasked(): never {
  throw new Error('no source is connected');
}
