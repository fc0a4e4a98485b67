/** Missing copies of a detached volume are rebuilt without a user attaching it. */
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDelete } from '@holdfast/control/use-cases/request-delete.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestVerify } from '@holdfast/control/use-cases/request-verify.js';
import { requestSnapshot } from '@holdfast/control/use-cases/snapshots.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { holderOf, isRepairing, requestOf } from '@holdfast/core/model/volume-lifecycle.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import { type EffectFault, NO_FAULTS } from '@holdfast/simulator/faults.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn, aWorld, codeOf } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, describe, expect, test } from '@jest/globals';

let world: World;
let client: SimClient;

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

const key = () => ({ volumeId: client.volumeId });
const volume = async () => (await client.view()).volume;
const copies = async () =>
  (await client.view()).replicas.map(
    ({ nodeId }) => world.nodes.find((node) => node.nodeId === nodeId)?.name ?? '',
  );
const holderName = async () => ((await copies()).includes('node-1') ? 'node-1' : (await copies())[0]);
const offline = async () => conditionOf((await volume()).conditions, 'OfflineRebuilding');
const becomesRepaired = (seconds: number) =>
  world.runUntil(async () => {
    const { robustness, lifecycle } = await volume();
    return robustness === 'healthy' && lifecycle.state === 'detached';
  }, seconds);
const isAtWork = () =>
  world.runUntil(async () => (await client.view()).rebuilds.some(({ state }) => state === 'running'), 200);

