import crypto from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { changeWrites } from '../../test/changed-writes.js';
import {
  type Cluster,
  expectBytes,
  MIB,
  modes,
  until,
  useClusters,
  write,
} from '../../test/engine-cluster.js';
import { NbdErrno } from '../nbd/constants.js';
import type { DataLink } from '../nbd/data-link.js';
import { NbdError } from '../nbd/errors.js';
import type { Engine } from './engine.js';

const { cluster } = useClusters();
/** The tests' `replicaTimeoutMs`, and a little for a busy machine. */
const TIMEOUT_MS = 2_000;

describe('the last current copy', () => {
  test.each([
    { kind: 'read' as const, ask: (engine: Engine) => engine.device.read(4 * MIB, 4096) },
    { kind: 'write' as const, ask: (engine: Engine) => write(engine, 4 * MIB, Buffer.alloc(4096)) },
  ])('that answers a $kind with an error fails that request, and no other', async ({ kind, ask }) => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    const bytes = crypto.randomBytes(8192);
    await write(engine, 0, bytes);
    const [link] = engine.copies.all;
    if (link === undefined) throw new Error('no copy');
    const restore = failing(link.client, kind);
    await expect(ask(engine)).rejects.toMatchObject({ errno: NbdErrno.Io });
    restore();
    await ask(engine);
    await expectBytes(engine, 0, bytes);
    expect(engine.report()).toMatchObject({
      state: 'running',
      replicas: [{ mode: 'RW', reason: expect.stringContaining('a sector can not be read') }],
    });
    await engine.stop();
  });

  test('whose connection is lost is opened again, and what was in flight is sent again', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    await write(engine, 0, Buffer.alloc(4096, 1));
    const { node } = volume.copy(0);
    node.cutOff();
    const bytes = crypto.randomBytes(MIB);
    const written = write(engine, 4 * MIB, bytes);
    await until(engine, () => engine.report().replicas[0]?.reason !== '');
    expect(engine.report()).toMatchObject({ state: 'running', replicas: [{ mode: 'RW' }] });
    node.reconnect();
    await written;
    await expectBytes(engine, 4 * MIB, bytes);
    await expectBytes(engine, 0, Buffer.alloc(4096, 1));
    expect(engine.report().replicas).toMatchObject([{ mode: 'RW', reason: '' }]);
    await engine.stop();
  });

  test('makes requests wait while it is silent, for longer than a copy may be', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    const release = await hold(volume, 0, 'write', 1);
    const bytes = crypto.randomBytes(8192);
    const written = write(engine, 0, bytes);
    await tickFor(engine, 2 * TIMEOUT_MS);
    expect(engine.report()).toMatchObject({ state: 'running', replicas: [{ mode: 'RW' }] });
    release();
    await written;
    await expectBytes(engine, 0, bytes);
    await engine.stop();
  });

  test('ends with the engine when a stop does not want to wait for it', async () => {
    const volume = await cluster(1);
    const engine = await volume.start(1);
    volume.copy(0).node.cutOff();
    const written = write(engine, 0, Buffer.alloc(4096, 1));
    const failed = expect(written).rejects.toMatchObject({ code: 'engine.not_found' });
    await sleep(50);
    volume.fenceAll();
    await failed;
  });
});

describe('silence', () => {
  test('of all copies drops none', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const release = [];
    for (const { client } of engine.copies.all) {
      // The whole machine is busy: not even a ping is answered.
      const { ping } = client;
      let hear: () => void = () => undefined;
      const heard = new Promise<void>((resolve) => {
        hear = resolve;
      });
      client.ping = () => heard.then(() => ping.call(client));
      release.push(hear);
    }
    for (const index of [0, 1]) release.push(await hold(volume, index, 'write', 1));
    const bytes = crypto.randomBytes(8192);
    const written = write(engine, 0, bytes);
    await tickFor(engine, TIMEOUT_MS + 1_000);
    expect(modes(engine)).toEqual(['RW', 'RW']);
    for (const hear of release) hear();
    await written;
    await expectBytes(engine, 0, bytes);
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('of one request is noticed though others are answered', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await hold(volume, 1, 'write', 1);
    const stuck = write(engine, 0, Buffer.alloc(4096, 1));
    let stopped = false;
    const others = (async () => {
      for (let i = 0; !stopped; i += 1) await write(engine, MIB + (i % 64) * 4096, Buffer.alloc(4096, i));
    })();
    await tickFor(engine, TIMEOUT_MS + 1_500);
    expect(modes(engine)).toEqual(['RW', 'ERR', 'RW']);
    stopped = true;
    await others;
    await stuck;
  });

  test('is judged by the timeout that was set last, also where it has begun already', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    engine.setReplicaTimeout(60_000);
    const release = await hold(volume, 1, 'write', 1);
    const stuck = write(engine, 0, Buffer.alloc(4096, 1));
    await tickFor(engine, TIMEOUT_MS + 500);
    expect({ modes: modes(engine), told: engine.report().replicaTimeoutMs }).toEqual({
      modes: ['RW', 'RW'],
      told: 60_000,
    });
    engine.setReplicaTimeout(500);
    await tickFor(engine, 500);
    expect(modes(engine)).toEqual(['RW', 'ERR']);
    await stuck;
    release();
  });
});

/** Holds requests of one kind at one copy's files, until the returned function is called. */
async function hold(
  volume: Cluster,
  index: number,
  kind: 'write' | 'read',
  count = Number.POSITIVE_INFINITY,
) {
  const { node, address } = volume.copy(index);
  const replica = await node.replica(address.replicaId);
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let held = 0;
  if (kind === 'read') {
    const { read, readNow } = replica;
    const isHeld = () => {
      held += 1;
      return held <= count;
    };
    replica.readNow = (offset, lengthBytes) =>
      held < count ? undefined : readNow.call(replica, offset, lengthBytes);
    replica.read = async (offset, lengthBytes) => {
      if (isHeld()) await released;
      return read.call(replica, offset, lengthBytes);
    };
  } else {
    const { write: put } = replica;
    replica.writeNow = () => false;
    replica.write = async (...ask) => {
      held += 1;
      if (held <= count) await released;
      return put.apply(replica, ask);
    };
  }
  return () => release();
}

/** Lets requests of one kind fail with an error of the disk. @returns lets them succeed again */
function failing(client: DataLink, kind: 'read' | 'write'): () => void {
  const fail = async () => {
    throw new NbdError(NbdErrno.Io, 'a sector can not be read');
  };
  if (kind === 'write') return changeWrites(client, fail);
  const { read } = client;
  client.read = fail;
  return () => {
    client.read = read;
  };
}

/** Ticks like an engine host for that long. */
async function tickFor(engine: Engine, ms: number): Promise<void> {
  for (const endMs = performance.now() + ms; performance.now() < endMs; ) {
    engine.tick(performance.now());
    await sleep(50);
  }
}
