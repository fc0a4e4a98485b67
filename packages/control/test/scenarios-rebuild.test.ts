/** The end-to-end scenarios about rebuilding (V19 to V27, V29, V30), told over the use cases on a simulated cluster. */
import { cancelRebuild } from '@holdfast/control/use-cases/cancel-rebuild.js';
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import { tuneRebuild } from '@holdfast/control/use-cases/tune-rebuild.js';
import { GIB, MIB } from '@holdfast/core/model/bytes.js';
import type { EngineCommandName } from '@holdfast/core/model/engine-commands.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { isActiveRebuild } from '@holdfast/core/model/rebuild.js';
import type { SettingName } from '@holdfast/core/model/setting.js';
import { decideSurplus } from '@holdfast/core/policy/decide-surplus.js';
import type { SettingValue } from '@holdfast/core/settings/effective.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import { NO_FAULTS } from '@holdfast/simulator/faults.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn } from '@holdfast/simulator/test-world.js';
import { World } from '@holdfast/simulator/world.js';
import { afterEach, describe, expect, test } from '@jest/globals';

let world: World;

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

const set = (name: SettingName, value: SettingValue) => world.store.setSetting(world.clusterId, name, value);
const rw = async (client: SimClient) =>
  (await client.view()).replicas.filter(({ mode }) => mode === 'RW').length;
const healthyWithin = (client: SimClient, seconds: number) =>
  world.runUntil(async () => (await client.view()).volume.robustness === 'healthy', seconds);

const replicaOn = async (client: SimClient, name: string) => {
  const { replicas } = await client.view();
  const found = replicas.find(({ nodeId, intent }) => nodeId === world.nodeId(name) && intent === 'keep');
  if (found === undefined) throw new Error(`no replica on ${name}`);
  return found;
};

const runningRebuild = async (client: SimClient) =>
  (await client.view()).rebuilds.find(({ state }) => state === 'running');

describe('limits', () => {
  test('V19: a volume rebuilds one replica at a time', async () => {
    await aBaseWorld(['n1', 'n2', 'n3', 'n4', 'n5']);
    const client = await attachedVolume({ numberOfReplicas: 5 });
    for (const name of ['n2', 'n3', 'n4', 'n5']) await remove(client, name);
    const isDone = async () => {
      expect((await client.view()).replicas.filter(({ mode }) => mode === 'WO').length).toBeLessThanOrEqual(
        1,
      );
      return (await rw(client)) === 5;
    };
    await world.run(1);
    expect(await world.runUntil(isDone, 120)).toBe(true);
  });

  test('V20: with a node limit of 1 the second volume waits, says for what, and then starts', async () => {
    await aBaseWorld();
    set('concurrent-replica-rebuild-per-node-limit', 1);
    const a = await attachedVolume({ name: 'a' }, 'n2');
    const b = await attachedVolume({ name: 'b' }, 'n2');
    await remove(a, 'n1');
    await remove(b, 'n1');
    const waitsFor = async () => {
      const { queued, running } = await world.store.loadAdmissions(world.clusterId, {
        now: world.clock.now(),
        limit: 10,
      });
      return running.length === 1 && queued.length === 1 ? (queued[0]?.waitingFor ?? '') : '';
    };
    expect(await world.runUntil(async () => (await waitsFor()).includes('n1 receives 1 rebuild '), 20)).toBe(
      true,
    );
    expect(await healthyWithin(a, 60)).toBe(true);
    expect(await healthyWithin(b, 60)).toBe(true);
  });

  test.each([
    { name: 'cancelled', end: cancelRunning },
    { name: 'given up by its volume', end: removeTarget },
  ])('a rebuild that was $name keeps its place until the engine has stopped it', async ({ end }) => {
    await aBaseWorld();
    set('concurrent-replica-rebuild-per-node-limit', 1);
    const a = await attachedVolume({ name: 'a' }, 'n2');
    const b = await attachedVolume({ name: 'b' }, 'n2');
    await remove(a, 'n1');
    await remove(b, 'n1');
    await world.runUntil(async () => (await runningRebuild(a)) !== undefined, 20);
    await world.run(0.5);
    loseNext('cancel-rebuild', 3);
    await end(a);
    for (let round = 0; round < 20; round += 1) {
      await world.run(0.5);
      expect(await checkWorld(world)).toEqual([]);
    }
    expect(await healthyWithin(b, 60)).toBe(true);
  });

  test('V21: a limit of 0 builds nothing; 5 lets it go on', async () => {
    await aBaseWorld();
    set('concurrent-replica-rebuild-per-node-limit', 0);
    const client = await attachedVolume({ numberOfReplicas: 1 });
    await patchVolume(world.useCases, { volumeId: client.volumeId, patch: { numberOfReplicas: 2 } });
    await world.run(30);
    const { volume, replicas } = await client.view();
    expect([volume.robustness, replicas.length]).toEqual(['degraded', 1]);
    set('concurrent-replica-rebuild-per-node-limit', 5);
    expect(await healthyWithin(client, 30)).toBe(true);
    expect(await rw(client)).toBe(2);
  });
});

