import crypto from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { changeWrites } from '../../test/changed-writes.js';
import { type Cluster, expectBytes, MIB, until, useClusters, write } from '../../test/engine-cluster.js';
import { type ConnectData, connectByNbd } from '../nbd/data-link.js';
import { contiguous } from '../nbd/export.js';
import { RecentChanges } from '../replica/recent-changes.js';

const { cluster, nodes } = useClusters();
/** Written and flushed long before the crash: all of it stays marked. */
const FLUSHED_BYTES = 48 * MIB;

describe('the first flush after a takeover', () => {
  test('waits for recent changes, not for all marked regions', async () => {
    const bytes = crypto.randomBytes(4096);
    const blocks = [3, 40, 41, 5000, 9999];
    const volume = await crashed(blocks, bytes);
    const { connectData, readBytes, goOn } = meter();
    const engine = await volume.start(2, { connectData });
    await engine.device.flush();
    // Five blocks and the gaps within one stretch, from each of three copies.
    expect(readBytes()).toBeLessThan(20 * 64 * 1024);
    // The flushed data is on the others, though nothing else has been compared yet.
    for (const index of [1, 2]) {
      const link = engine.copies.all[index];
      for (const block of blocks) {
        expect(contiguous((await link?.client.read(block * 4096, 4096)) ?? []).equals(bytes)).toBe(true);
      }
    }
    goOn();
    await engine.equal();
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('is remembered by a copy through a takeover that made nothing equal', async () => {
    const bytes = crypto.randomBytes(4096);
    const volume = await crashed([7], bytes);
    const first = meter();
    const second = await volume.start(2, {
      connectData: first.connectData,
      connectControl: (address) => {
        const { command } = nodes().connectControl(address);
        return {
          command: (name, ask) => (name === 'intent' ? new Promise(() => undefined) : command(name, ask)),
        };
      },
    });
    for (let i = 0; i < 6; i += 1) void second.device.flush().catch(() => undefined);
    await sleep(100);
    const { record } = second.report();
    volume.fenceAll();
    const third = await volume.start(3, { record });
    await third.device.flush();
    volume.copy(0).node.die();
    await expectBytes(third, 7 * 4096, bytes);
  });
});

describe('where copies disagree about their layers', () => {
  test('the one whose process has lived on decides: the others may lack what was acknowledged', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, Buffer.alloc(4096, 7));
    const snapshotId = crypto.randomUUID();
    await engine.snapshots.take({
      id: snapshotId,
      name: 'tuesday',
      origin: 'user',
      createdAt: new Date().toISOString(),
    });
    await write(engine, 0, Buffer.alloc(4096, 9));
    const { record } = engine.report();
    // The engine dies while it removes the snapshot: the last copy has heard of it.
    await engine.copies.all[2]?.control.command('mark-removed', { epoch: 1, layerId: snapshotId });
    const lived = volume.copies.findIndex(
      ({ address }) => address.replicaId === engine.copies.all[2]?.replicaId,
    );
    volume.fenceAll();
    await crash(volume, ...[0, 1, 2].filter((index) => index !== lived));
    const next = await volume.start(2, { record });
    await expectBytes(next, 0, Buffer.alloc(4096, 9));
    expect(next.copies.withMode('RW').map(({ replicaId }) => replicaId)).toEqual([
      volume.copy(lived).address.replicaId,
    ]);
  });
});

describe('during resync', () => {
  test('data that was read from one copy stays when that copy is lost', async () => {
    const volume = await cluster(3);
    const old = await volume.start(1);
    await write(old, 0, Buffer.alloc(MIB, 7));
    // In flight when everything stopped: on the first copy only.
    await old.copies.all[0]?.client.write(40 * MIB, [Buffer.alloc(8192, 9)], 8192, { fua: false });
    volume.fenceAll();
    const { connectData } = meter();
    const engine = await volume.start(2, { record: old.report().record, connectData });
    const before = contiguous(await engine.device.read(40 * MIB + 100, 5000));
    const source = engine.copies.reads.source;
    if (source === undefined) throw new Error('no source');
    engine.copies.fail(source, new Error('lost'));
    const after = contiguous(await engine.device.read(40 * MIB + 100, 5000));
    expect(after.equals(before)).toBe(true);
  });

  test('no range is reported as a hole that a copy may hold', async () => {
    const volume = await cluster(2);
    const old = await volume.start(1);
    await write(old, 0, Buffer.alloc(4096, 7));
    volume.fenceAll();
    const { connectData, goOn } = meter();
    const engine = await volume.start(2, { record: old.report().record, connectData });
    expect((await engine.device.blockStatus(8 * MIB, MIB, 8)).every(({ allocated }) => allocated)).toBe(true);
    goOn();
    await engine.equal();
    expect(await engine.device.blockStatus(8 * MIB, MIB, 8)).toEqual([
      { lengthBytes: MIB, allocated: false },
    ]);
  });
});

