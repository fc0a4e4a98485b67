import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { changeWrites } from '../../test/changed-writes.js';
import { MIB, modes, until, useClusters, write } from '../../test/engine-cluster.js';
import { SYSTEM_TIME } from '../base/time.js';
import { contiguous } from '../nbd/export.js';
import type { Engine } from './engine.js';
import { Lease } from './lease.js';
import type { ReplicaLink } from './replica-link.js';

const { cluster } = useClusters();
const TIMEOUT_MS = 2_000;

/** Withholds all answers of the copy until the returned function is called. */
function silence({ client }: ReplicaLink): () => void {
  const { ping, read } = client;
  let hear: () => void = () => undefined;
  const heard = new Promise<void>((resolve) => {
    hear = resolve;
  });
  client.ping = () => heard.then(() => ping.call(client));
  client.read = (...ask) => heard.then(() => read.apply(client, ask));
  changeWrites(client, (write, put) => heard.then(() => put(write)));
  return hear;
}

async function isAnswered(work: Promise<unknown>): Promise<boolean> {
  return Promise.race([
    work.then(
      () => true,
      () => true,
    ),
    sleep(300).then(() => false),
  ]);
}

function linkOf(engine: Engine, index: number): ReplicaLink {
  const link = engine.copies.all[index];
  if (link === undefined) throw new Error(`no copy ${index}`);
  return link;
}

describe('reads', () => {
  test('wait on an engine that has not heard most of its copies for as long as the timeout', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, Buffer.alloc(4096, 1));
    const hear = [1, 2].map((index) => silence(linkOf(engine, index)));
    await sleep(TIMEOUT_MS + 100);
    const read = engine.device.read(0, 4096);
    expect(await isAnswered(read)).toBe(false);
    for (const again of hear) again();
    expect(contiguous(await read)[0]).toBe(1);
    expect(modes(engine)).toEqual(['RW', 'RW', 'RW']);
  });

  test('go on while most copies answer now and then, though nothing else is asked of them', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    silence(linkOf(engine, 2));
    const timer = setInterval(() => engine.tick(performance.now()), 100);
    await sleep(TIMEOUT_MS + 500);
    expect(engine.copies.lease.isValid).toBe(true);
    expect(await isAnswered(engine.device.read(0, 4096))).toBe(true);
    clearInterval(timer);
  });

  test('are not answered by a process that was paused before it has heard its copies', async () => {
    const volume = await cluster(3);
    let stoodStillMs = 0;
    const time = { ...SYSTEM_TIME, nowMs: () => performance.now() + stoodStillMs };
    const engine = await volume.start(1, { time });
    await engine.device.read(0, 4096);
    const hear = [1, 2].map((index) => silence(linkOf(engine, index)));
    stoodStillMs = 60_000;
    const read = engine.device.read(0, 4096);
    expect(await isAnswered(read)).toBe(false);
    for (const again of hear) again();
    await read;
  });

  test('that are asked again after a drop wait until the record leaves the dropped copy out', async () => {
    const volume = await cluster(2);
    let confirm: () => void = () => undefined;
    const confirmed = new Promise<void>((resolve) => {
      confirm = resolve;
    });
    const engine = await volume.start(1, { confirmRecord: () => confirmed });
    const { client } = linkOf(engine, 1);
    client.read = async () => {
      throw new Error('lost');
    };
    const read = engine.device.read(MIB, 4096);
    await until(engine, () => engine.report().state === 'waiting-record');
    expect(await isAnswered(read)).toBe(false);
    confirm();
    await read;
  });

  test('of what is being written are answered when the write has ended on every copy', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    const hear = silence(linkOf(engine, 1));
    const written = write(engine, 0, Buffer.alloc(4096, 7));
    await sleep(100);
    const read = engine.device.read(0, 4096);
    expect(await isAnswered(read)).toBe(false);
    hear();
    await written;
    expect(contiguous(await read)[0]).toBe(7);
  });
});

test('allocation is queried on a copy that may be read', async () => {
  const volume = await cluster(3);
  const engine = await volume.start(1);
  await write(engine, 8 * MIB, Buffer.alloc(MIB, 7));
  engine.copies.reads.onlyFrom(linkOf(engine, 1));
  linkOf(engine, 0).client.blockStatus = async (_, lengthBytes) => [{ lengthBytes, allocated: false }];
  expect(await engine.device.blockStatus(8 * MIB, MIB, 8)).toEqual([{ lengthBytes: MIB, allocated: true }]);
});

test('a lease that holds still ends at once when the members change so that most were not heard', () => {
  // The casts: of links and of clients a lease needs these only.
  const heardAt = (heardAtMs: number) => ({ mode: 'RW', client: { heardAtMs } }) as ReplicaLink;
  let members = [heardAt(1_000), heardAt(1_000), heardAt(0)];
  const lease = new Lease({
    members: () => members,
    timeoutMs: () => TIMEOUT_MS,
    time: { ...SYSTEM_TIME, nowMs: () => TIMEOUT_MS + 500 },
    failed: () => undefined,
  });
  expect(lease.isValid).toBe(true);
  members = [heardAt(1_000), heardAt(0)];
  lease.changed();
  expect(lease.isValid).toBe(false);
});