describe('pausing and bandwidth', () => {
  const tune = async (
    client: SimClient,
    input: { paused?: boolean; bandwidthBytesPerSecond?: number | null },
  ) => {
    const rebuildId = (await client.view()).rebuilds.find(isActiveRebuild)?.id;
    if (rebuildId === undefined) throw new Error('no rebuild is active');
    await tuneRebuild(world.useCases, { volumeId: client.volumeId, rebuildId, ...input });
  };
  const engineSays = () =>
    world.nodes.flatMap(({ engines }) =>
      [...engines.values()].flatMap((engine) =>
        engine.report().rebuilds.map(({ paused }) => paused === true),
      ),
    );

  test('a paused rebuild stands still in its engine until it is resumed', async () => {
    await aBaseWorld();
    const client = await attachedVolume();
    await remove(client, 'n3');
    await world.runUntil(async () => (await runningRebuild(client)) !== undefined, 20);
    await tune(client, { paused: true });
    await world.run(30);
    expect(await runningRebuild(client)).toMatchObject({ paused: true, tuned: { paused: true } });
    expect(engineSays()).toEqual([true]);
    await tune(client, { paused: false });
    expect(await healthyWithin(client, 30)).toBe(true);
  });

  test('one that waits does not start while it is paused, and says so', async () => {
    await aBaseWorld();
    set('concurrent-replica-rebuild-per-node-limit', 1);
    const client = await attachedVolume();
    const { projectId } = (await client.view()).volume;
    world.store.setQuota('project', projectId, { runningRebuilds: 0 });
    await remove(client, 'n3');
    await world.runUntil(async () => (await client.view()).rebuilds.some(isActiveRebuild), 20);
    await tune(client, { paused: true });
    world.store.setQuota('project', projectId, {});
    await world.run(10);
    expect((await client.view()).rebuilds.at(-1)).toMatchObject({
      state: 'queued',
      waitingFor: 'it is paused',
    });
    await tune(client, { paused: false });
    expect(await healthyWithin(client, 30)).toBe(true);
  });

  test("a node's bandwidth is shared by its rebuilds, and told to engines when it changes", async () => {
    await aBaseWorld();
    set('replica-rebuilding-bandwidth-limit', 40);
    const a = await attachedVolume({ name: 'a' }, 'n2');
    const b = await attachedVolume({ name: 'b' }, 'n2');
    await remove(a, 'n1');
    await world.runUntil(async () => (await runningRebuild(a)) !== undefined, 20);
    await tune(a, { paused: true });
    expect((await runningRebuild(a))?.grantedBytesPerSecond).toBe(40 * MIB);
    await remove(b, 'n1');
    await world.runUntil(async () => (await runningRebuild(b)) !== undefined, 20);
    await tune(b, { paused: true });
    await tune(a, { paused: false });
    await tune(b, { paused: false, bandwidthBytesPerSecond: 10 * MIB });
    await world.run(0.5);
    const told = async (client: SimClient) => (await runningRebuild(client))?.tuned?.bandwidthBytesPerSecond;
    expect([await told(a), await told(b)]).toEqual([20 * MIB, 10 * MIB]);
    const limited = { replicaRebuildingBandwidthLimit: 30 };
    await patchVolume(world.useCases, { volumeId: a.volumeId, patch: limited });
    // Well before a sweep: the change itself has the running rebuild told.
    await world.run(0.5);
    expect([await told(a), await told(b)]).toEqual([30 * MIB, 10 * MIB]);
    const following = { replicaRebuildingBandwidthLimit: 0 };
    await patchVolume(world.useCases, { volumeId: a.volumeId, patch: following });
    await world.run(0.5);
    expect(await told(a)).toBe(20 * MIB);
    expect([await healthyWithin(a, 60), await healthyWithin(b, 60)]).toEqual([true, true]);
  });
});

