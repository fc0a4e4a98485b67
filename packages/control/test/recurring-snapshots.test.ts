/** Recurring snapshots and their retention on a simulated cluster: the world begins at midnight. */
import {
  deleteRecurringSnapshot,
  setRecurringSnapshot,
} from '@holdfast/control/use-cases/recurring-snapshots.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestSnapshot } from '@holdfast/control/use-cases/snapshots.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import { type EffectFault, NO_FAULTS } from '@holdfast/simulator/faults.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { aServedVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, describe, expect, test } from '@jest/globals';

let world: World;
let client: SimClient;

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

async function aServedVolume(): Promise<void> {
  world = await aWorld();
  client = await aServedVolumeIn(world);
}

const key = () => ({ volumeId: client.volumeId });
const set = (name: string, cron: string, retain: number) =>
  setRecurringSnapshot(world.useCases, { ...key(), name, cron, retain });
const names = async () => (await client.view()).snapshots.map(({ name, state }) => `${name} ${state}`);
const recurring = async () => (await client.view()).volume.recurringSnapshots[0];
const events = (type: string) => world.store.events.filter((event) => event.type === type);

describe('a recurring snapshot', () => {
  test('is taken at its times, keeps as many as were wanted, and leaves those of people alone', async () => {
    await aServedVolume();
    await requestSnapshot(world.useCases, { ...key(), name: 'mine' });
    await set('minutely', '* * * * *', 2);
    expect(await names()).toEqual(['mine creating']);
    await world.run(130);
    expect(await names()).toEqual([
      'mine ready',
      'minutely-20260101T0001Z ready',
      'minutely-20260101T0002Z ready',
    ]);
    await world.run(60);
    expect(await names()).toEqual([
      'mine ready',
      'minutely-20260101T0002Z ready',
      'minutely-20260101T0003Z ready',
    ]);
    const { layers } = [...world.node('node-2').copies.values()][0] ?? { layers: [] };
    expect(layers).toHaveLength(3);
    expect(await recurring()).toMatchObject({
      nextRunAt: new Date('2026-01-01T00:04:00.000Z'),
      lastRun: { dueAt: new Date('2026-01-01T00:03:00.000Z'), outcome: 'requested' },
    });
  });

  test('that a quota leaves no room for is skipped, and says so once', async () => {
    await aServedVolume();
    const { volume } = await client.view();
    await set('minutely', '* * * * *', 5);
    world.store.setQuota('project', volume.projectId, { snapshots: 1 });
    await world.run(190);
    expect(await names()).toEqual(['minutely-20260101T0001Z ready']);
    expect((await recurring())?.lastRun).toMatchObject({
      outcome: 'skipped',
      message: 'the project may have 1 of snapshots; it has 1, and this needs 1 more',
    });
    expect(events('RecurringSnapshotSkipped')).toHaveLength(1);
    world.store.setQuota('project', volume.projectId, {});
    await world.run(60);
    expect(await names()).toHaveLength(2);
  });

  test('of a detached volume is skipped, and says so once', async () => {
    await aServedVolume();
    await set('minutely', '* * * * *', 2);
    await requestDetach(world.useCases, key());
    await world.run(190);
    expect(await names()).toEqual([]);
    expect((await recurring())?.lastRun).toMatchObject({
      outcome: 'skipped',
      message: 'the volume was not attached',
    });
    expect(events('RecurringSnapshotSkipped')).toHaveLength(1);
    await requestAttach(world.useCases, key());
    await world.run(60);
    expect(await names()).toEqual(['minutely-20260101T0004Z ready']);
  });

  test('is made up for once after hours in which no worker ran', async () => {
    await aServedVolume();
    await set('hourly', '0 * * * *', 10);
    world.standStill(5 * 3600);
    for (const name of ['node-1', 'node-2', 'node-3']) world.startNode(name);
    await world.run(60);
    expect(await names()).toEqual(['hourly-20260101T0500Z ready']);
    expect((await recurring())?.nextRunAt).toEqual(new Date('2026-01-01T06:00:00.000Z'));
  });

  test('whose engine does not answer is not asked for again and again', async () => {
    await aServedVolume();
    await set('minutely', '* * * * *', 5);
    world.node('node-1').kill();
    await world.run(250);
    expect(await names()).toEqual(['minutely-20260101T0001Z creating']);
    expect((await recurring())?.lastRun?.message).toBe('the one before has not been taken yet');
    world.startNode('node-1');
    await world.run(120);
    expect((await names())[0]).toBe('minutely-20260101T0001Z ready');
  });

  test('that is ended leaves its snapshots, which count again when it is set anew', async () => {
    await aServedVolume();
    await set('minutely', '* * * * *', 3);
    await world.run(190);
    await deleteRecurringSnapshot(world.useCases, { ...key(), name: 'minutely' });
    await world.run(120);
    expect(await names()).toHaveLength(3);
    await set('minutely', '0 0 1 1 *', 1);
    await world.run(10);
    expect(await names()).toEqual(['minutely-20260101T0003Z ready']);
  });

  // A worker that dies, calls that are lost, and two workers at once: each due time still has one snapshot.
  const faults: EffectFault[] = ['die-before', 'die-after', 'lost-before', 'lost-after'];
  test.each(faults.flatMap((fault) => [1, 2, 3, 4].map((at) => ({ fault, at }))))(
    'is taken once for each due time: $fault at effect $at, with two workers',
    async ({ fault, at }) => {
      await aServedVolume();
      await set('minutely', '* * * * *', 5);
      await world.run(50);
      let count = 0;
      world.faults = {
        ...NO_FAULTS,
        runsTwice: () => true,
        onEffect: () => {
          count += 1;
          return count % 7 === at ? fault : 'none';
        },
      };
      await world.run(140);
      world.faults = NO_FAULTS;
      await world.run(30);
      expect(await names()).toEqual([
        'minutely-20260101T0001Z ready',
        'minutely-20260101T0002Z ready',
        'minutely-20260101T0003Z ready',
      ]);
    },
  );
});