describe('offline rebuilding', () => {
  test('brings a detached volume back to all its copies, and lets it go', async () => {
    await aDegradedVolume();
    expect(await isAtWork()).toBe(true);
    expect(isRepairing(await volume())).toBe(true);
    expect(await offline()).toMatchObject({ status: 'True' });
    expect(await becomesRepaired(120)).toBe(true);
    expect(await offline()).toMatchObject({ status: 'False', reason: 'Healthy' });
    const types = world.store.events.map(({ type }) => type).filter((type) => type.startsWith('Offline'));
    expect(types).toEqual(['OfflineRebuildStarted', 'OfflineRebuildEnded']);
    await attach(world, client);
    expect(await client.missing()).toEqual([]);
  });

  test.each([
    { own: 'ignored', setting: true, want: true },
    { own: 'ignored', setting: false, want: false },
    { own: 'disabled', setting: true, want: false },
    { own: 'enabled', setting: false, want: true },
  ] as const)(
    'is as the volume says, or else the cluster: $own, $setting',
    async ({ own, setting, want }) => {
      await aDegradedVolume(own);
      world.store.setSetting(world.clusterId, 'offline-replica-rebuilding', setting);
      expect(await becomesRepaired(200)).toBe(want);
    },
  );

  test('leaves a volume alone whose node is only away for a while', async () => {
    await aUsedVolume();
    await patchVolume(world.useCases, { ...key(), patch: { offlineRebuilding: 'enabled' } });
    await requestDetach(world.useCases, key());
    await world.run(3);
    const away = (await copies()).find((name) => name !== 'node-1') ?? '';
    world.node(away).kill();
    await world.run(500);
    expect((await volume()).epoch).toBe(1);
    world.startNode(away);
    await world.run(10);
    expect((await volume()).robustness).toBe('healthy');
  });

  test('gives way to a user who attaches it: the engine and the rebuild go on as theirs', async () => {
    await aDegradedVolume();
    await isAtWork();
    const { epoch } = await volume();
    await requestAttach(world.useCases, key());
    await world.run(1);
    expect(await volume()).toMatchObject({ lifecycle: { state: 'attached' }, epoch });
    expect(await client.write()).toBe(true);
    await world.run(60);
    expect(await volume()).toMatchObject({ lifecycle: { state: 'attached' }, robustness: 'healthy', epoch });
    expect(await offline()).toMatchObject({ status: 'False', reason: 'Preempted' });
  });

  test('gives way to a user who attaches it on another node', async () => {
    await aDegradedVolume();
    await isAtWork();
    const { lifecycle, epoch } = await volume();
    const holderId = holderOf({ lifecycle });
    const other = world.nodes.find((node) => node.isAlive && node.nodeId !== holderId);
    await requestAttach(world.useCases, { ...key(), nodeId: other?.nodeId });
    await world.runUntil(async () => (await volume()).lifecycle.state === 'attached', 60);
    expect(await volume()).toMatchObject({
      lifecycle: { grant: { nodeId: other?.nodeId } },
      epoch: epoch + 1,
    });
    expect(await client.write()).toBe(true);
    await world.runUntil(async () => (await volume()).robustness === 'healthy', 300);
    expect(await client.missing()).toEqual([]);
  });

  test('is no user’s attachment: what needs one is refused, and a deletion goes ahead', async () => {
    await aDegradedVolume();
    await isAtWork();
    expect(await codeOf(requestSnapshot(world.useCases, { ...key(), name: 's' }))).toBe(
      'volume.not_attached',
    );
    expect(await codeOf(requestVerify(world.useCases, key()))).toBe('volume.busy');
    expect(await codeOf(requestDetach(world.useCases, key()))).toBe('done');
    expect(isRepairing(await volume())).toBe(true);
    await requestDelete(world.useCases, key());
    await world.runUntil(async () => !world.store.volumeIds.includes(client.volumeId), 60);
    expect(world.store.volumeIds).toEqual([]);
  });

  test('that is switched off lets go, also of a rebuild that waits', async () => {
    await aDegradedVolume();
    world.store.setQuota('project', (await volume()).projectId, { runningRebuilds: 0 });
    await world.runUntil(
      async () => (await client.view()).rebuilds.some(({ state }) => state === 'queued'),
      200,
    );
    expect(isRepairing(await volume())).toBe(true);
    await patchVolume(world.useCases, { ...key(), patch: { offlineRebuilding: 'disabled' } });
    await world.run(20);
    expect((await volume()).lifecycle.state).toBe('detached');
    expect(await offline()).toMatchObject({ status: 'False', reason: 'NotWanted' });
  });

  test('whose engine’s node dies is let go of, and begins again after a rest', async () => {
    await aDegradedVolume();
    await isAtWork();
    const holderId = holderOf(await volume());
    const holder = world.nodes.find(({ nodeId }) => nodeId === holderId);
    holder?.kill();
    await world.runUntil(async () => requestOf(await volume()) === undefined, 200);
    await world.run(10);
    expect((await volume()).lifecycle.state).toBe('detached');
    expect((await offline())?.reason).toBe('Stalled');
    world.startNode(holder?.name ?? '');
    expect(await becomesRepaired(1200)).toBe(true);
  });

  const faults: EffectFault[] = ['die-before', 'die-after', 'lost-before', 'lost-after'];
  test.each(faults)('ends well with %s now and then, and two workers', async (fault) => {
    await aDegradedVolume();
    let count = 0;
    const onEffect = (): EffectFault => {
      count += 1;
      return count % 9 === 4 ? fault : 'none';
    };
    world.faults = { ...NO_FAULTS, runsTwice: () => true, onEffect };
    await world.run(120);
    world.faults = NO_FAULTS;
    expect(await becomesRepaired(900)).toBe(true);
  });
});

/** A volume that was used, with a fourth node to spare. */
async function aUsedVolume(): Promise<void> {
  world = await aWorld(1, ['zone-a', 'zone-b', 'zone-c', 'zone-d']);
  client = await aVolumeIn(world);
  await world.run(1);
  await attach(world, client, await holderName());
  expect(await client.write()).toBe(true);
}

/** …whose copy on another node than its own failed, while the node stays away for good. */
async function aDegradedVolume(own: Volume['spec']['offlineRebuilding'] = 'enabled'): Promise<void> {
  await aUsedVolume();
  await patchVolume(world.useCases, { ...key(), patch: { offlineRebuilding: own } });
  const lost = (await copies()).find((name) => name !== 'node-1') ?? '';
  world.store.setSetting(world.clusterId, 'replica-replenishment-wait-interval', 60);
  world.node(lost).kill();
  await world.run(10);
  await client.write();
  await requestDetach(world.useCases, key());
  await world.runUntil(async () => (await volume()).lifecycle.state === 'detached', 20);
  expect((await volume()).robustness).toBe('degraded');
}