describe('waiting and reuse', () => {
  test('V22: a node that is back within the wait gets its replica rebuilt; no fourth ever exists', async () => {
    await aBaseWorld();
    const client = await attachedVolume();
    const before = (await client.view()).replicas.map(({ id }) => id);
    world.node('n3').kill();
    await world.run(120);
    world.startNode('n3');
    expect(await healthyWithin(client, 60)).toBe(true);
    expect((await client.view()).replicas.map(({ id }) => id)).toEqual(before);
    const created = world.store.events.filter(({ type }) => type === 'ReplicaAdded');
    expect(created).toEqual([]);
  });

  test('of two that come back the one that failed last is rebuilt first, because it misses least', async () => {
    await aBaseWorld();
    const client = await attachedVolume();
    for (const name of ['n2', 'n3']) {
      world.node(name).kill();
      await world.run(30);
      await client.write();
    }
    for (const name of ['n2', 'n3']) world.startNode(name);
    expect(await healthyWithin(client, 120)).toBe(true);
    const order = [...(await client.view()).rebuilds].sort(
      (a, b) => a.queuedAt.getTime() - b.queuedAt.getTime(),
    );
    expect(order.map(({ targetNodeId }) => targetNodeId)).toEqual([world.nodeId('n3'), world.nodeId('n2')]);
  });

  test('V23: a node that stays away is replaced when its wait is over, not before', async () => {
    await aBaseWorld(['n1', 'n2', 'n3', 'n4']);
    const client = await attachedVolume({}, 'n1');
    const lost = (await client.view()).replicas
      .map(({ nodeId }) => world.nodes.find((node) => node.nodeId === nodeId)?.name)
      .find((name) => name !== 'n1');
    world.node(lost ?? '').kill();
    await client.write();
    await world.run(590);
    expect((await client.view()).replicas).toHaveLength(3);
    await world.run(20);
    expect((await client.view()).replicas).toHaveLength(4);
    expect(await healthyWithin(client, 30)).toBe(true);
  });

  test('V24: with a wait of 0 it is replaced at once', async () => {
    await aBaseWorld(['n1', 'n2', 'n3', 'n4']);
    set('replica-replenishment-wait-interval', 0);
    const client = await attachedVolume();
    const used = (await client.view()).replicas.map(({ nodeId }) => nodeId);
    const lost = world.nodes.find((node) => node.name !== 'n1' && used.some((id) => id === node.nodeId));
    lost?.kill();
    await client.write();
    await world.run(6);
    expect((await client.view()).replicas).toHaveLength(4);
    expect(await healthyWithin(client, 30)).toBe(true);
  });

  test('V25: a deleted replica is replaced without any wait', async () => {
    await aBaseWorld();
    const client = await attachedVolume();
    await remove(client, 'n3');
    await world.run(6);
    expect(await healthyWithin(client, 10)).toBe(true);
  });

  test('V26: a replica whose rebuilds keep failing is tried five times, then given up for a new one', async () => {
    await aBaseWorld(['n1', 'n2', 'n3', 'n4']);
    const client = await attachedVolume();
    const { replicas } = await client.view();
    const victim = replicas.find(({ nodeId }) => nodeId !== world.nodeId('n1'));
    const holder = world.nodes.find(({ nodeId }) => nodeId === victim?.nodeId);
    if (victim === undefined || holder === undefined) throw new Error('the volume has no second copy');
    holder.kill();
    await client.write();
    await world.run(12);
    world.startNode(holder.name);
    // The directory is lost: every rebuild of this replica fails on a node that is otherwise well.
    holder.copies.delete(victim.id);
    expect(await world.runUntil(async () => (await rw(client)) === 3, 900)).toBe(true);
    await world.run(10);
    const after = await client.view();
    const tries = world.store.events.filter(({ type }) => type === 'RebuildFailed').length;
    expect(tries).toBe(5);
    expect(after.replicas.map(({ id }) => id)).not.toContain(victim.id);
  });

  test('V27: a rebuild that is cut off by a detach is done again at the next attach', async () => {
    await aBaseWorld();
    const client = await attachedVolume();
    world.node('n3').kill();
    await client.write();
    await world.run(12);
    world.startNode('n3');
    const isRebuilding = async () => (await client.view()).replicas.some(({ mode }) => mode === 'WO');
    expect(await world.runUntil(isRebuilding, 30)).toBe(true);
    await requestDetach(world.useCases, { volumeId: client.volumeId });
    await world.run(2);
    const cut = await replicaOn(client, 'n3');
    expect(cut.failedAt).toBeDefined();
    expect((await client.view()).volume.robustness).toBe('degraded');
    await attach(world, client, 'n1');
    expect(await healthyWithin(client, 60)).toBe(true);
    expect(await client.missing()).toEqual([]);
  });

  test('a cancelled rebuild stops, and is tried again only after a pause', async () => {
    await aBaseWorld();
    const client = await attachedVolume();
    await remove(client, 'n3');
    await world.runUntil(async () => (await runningRebuild(client)) !== undefined, 20);
    await cancelRunning(client);
    await world.run(60);
    expect(await rw(client)).toBe(2);
    expect(await healthyWithin(client, 300)).toBe(true);
  });
});