describe('what is set', () => {
  test.each([
    { name: 'Bad name', cron: '* * * * *', retain: 1, want: ['/name'] },
    { name: 'a', cron: 'often', retain: 0, want: ['/cron', '/retain'] },
    { name: 'a', cron: '@daily', retain: 101, want: ['/retain'] },
    { name: 'a', cron: '0 0 30 2 *', retain: 1, want: ['/cron'] },
  ])('$name, $cron, $retain is refused', async ({ name, cron, retain, want }) => {
    await aServedVolume();
    const refusal = await set(name, cron, retain).catch((error: unknown) => error);
    expect(
      isFault(refusal, 'request.invalid') && refusal.details.errors?.map(({ pointer }) => pointer),
    ).toEqual(want);
  });

  test('keeps at most as many as the cluster says', async () => {
    await aServedVolume();
    world.store.setSetting(world.clusterId, 'recurring-job-max-retention', 4);
    await set('four', '@daily', 4);
    await expect(set('five', '@daily', 5)).rejects.toThrow('4');
  });

  test('stays below the limit of the volume, all together, and are few', async () => {
    await aServedVolume();
    await set('a', '@daily', 100);
    await set('b', '@daily', 100);
    await expect(set('c', '@daily', 37)).rejects.toThrow('240 snapshots would be kept');
    await set('c', '@daily', 36);
    await set('b', '@daily', 1);
    for (const name of ['d', 'e', 'f', 'g', 'h']) await set(name, '@daily', 1);
    await expect(set('i', '@daily', 1)).rejects.toThrow('one too many');
  });

  test('anew with the same times keeps the next one', async () => {
    await aServedVolume();
    await set('hourly', '0 * * * *', 2);
    const before = await recurring();
    await world.run(5);
    await set('hourly', '0 * * * *', 3);
    expect(await recurring()).toEqual({ ...before, retain: 3 });
  });
});
