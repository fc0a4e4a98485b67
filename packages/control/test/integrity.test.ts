/** Periodic hashing of snapshots, and the warning of too many of them: the world begins on a first of January. */
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import {
  requestHash,
  requestSnapshot,
  requestSnapshotDeletion,
} from '@holdfast/control/use-cases/snapshots.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import { type EffectFault, NO_FAULTS } from '@holdfast/simulator/faults.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { aServedVolumeIn, attach, aVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import { World } from '@holdfast/simulator/world.js';
import { afterEach, describe, expect, test } from '@jest/globals';

let world: World;

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

const aServedVolume = (name?: string) => aServedVolumeIn(world, name);
const CRON = 'snapshot-data-integrity-cronjob';
const IMMEDIATE = 'snapshot-data-integrity-immediate-check-after-snapshot-creation';
const LIMIT = 'snapshot-heavy-task-concurrent-limit';
const set = (name: Parameters<World['store']['setSetting']>[1], value: string | number | boolean) =>
  world.store.setSetting(world.clusterId, name, value);
const take = ({ volumeId }: SimClient, name: string) => requestSnapshot(world.useCases, { volumeId, name });
const isHashed = ({ checksums }: Snapshot) =>
  checksums.length > 0 && checksums.every(({ checksum }) => checksum !== null);
const hashed = async (client: SimClient) =>
  (await client.view()).snapshots
    .filter(isHashed)
    .map(({ name }) => name)
    .sort();
const patch = ({ volumeId }: SimClient, part: Partial<Volume['spec']>) =>
  patchVolume(world.useCases, { volumeId, patch: part });

describe('the periodic check', () => {
  test('hashes all user snapshots when its time comes, and ends its admission', async () => {
    world = await aWorld();
    const client = await aServedVolume();
    await take(client, 'a');
    await take(client, 'b');
    set(CRON, '5 0 * * *');
    await world.run(240);
    expect(await hashed(client)).toEqual([]);
    await world.run(90);
    expect(await hashed(client)).toEqual(['a', 'b']);
    const { volume } = await client.view();
    expect(volume.hashing).toBeUndefined();
    expect(volume.integrityCheckedAt?.toISOString()).toMatch(/^2026-01-01T00:05:0/);
  });

  test.each([
    { setting: 'fast-check', own: 'ignored', want: [false] },
    { setting: 'enabled', own: 'ignored', want: [true] },
    { setting: 'enabled', own: 'fast-check', want: [false] },
    { setting: 'disabled', own: 'enabled', want: [true] },
    { setting: 'enabled', own: 'disabled', want: [] },
    { setting: 'disabled', own: 'ignored', want: [] },
  ] as const)('reads in full where it is to: $setting, its own $own', async ({ setting, own, want }) => {
    world = await aWorld();
    const client = await aServedVolume();
    await patch(client, { snapshotDataIntegrity: own });
    set('snapshot-data-integrity', setting);
    await take(client, 'a');
    set(CRON, '* * * * *');
    const forced: boolean[] = [];
    const { command } = world.reconcilers.agents;
    world.reconcilers.agents.command = (agent, volumeId, name, ask) => {
      if (name === 'hash-snapshot' && 'force' in ask) forced.push(ask.force);
      return command(agent, volumeId, name, ask);
    };
    await world.run(64);
    expect(forced).toEqual(want);
  });

  test('of a volume that was detached then is made up for when it is attached', async () => {
    world = await aWorld();
    const client = await aServedVolume();
    await take(client, 'a');
    await world.run(1);
    await requestDetach(world.useCases, { volumeId: client.volumeId });
    set(CRON, '5 0 * * *');
    await world.run(400);
    expect(await hashed(client)).toEqual([]);
    await attach(world, client, 'node-2');
    await world.run(15);
    expect(await hashed(client)).toEqual(['a']);
  });

  test('runs on no more volumes of a node than may, and reaches all of them', async () => {
    world = await aWorld();
    const clients: SimClient[] = [];
    for (let index = 0; index < 5; index += 1) clients.push(await aServedVolume(`v-${index}`));
    for (const client of clients) for (const name of ['a', 'b', 'c']) await take(client, name);
    await world.run(2);
    set(LIMIT, 2);
    set(CRON, '5 0 * * *');
    let most = 0;
    const admitted = async () => {
      const volumes = await Promise.all(clients.map(async (client) => (await client.view()).volume));
      return volumes.filter(({ hashing }) => hashing !== undefined).length;
    };
    await world.runUntil(async () => {
      most = Math.max(most, await admitted());
      return false;
    }, 400);
    expect(most).toBe(2);
    for (const client of clients) expect(await hashed(client)).toEqual(['a', 'b', 'c']);
  });

  const faults: EffectFault[] = ['die-before', 'die-after', 'lost-before', 'lost-after'];
  test.each(faults)('goes on where it was with %s now and then, and two workers', async (fault) => {
    world = await aWorld();
    const client = await aServedVolume();
    for (const name of ['a', 'b']) await take(client, name);
    await world.run(1);
    set(CRON, '1 0 * * *');
    let count = 0;
    const onEffect = (): EffectFault => {
      count += 1;
      return count % 6 === 3 ? fault : 'none';
    };
    world.faults = { ...NO_FAULTS, runsTwice: () => true, onEffect };
    await world.run(150);
    world.faults = NO_FAULTS;
    await world.run(20);
    expect(await hashed(client)).toEqual(['a', 'b']);
    expect((await client.view()).volume.hashing).toBeUndefined();
  });
});

describe('the settings of each data engine', () => {
  /** A volume of each, both served. */
  async function aVolumeOfEach(): Promise<[SimClient, SimClient]> {
    world = new World(1);
    const disks = [{ sizeBytes: 100 * GIB }, { sizeBytes: 100 * GIB, type: 'block' as const }];
    for (const name of ['node-1', 'node-2', 'node-3']) world.addNode(name, { disks });
    await world.run(2);
    const v1 = await aVolumeIn(world, { name: 'of-v1', dataEngine: 'v1' });
    const v2 = await aVolumeIn(world, { name: 'of-v2', dataEngine: 'v2' });
    await world.run(1);
    for (const client of [v1, v2]) {
      await attach(world, client, 'node-1');
      await client.write();
    }
    return [v1, v2];
  }
  const map = (v1: unknown, v2: unknown) => JSON.stringify({ v1, v2 });

  test('say whether its volumes are checked, and when', async () => {
    const [v1, v2] = await aVolumeOfEach();
    for (const client of [v1, v2]) await take(client, 'a');
    set(CRON, map('5 0 * * *', '10 0 * * *'));
    await world.run(400);
    expect([await hashed(v1), await hashed(v2)]).toEqual([['a'], []]);
    await world.run(300);
    expect(await hashed(v2)).toEqual(['a']);
    for (const client of [v1, v2]) await take(client, 'b');
    set('snapshot-data-integrity', map('disabled', 'enabled'));
    set(CRON, map('* * * * *', '* * * * *'));
    await world.run(100);
    expect([await hashed(v1), await hashed(v2)]).toEqual([['a'], ['a', 'b']]);
  });

  test('say whether snapshots are checked as soon as they are taken', async () => {
    const [v1, v2] = await aVolumeOfEach();
    set(IMMEDIATE, map(false, true));
    for (const client of [v1, v2]) await take(client, 'a');
    await world.run(30);
    expect([await hashed(v1), await hashed(v2)]).toEqual([[], ['a']]);
  });
});

describe('the check right after a snapshot', () => {
  test('waits for admission too; what a user asks for does not', async () => {
    world = await aWorld();
    const client = await aServedVolume();
    const other = await aServedVolume('other');
    set(IMMEDIATE, true);
    set(LIMIT, 1);
    await take(other, 'first');
    await take(client, 'a');
    const both = async () => [
      (await client.view()).volume.hashing !== undefined,
      (await other.view()).volume.hashing !== undefined,
    ];
    let together = false;
    await world.runUntil(async () => {
      together ||= (await both()).every(Boolean);
      return (await hashed(client)).length + (await hashed(other)).length === 2;
    }, 60);
    expect(together).toBe(false);
    expect([await hashed(client), await hashed(other)]).toEqual([['a'], ['first']]);
    set(IMMEDIATE, false);
    const snapshotId = await take(client, 'b');
    await world.run(1);
    await requestHash(world.useCases, { volumeId: client.volumeId, snapshotId, force: false });
    await world.run(3);
    expect(await hashed(client)).toEqual(['a', 'b']);
  });

  test('waits while a copy is missing, until a person asks for it', async () => {
    world = await aWorld();
    const client = await aServedVolume();
    world.node('node-3').kill();
    await world.run(12);
    await client.write();
    set(IMMEDIATE, true);
    const snapshotId = await take(client, 'a');
    await world.run(15);
    expect(await hashed(client)).toEqual([]);
    await requestHash(world.useCases, { volumeId: client.volumeId, snapshotId, force: false });
    await world.run(4);
    expect(await hashed(client)).toEqual(['a']);
  });

  test('is not made where the volume says so', async () => {
    world = await aWorld();
    const client = await aServedVolume();
    set(IMMEDIATE, true);
    await patch(client, { snapshotDataIntegrity: 'disabled' });
    await take(client, 'a');
    await world.run(20);
    expect(await hashed(client)).toEqual([]);
  });
});

describe('many snapshots', () => {
  const condition = async (client: SimClient) =>
    (await client.view()).volume.conditions.find(({ type }) => type === 'TooManySnapshots')?.status;

  test('are warned of at the threshold, and no more once some are gone', async () => {
    world = await aWorld();
    const client = await aServedVolume();
    set('snapshot-count-warning-threshold', 3);
    for (const name of ['a', 'b']) await take(client, name);
    await world.run(3);
    expect(await condition(client)).toBeUndefined();
    const snapshotId = await take(client, 'c');
    await world.run(3);
    expect(await condition(client)).toBe('True');
    expect(world.store.events.filter(({ type }) => type === 'TooManySnapshots')).toHaveLength(1);
    await requestSnapshotDeletion(world.useCases, { volumeId: client.volumeId, snapshotId });
    await world.run(5);
    expect(await condition(client)).toBe('False');
  });

  test('are limited, and warned of sooner, where the volume may have fewer than the cluster says', async () => {
    world = await aWorld();
    const client = await aServedVolume();
    await expect(patch(client, { snapshotMaxCount: 1 })).rejects.toThrow('must be from 2 to 250');
    await patch(client, { snapshotMaxCount: 2 });
    for (const name of ['a', 'b']) await take(client, name);
    await expect(take(client, 'c')).rejects.toThrow('may have 2');
    await world.run(3);
    expect(await condition(client)).toBe('True');
  });
});