describe('the number of copies', () => {
  test('V29: the last full copy can not be deleted', async () => {
    await aBaseWorld(['n1', 'n2']);
    const client = await attachedVolume({ numberOfReplicas: 2 });
    world.node('n2').kill();
    await client.write();
    await world.run(12);
    const refusal = await remove(client, 'n1').catch((error: unknown) => error);
    expect(isFault(refusal, 'replica.last_healthy_copy')).toBe(true);
  });

  test('V30: raised, a copy is added; lowered, the one goes that was named beforehand, and none comes back', async () => {
    await aBaseWorld();
    const client = await attachedVolume({ numberOfReplicas: 2 });
    const { volumeId } = client;
    await patchVolume(world.useCases, { volumeId, patch: { numberOfReplicas: 3 } });
    expect(await world.runUntil(async () => (await rw(client)) === 3, 30)).toBe(true);

    const named = decideSurplus(await client.view(), 2)?.replica.id;
    expect(named).toBeDefined();
    await patchVolume(world.useCases, { volumeId, patch: { numberOfReplicas: 2 } });
    await world.run(60);
    const { replicas, volume } = await client.view();
    expect(volume.robustness).toBe('healthy');
    expect(replicas.map(({ mode }) => mode)).toEqual(['RW', 'RW']);
    expect(replicas.map(({ id }) => id)).not.toContain(named);
  });
});

async function aBaseWorld(names: readonly string[] = ['n1', 'n2', 'n3'], disks = 1): Promise<void> {
  world = new World();
  for (const name of names) world.addNode(name, { diskBytes: Array(disks).fill(100 * GIB) });
  await world.run(2);
}

async function attachedVolume(spec: Parameters<typeof aVolumeIn>[1] = {}, on = 'n1'): Promise<SimClient> {
  const client = await aVolumeIn(world, spec);
  await world.run(1);
  await attach(world, client, on);
  return client;
}

async function remove(client: SimClient, name: string): Promise<void> {
  const { id } = await replicaOn(client, name);
  await requestReplicaRemoval(world.useCases, { volumeId: client.volumeId, replicaId: id });
}

async function cancelRunning(client: SimClient): Promise<void> {
  const rebuild = await runningRebuild(client);
  if (rebuild === undefined) throw new Error('no rebuild runs');
  await cancelRebuild(world.useCases, { volumeId: client.volumeId, rebuildId: rebuild.id });
}

async function removeTarget(client: SimClient): Promise<void> {
  const replicaId = (await runningRebuild(client))?.targetReplicaId;
  if (replicaId === undefined) throw new Error('no rebuild runs');
  await requestReplicaRemoval(world.useCases, { volumeId: client.volumeId, replicaId });
}

/** The next calls of one kind get lost on their way. */
function loseNext(effect: EngineCommandName, count: number): void {
  let left = count;
  world.faults = {
    ...NO_FAULTS,
    onEffect: (name) => {
      if (name !== effect || left === 0) return 'none';
      left -= 1;
      return 'lost-before';
    },
  };
}