describe('flushes', () => {
  test('follow each other, and wait for changes that are older than the one before', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const [, slow] = engine.copies.all;
    let go: () => void = () => undefined;
    const going = new Promise<void>((resolve) => {
      go = resolve;
    });
    if (slow === undefined) throw new Error('no copy');
    changeWrites(slow.client, (ask, put) => going.then(() => put(ask)));
    const written = write(engine, 0, Buffer.alloc(4096, 1));
    await engine.device.flush();
    let isFlushed = false;
    const second = engine.device.flush().then(() => {
      isFlushed = true;
    });
    await sleep(200);
    expect(isFlushed).toBe(false);
    go();
    await Promise.all([written, second]);
  });

  test('come without a request when much, or something for long, was not flushed', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const flushes = () => countFlushes;
    let countFlushes = 0;
    const client = engine.copies.all[0]?.client;
    const flush = client?.flush.bind(client);
    const counted = async () => {
      countFlushes += 1;
      await flush?.();
    };
    Object.assign(client ?? {}, { flush: counted });
    engine.tick(performance.now());
    expect(flushes()).toBe(0);
    await write(engine, 0, Buffer.alloc(4096, 1));
    engine.tick(performance.now());
    expect(flushes()).toBe(0);
    engine.tick(performance.now() + 1_600);
    await until(engine, () => flushes() === 1);
  });
});

describe('a recent change of a copy', () => {
  const listed = (recent: RecentChanges) => recent.list()?.map(([stretch]) => stretch);

  test('is forgotten when the fourth flush after it comes', () => {
    const recent = new RecentChanges();
    recent.add(0, 4096);
    recent.flushing();
    recent.add(65_536, 8192);
    for (const expected of [[0, 1], [0, 1], [0, 1], [1], []]) {
      expect(listed(recent)).toEqual(expected);
      recent.flushing();
    }
  });

  test('is counted anew for another engine', () => {
    const recent = new RecentChanges();
    recent.add(0, 4096);
    for (let i = 0; i < 3; i += 1) recent.flushing();
    recent.startOver();
    for (let i = 0; i < 3; i += 1) recent.flushing();
    expect(listed(recent)).toEqual([0]);
    recent.flushing();
    expect(listed(recent)).toEqual([]);
  });

  test('names each block once, and is not listed when there are too many', () => {
    const recent = new RecentChanges();
    recent.add(65_536 - 4096, 12_288);
    expect(recent.list()).toEqual([
      [0, 1 << 15],
      [1, 0b11],
    ]);
    recent.add(0, 4 * 1024 * MIB);
    expect(recent.list()).toBeUndefined();
  });
});

/**
 * Counts bytes read from copies; the resync that follows the first flush, in steps of a MiB, waits until it may go
 * on.
 */
function meter(): { connectData: ConnectData; readBytes: () => number; goOn: () => void } {
  let goOn: () => void = () => undefined;
  const going = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let readBytes = 0;
  const connectData: ConnectData = async (address, timeoutMs) => {
    const link = await connectByNbd(address, timeoutMs);
    const { read } = link;
    link.read = async (offset, lengthBytes) => {
      if (lengthBytes === MIB) await going;
      readBytes += lengthBytes;
      return read.call(link, offset, lengthBytes);
    };
    return link;
  };
  return { connectData, readBytes: () => readBytes, goOn: () => goOn() };
}

async function crash(volume: Cluster, ...indexes: number[]): Promise<void> {
  for (const index of indexes) {
    const { node, address } = volume.copy(index);
    await node.crash(nodes(), address.replicaId);
  }
}

/** An engine that has flushed much, has written a little since, and has died with two replica processes. */
async function crashed(blocks: readonly number[], bytes: Buffer): Promise<Cluster> {
  const volume = await cluster(3);
  const engine = await volume.start(1);
  for (let at = 0; at < FLUSHED_BYTES; at += 8 * MIB) await write(engine, at, crypto.randomBytes(8 * MIB));
  for (let i = 0; i < 4; i += 1) await engine.device.flush();
  for (const block of blocks) await write(engine, block * 4096, bytes);
  volume.fenceAll();
  await crash(volume, 1, 2);
  return volume;
}
