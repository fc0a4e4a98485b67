import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type ReplicaNode, ReplicaNodes } from '../../test/replica-node.js';
import { NbdErrno } from '../nbd/constants.js';
import { NbdError } from '../nbd/errors.js';
import { contiguous } from '../nbd/export.js';
import { replicaDirectory } from '../replica/replica-files.js';
import { Engine } from './engine.js';
import type { EngineDependencies } from './engine-state.js';

const MIB = 1024 * 1024;
const SIZE = 64 * MIB;

let nodes: ReplicaNodes;
let engines: Engine[];
let confirmed: CopyRecord[];

beforeEach(() => {
  nodes = new ReplicaNodes();
  engines = [];
  confirmed = [];
});
afterEach(async () => {
  for (const engine of engines)
    engine.fence(new StorageFault('engine.not_found', { publicMessage: 'test ends' }));
  await nodes.stop();
});

type Copy = { node: ReplicaNode; address: ReplicaAddress };
type Cluster = {
  volumeId: string;
  copies: Copy[];
  record: { epoch: number; dataGeneration: number; members: string[] };
};

async function cluster(count: number): Promise<Cluster> {
  const volumeId = crypto.randomUUID();
  const ids = Array.from({ length: count }, () => crypto.randomUUID()).sort();
  const record = { epoch: 0, dataGeneration: 0, members: ids };
  const copies: Copy[] = [];
  for (const replicaId of ids) {
    const node = await nodes.add(`node-${replicaId.slice(0, 8)}`);
    // The cast: ids made here are well-formed.
    const address = await node.create({
      replicaId,
      volumeId,
      sizeBytes: SIZE,
      record: record as unknown as CopyRecord,
    });
    copies.push({ node, address });
  }
  return { volumeId, copies, record };
}

async function start(
  { volumeId, copies, record }: Cluster,
  epoch: number,
  over: Partial<EngineDependencies> & { replicas?: ReplicaAddress[]; record?: Cluster['record'] } = {},
): Promise<Engine> {
  const engine = new Engine(
    {
      volumeId,
      volumeName: 'vol',
      epoch,
      sizeBytes: SIZE,
      attachmentSecret: 'sixteen-characters',
      record: over.record ?? record,
      replicas: over.replicas ?? copies.map(({ address }) => address),
      replicaTimeoutMs: 2000,
    },
    {
      connectControl: nodes.connectControl,
      confirmRecord: async (next) => void confirmed.push(next),
      planLayers: (layers) => layers.map(({ id }) => ({ id, method: 'full', reason: 'absent' })),
      onChange: () => undefined,
      ...over,
    },
  );
  engines.push(engine);
  await engine.open();
  return engine;
}

function copy(cluster: Cluster, index: number): Copy {
  const found = cluster.copies[index];
  if (found === undefined) throw new Error(`no copy ${index}`);
  return found;
}

async function write(engine: Engine, offset: number, data: Buffer): Promise<void> {
  await engine.device.write(offset, [data], data.length, { fua: false });
}

/** Flips bytes in the middle of all data files of a copy. */
function damageLayers(node: ReplicaNode, replicaId: string): void {
  const directory = replicaDirectory(node.disk, replicaId);
  for (const name of fs.readdirSync(directory).filter((file) => file.endsWith('.img'))) {
    const file = fs.openSync(path.join(directory, name), 'r+');
    fs.writeSync(file, Buffer.alloc(4096, 0xee), 0, 4096, 4 * MIB);
    fs.closeSync(file);
  }
}

const modes = (engine: Engine) => engine.report().replicas.map(({ mode }) => mode);

async function checksums(cluster: Cluster): Promise<Set<string>> {
  const all = await Promise.all(
    cluster.copies
      .filter(({ node }) => node.isAlive)
      .map(async ({ node, address }) => (await node.service.checksum(address.replicaId)).checksum),
  );
  return new Set(all);
}

/** Waits until the engine's report satisfies the condition; driven by its own change events. */
async function until(engine: Engine, condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`never came: ${JSON.stringify(engine.report())}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('replication', () => {
  test('a write reaches all copies; a clean stop leaves them equal and clean', async () => {
    const volume = await cluster(3);
    const engine = await start(volume, 1);
    const data = crypto.randomBytes(2 * MIB);
    await write(engine, 3 * MIB, data);
    expect(contiguous(await engine.device.read(3 * MIB, data.length)).equals(data)).toBe(true);
    expect(engine.report().record).toMatchObject({ epoch: 1, dataGeneration: 1 });
    await engine.stop();
    expect((await checksums(volume)).size).toBe(1);
    for (const { node, address } of volume.copies) {
      const { clean, record } = await node.service.command(address.replicaId, 'open', { epoch: 2 });
      expect(clean).toBe(true);
      // A stop that let go of one copy after the other must not look like failures.
      expect(record).toEqual({ epoch: 1, dataGeneration: 1, members: volume.record.members });
    }
  });

  test('unaligned writes keep the bytes around them, on every copy', async () => {
    const volume = await cluster(2);
    const engine = await start(volume, 1);
    const device = crypto.randomBytes(64 * 1024);
    await write(engine, 0, device);
    for (const [offset, length] of [
      [1, 1],
      [4095, 2],
      [100, 9000],
      [8192, 100],
      [60_000, 5536],
    ] as const) {
      const data = crypto.randomBytes(length);
      data.copy(device, offset);
      await write(engine, offset, data);
    }
    await engine.device.writeZeroes(5000, 20_000, { fua: false, mayPunch: true });
    device.fill(0, 5000, 25_000);
    for (let i = 0; i < 2; i += 1) {
      expect(contiguous(await engine.device.read(0, device.length)).equals(device)).toBe(true);
    }
    await engine.stop();
    expect((await checksums(volume)).size).toBe(1);
  });

  test('overlapping writes end in the same order on all copies', async () => {
    const volume = await cluster(3);
    const engine = await start(volume, 1);
    await Promise.all(
      Array.from({ length: 200 }, (_, i) => write(engine, (i % 7) * 2048, Buffer.alloc(16_384, i))),
    );
    await engine.stop();
    expect((await checksums(volume)).size).toBe(1);
  });
});

describe('a copy that fails', () => {
  test('in the middle of writes is dropped without an error, and the record leaves it out', async () => {
    const volume = await cluster(3);
    const engine = await start(volume, 1);
    const data = crypto.randomBytes(8 * MIB);
    const writes = Array.from({ length: 64 }, (_, i) =>
      write(engine, i * 128 * 1024, data.subarray(i * 128 * 1024, (i + 1) * 128 * 1024)),
    );
    copy(volume, 2).node.die();
    await Promise.all(writes);
    await engine.device.flush();
    expect(modes(engine).sort()).toEqual(['ERR', 'RW', 'RW']);
    expect(engine.report().record.members).toEqual(volume.record.members.slice(0, 2));
    expect(contiguous(await engine.device.read(0, data.length)).equals(data)).toBe(true);
    expect(confirmed).toEqual([]);
    await engine.stop();
    expect((await checksums(volume)).size).toBe(1);
  });

  test('nothing is acknowledged before the survivors have the new record', async () => {
    const volume = await cluster(3);
    const engine = await start(volume, 1);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const order: string[] = [];
    const slow = nodes.connectControl;
    for (const link of engine.copies.all) {
      const real = slow(link.address);
      Object.assign(link.control, {
        command: async (name: 'record', ask: never) => {
          if (name === 'record') {
            await held;
            order.push('record');
          }
          return real.command(name, ask);
        },
      });
    }
    copy(volume, 1).node.die();
    const written = write(engine, 0, Buffer.alloc(4096, 1)).then(() => order.push('acknowledged'));
    await until(engine, () => modes(engine).includes('ERR'));
    expect(order).toEqual([]);
    release();
    await written;
    expect(order).toEqual(['record', 'record', 'acknowledged']);
  });

  test('below half, I/O waits for the control plane', async () => {
    const volume = await cluster(2);
    let answer: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const engine = await start(volume, 1, {
      confirmRecord: async (next) => {
        confirmed.push(next);
        await asked;
      },
    });
    copy(volume, 1).node.die();
    let acknowledged = false;
    const written = write(engine, 0, Buffer.alloc(4096, 1)).then(() => {
      acknowledged = true;
    });
    await until(engine, () => engine.report().state === 'waiting-record');
    expect(acknowledged).toBe(false);
    answer();
    await written;
    expect(confirmed.map(({ members }) => members.length)).toEqual([1]);
    expect(engine.report()).toMatchObject({ state: 'running', record: { dataGeneration: 2 } });
  });

  test('an engine that the control plane calls stale stops', async () => {
    const volume = await cluster(2);
    const engine = await start(volume, 1, {
      confirmRecord: () =>
        Promise.reject(new StorageFault('engine.stale_epoch', { publicMessage: 'replaced' })),
    });
    copy(volume, 1).node.die();
    await expect(write(engine, 0, Buffer.alloc(4096, 1))).rejects.toMatchObject({
      code: 'engine.stale_epoch',
    });
    expect(engine.report().state).toBe('stopped');
  });

  test('a stop ends a start that waits for the control plane', async () => {
    const volume = await cluster(2);
    nodes.beforeCommand = (name, of) => {
      if (name === 'record' && of === volume.record.members[1]) throw new Error('the disk failed');
    };
    let noteAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      noteAsked = resolve;
    });
    const starting = start(volume, 1, {
      confirmRecord: () => {
        noteAsked();
        return Promise.reject(new StorageFault('agent.unreachable', { publicMessage: 'down' }));
      },
    });
    await asked;
    await Promise.all([
      engines[0]?.stop(),
      expect(starting).rejects.toMatchObject({ code: 'engine.not_found' }),
    ]);
  });

  test('as the last one makes requests fail, not hang', async () => {
    const volume = await cluster(1);
    const engine = await start(volume, 1);
    copy(volume, 0).node.die();
    await expect(write(engine, 0, Buffer.alloc(4096, 1))).rejects.toMatchObject({
      code: 'engine.no_replica',
    });
    await expect(engine.device.read(0, 4096)).rejects.toMatchObject({ code: 'engine.no_replica' });
  });
});

test('when all disks are full the user is told so, and the copies stay in use and equal', async () => {
  const volume = await cluster(3);
  const engine = await start(volume, 1);
  await write(engine, 0, Buffer.alloc(64 * 1024, 1));
  for (const [index, { client }] of engine.copies.all.entries()) {
    const real = client.write.bind(client);
    client.write = async (offset, payload, lengthBytes, options) => {
      if (offset < 32 * MIB) return real(offset, payload, lengthBytes, options);
      // Each copy got a different part of it before its disk was full.
      const part = contiguous(payload).subarray(0, index * 4096);
      if (part.length > 0) await real(offset, [part], part.length, options);
      Object.assign(client, { write: real });
      throw new NbdError(NbdErrno.NoSpace, 'full');
    };
  }
  const failed = write(engine, 32 * MIB, Buffer.alloc(16_384, 2));
  await expect(failed).rejects.toMatchObject({ errno: NbdErrno.NoSpace });
  expect(modes(engine)).toEqual(['RW', 'RW', 'RW']);
  await engine.stop();
  expect((await checksums(volume)).size).toBe(1);
});

describe('fencing', () => {
  test('an engine at a higher epoch stops the older one and keeps its bytes', async () => {
    const volume = await cluster(3);
    const old = await start(volume, 1);
    await write(old, 0, Buffer.alloc(4096, 7));
    await old.device.flush();
    const next = await start(volume, 2, { record: old.report().record });
    await expect(write(old, 0, Buffer.alloc(4096, 9))).rejects.toThrow();
    expect(old.report().state).toBe('stopped');
    expect(contiguous(await next.device.read(0, 4096)).equals(Buffer.alloc(4096, 7))).toBe(true);
    await expect(start(volume, 1)).rejects.toMatchObject({ code: 'engine.stale_epoch' });
  });

  test('a copy whose process died too is not the one that the others are made equal to', async () => {
    const volume = await cluster(3);
    const old = await start(volume, 1);
    await write(old, 0, Buffer.alloc(8192, 7));
    const { record } = old.report();
    old.fence(new StorageFault('engine.not_found', { publicMessage: 'crash' }));
    for (const { node, address } of volume.copies.slice(0, 2)) await node.crash(nodes, address.replicaId);

    const next = await start(volume, 2, { record });
    expect(contiguous(await next.device.read(0, 8192)).equals(Buffer.alloc(8192, 7))).toBe(true);
    await next.equal();
    await next.stop();
    expect((await checksums(volume)).size).toBe(1);
  });

  test('after an unclean stop reads come from one copy until all are equal', async () => {
    const volume = await cluster(3);
    const old = await start(volume, 1);
    await write(old, 0, Buffer.alloc(MIB, 7));
    // A write that reached only one copy before everything stopped.
    const [first] = old.copies.all;
    await first?.client.write(40 * MIB, [Buffer.alloc(8192, 9)], 8192, { fua: false });
    old.fence(new StorageFault('engine.not_found', { publicMessage: 'crash' }));
    expect((await checksums(volume)).size).toBe(2);

    const next = await start(volume, 2, { record: old.report().record });
    const before = contiguous(await next.device.read(40 * MIB, 8192));
    await next.equal();
    for (let i = 0; i < 3; i += 1) {
      expect(contiguous(await next.device.read(40 * MIB, 8192)).equals(before)).toBe(true);
    }
    await next.stop();
    expect((await checksums(volume)).size).toBe(1);
  });
});

describe('rebuild', () => {
  test('under random writes ends with equal copies and a record that names the target', async () => {
    const volume = await cluster(2);
    const engine = await start(volume, 1);
    const model = crypto.randomBytes(SIZE);
    await write(engine, 0, model.subarray(0, 24 * MIB));
    model.fill(0, 24 * MIB);

    const replicaId = crypto.randomUUID();
    const node = await nodes.add('target');
    const target = await node.create({ replicaId, volumeId: volume.volumeId, sizeBytes: SIZE, record: null });
    volume.copies.push({ node, address: target });
    engine.startRebuild({ rebuildId: crypto.randomUUID(), target, sourceReplicaId: null });
    for (let i = 0; engine.report().rebuilds[0]?.state === 'running'; i += 1) {
      const offset = crypto.randomInt(SIZE - 65_536);
      const data = crypto.randomBytes(crypto.randomInt(1, 65_536));
      data.copy(model, offset);
      await write(engine, offset, data);
      if (i % 50 === 0) await engine.device.flush();
    }
    const [rebuild] = engine.report().rebuilds;
    expect(rebuild).toMatchObject({ state: 'succeeded', phase: 'done', error: null });
    expect(rebuild?.bytes.sent).toBeGreaterThanOrEqual(24 * MIB);
    expect(modes(engine)).toEqual(['RW', 'RW', 'RW']);
    expect(engine.report().record.members).toContain(replicaId);
    expect(contiguous(await engine.device.read(0, 32 * MIB)).equals(model.subarray(0, 32 * MIB))).toBe(true);
    await engine.stop();
    expect((await checksums(volume)).size).toBe(1);
  });

  test('many rebuilds do not pile up layers', async () => {
    const volume = await cluster(2);
    const engine = await start(volume, 1);
    const data = crypto.randomBytes(2 * MIB);
    const [kept, dropped] = [copy(volume, 0), copy(volume, 1)];
    for (let round = 0; round < 4; round += 1) {
      await write(engine, round * MIB, data);
      await engine.dropReplica(dropped.address.replicaId, 'for the test');
      const rebuildId = crypto.randomUUID();
      engine.startRebuild({ rebuildId, target: dropped.address, sourceReplicaId: null });
      await until(engine, () => engine.report().rebuilds.at(-1)?.state !== 'running');
      expect(engine.report().rebuilds.at(-1)).toMatchObject({ state: 'succeeded', error: null });
    }
    for (const { node, address } of [kept, dropped]) {
      const { layers } = await node.service.command(address.replicaId, 'chain', { epoch: 1 });
      expect(layers.length).toBeLessThanOrEqual(2);
    }
    await engine.stop();
    expect((await checksums(volume)).size).toBe(1);
  });

  test('a target that fails in the moment of promotion is left out of the record again', async () => {
    const volume = await cluster(2);
    const engine = await start(volume, 1);
    await write(engine, 0, crypto.randomBytes(MIB));
    const replicaId = crypto.randomUUID();
    const node = await nodes.add('target');
    const { volumeId } = volume;
    const target = await node.create({ replicaId, volumeId, sizeBytes: SIZE, record: null });
    nodes.beforeCommand = (name, of) => {
      if (name === 'record' && of === replicaId) throw new Error('the disk of the target failed');
    };
    engine.startRebuild({ rebuildId: crypto.randomUUID(), target, sourceReplicaId: null });
    await until(engine, () => engine.report().rebuilds[0]?.state === 'failed');
    expect(engine.report().record).toMatchObject({ dataGeneration: 3, members: volume.record.members });
    for (const { node: member, address } of volume.copies) {
      const { record } = await member.service.command(address.replicaId, 'open', { epoch: 1 });
      expect(record?.members).toEqual(volume.record.members);
    }
    await write(engine, 0, crypto.randomBytes(MIB));
  });

  test('can be cancelled; another one may follow at once', async () => {
    const volume = await cluster(2);
    const engine = await start(volume, 1);
    await write(engine, 0, crypto.randomBytes(8 * MIB));
    const replicaId = crypto.randomUUID();
    const node = await nodes.add('target');
    const { volumeId } = volume;
    const target = await node.create({ replicaId, volumeId, sizeBytes: SIZE, record: null });
    const first = crypto.randomUUID();
    engine.startRebuild({ rebuildId: first, target, sourceReplicaId: null });
    const second = { rebuildId: crypto.randomUUID(), target, sourceReplicaId: null };
    expect(() => engine.startRebuild(second)).toThrow('another rebuild');
    await engine.cancelRebuild(first);
    expect(engine.report().rebuilds[0]).toMatchObject({
      state: 'failed',
      error: { code: 'rebuild.cancelled' },
    });
    engine.startRebuild(second);
    await until(engine, () => engine.report().rebuilds[1]?.state !== 'running');
    expect(engine.report().rebuilds[1]).toMatchObject({ state: 'succeeded' });
  });

  test('contents that differ on the target fail it', async () => {
    const volume = await cluster(2);
    const engine = await start(volume, 1);
    await write(engine, 0, crypto.randomBytes(8 * MIB));
    const replicaId = crypto.randomUUID();
    const node = await nodes.add('target');
    const { volumeId } = volume;
    const target = await node.create({ replicaId, volumeId, sizeBytes: SIZE, record: null });
    nodes.beforeCommand = (name, of) => {
      // The first hash is asked for when the target has written everything: damage it there.
      if (name === 'hashes' && of !== replicaId) damageLayers(node, replicaId);
    };
    engine.startRebuild({ rebuildId: crypto.randomUUID(), target, sourceReplicaId: null });
    await until(engine, () => engine.report().rebuilds[0]?.state !== 'running');
    expect(engine.report().rebuilds[0]).toMatchObject({
      state: 'failed',
      error: { code: 'rebuild.contents_differ' },
    });
    expect(engine.report().record.members).toEqual(volume.record.members);
  });

  test('goes on from another copy when its source dies', async () => {
    const volume = await cluster(3);
    const engine = await start(volume, 1);
    await write(engine, 0, crypto.randomBytes(24 * MIB));
    const replicaId = crypto.randomUUID();
    const node = await nodes.add('target');
    const target = await node.create({ replicaId, volumeId: volume.volumeId, sizeBytes: SIZE, record: null });
    const source = copy(volume, 1);
    nodes.beforeCommand = (name, of) => {
      if (name === 'hashes' && of === source.address.replicaId && source.node.isAlive) source.node.die();
    };
    engine.startRebuild({
      rebuildId: crypto.randomUUID(),
      target,
      sourceReplicaId: source.address.replicaId,
    });
    await until(engine, () => engine.report().rebuilds[0]?.state !== 'running');
    expect(engine.report().rebuilds[0]).toMatchObject({ state: 'succeeded', error: null });
    expect(modes(engine).sort()).toEqual(['ERR', 'RW', 'RW', 'RW']);
  });

  test('a target that dies fails the rebuild and nothing else; an old copy is not believed', async () => {
    const volume = await cluster(2);
    const engine = await start(volume, 1);
    await write(engine, 0, crypto.randomBytes(8 * MIB));
    const node = await nodes.add('target');
    const replicaId = crypto.randomUUID();
    const target = await node.create({ replicaId, volumeId: volume.volumeId, sizeBytes: SIZE, record: null });
    nodes.beforeCommand = (name) => {
      if (name === 'progress' && node.isAlive) node.die();
    };
    engine.startRebuild({ rebuildId: crypto.randomUUID(), target, sourceReplicaId: null });
    await until(engine, () => engine.report().rebuilds[0]?.state === 'failed');
    await write(engine, 0, Buffer.alloc(4096, 3));
    expect(modes(engine).sort()).toEqual(['ERR', 'RW', 'RW']);
    expect(engine.report().record.members).toEqual(volume.record.members);
    expect((await node.service.command(replicaId, 'open', { epoch: 1 })).record).toBeNull();
  });
});
