/** The end-to-end scenarios about balance and locality (V38 to V42), told over the use cases on a simulated cluster. */
import { patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, codeOf } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  aClusterOf,
  eventTypes,
  servedVolume,
  setIn,
  spread,
  spreadsTo,
  switchNode,
} from './moving-copies.js';

const WELL = { isReached: true, findings: [] };
const SOFT = { replicaSoftAntiAffinity: 'enabled' as const };

let world: World;

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

/** All copies on n1, since the other nodes are off. */
async function crowdedOn1(spec: Parameters<typeof servedVolume>[1] = {}): Promise<SimClient> {
  for (const { name } of world.nodes.slice(1)) await switchNode(world, name, false);
  return servedVolume(world, { ...SOFT, ...spec });
}

async function detach(client: SimClient): Promise<void> {
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  const isDetached = async () => (await client.view()).volume.lifecycle.state === 'detached';
  await world.runUntil(isDetached, 60);
}

describe('auto-balance over nodes', () => {
  test('V38: least effort gets one copy onto each unused node, and leaves the rest', async () => {
    world = await aClusterOf(['n1', 'n2', 'n3']);
    setIn(world, 'replica-auto-balance', 'least-effort');
    const client = await crowdedOn1({ numberOfReplicas: 6 });
    await switchNode(world, 'n2', true);
    expect(await spreadsTo(world, client, '5/1/0', 120)).toEqual(WELL);
    await world.run(300);
    expect(await spread(world, client)).toBe('5/1/0');
    await switchNode(world, 'n3', true);
    expect(await spreadsTo(world, client, '4/1/1', 120)).toEqual(WELL);
    await world.run(300);
    expect(await spread(world, client)).toBe('4/1/1');
  });

  test('V39: best effort evens the counts, and then rests', async () => {
    world = await aClusterOf(['n1', 'n2', 'n3']);
    setIn(world, 'replica-auto-balance', 'best-effort');
    const client = await crowdedOn1({ numberOfReplicas: 6 });
    await switchNode(world, 'n2', true);
    expect(await spreadsTo(world, client, '3/3/0', 300)).toEqual(WELL);
    await switchNode(world, 'n3', true);
    expect(await spreadsTo(world, client, '2/2/2', 300)).toEqual(WELL);
    await world.run(600);
    expect(await spread(world, client)).toBe('2/2/2');
    expect(eventTypes(world).filter((type) => type === 'ReplicaMoved')).toHaveLength(5);
    expect(await client.missing()).toEqual([]);
  });

  test('V40: a volume that says best effort is balanced where its cluster does nothing', async () => {
    world = await aClusterOf(['n1', 'n2', 'n3']);
    const a = await crowdedOn1({ name: 'a' });
    const b = await crowdedOn1({ name: 'b', replicaAutoBalance: 'best-effort' });
    expect(await spread(world, a)).toBe('3/0/0');
    await switchNode(world, 'n2', true);
    await switchNode(world, 'n3', true);
    expect(await spreadsTo(world, b, '1/1/1', 300)).toEqual(WELL);
    expect(await spread(world, a)).toBe('3/0/0');
  });

  test('zones come before nodes: copies are spread over zones as evenly as these are, and stay', async () => {
    world = await aClusterOf(['n1:a', 'n2:b', 'n3:b', 'n4:b']);
    setIn(world, 'replica-auto-balance', 'best-effort');
    const client = await crowdedOn1({ numberOfReplicas: 4 });
    for (const name of ['n2', 'n3', 'n4']) await switchNode(world, name, true);
    await world.run(600);
    const [inA, ...inB] = (await spread(world, client)).split('/').map(Number);
    expect(inA).toBe(2);
    expect(inB.sort()).toEqual([0, 1, 1]);
    const moves = eventTypes(world).filter((type) => type === 'ReplicaMoved').length;
    expect(moves).toBe(2);
  });

  test('with no rebuild allowed nothing moves', async () => {
    world = await aClusterOf(['n1', 'n2']);
    setIn(world, 'replica-auto-balance', 'best-effort');
    const client = await crowdedOn1({ numberOfReplicas: 2 });
    setIn(world, 'concurrent-replica-rebuild-per-node-limit', 0);
    await switchNode(world, 'n2', true);
    await world.run(300);
    expect(await spread(world, client)).toBe('2/0');
    setIn(world, 'concurrent-replica-rebuild-per-node-limit', 5);
    expect(await spreadsTo(world, client, '1/1', 60)).toEqual(WELL);
  });

  test('a node that was away for a moment gets no copy until it has settled', async () => {
    world = await aClusterOf(['n1', 'n2']);
    setIn(world, 'replica-auto-balance', 'best-effort');
    const client = await crowdedOn1({ numberOfReplicas: 2 });
    world.node('n2').kill();
    await world.run(20);
    world.startNode('n2');
    await switchNode(world, 'n2', true);
    await world.run(50);
    expect(await spread(world, client)).toBe('2/0');
    expect(await spreadsTo(world, client, '1/1', 60)).toEqual(WELL);
  });

  test('a volume rests after each move as long as the cool-down says', async () => {
    world = await aClusterOf(['n1', 'n2']);
    setIn(world, 'replica-auto-balance', 'best-effort');
    setIn(world, 'replica-auto-balance-cool-down', 600);
    const client = await crowdedOn1({ numberOfReplicas: 4 });
    await switchNode(world, 'n2', true);
    expect(await spreadsTo(world, client, '3/1', 60)).toEqual(WELL);
    await world.run(500);
    expect(await spread(world, client)).toBe('3/1');
    expect(await spreadsTo(world, client, '2/2', 200)).toEqual(WELL);
  });

  test('switched off while a copy is on its way, the replacement is dropped and nothing is lost', async () => {
    world = await aClusterOf(['n1', 'n2']);
    setIn(world, 'replica-auto-balance', 'best-effort');
    const client = await crowdedOn1({ numberOfReplicas: 2 });
    await switchNode(world, 'n2', true);
    const isMoving = async () => (await client.view()).replicas.some(({ mode }) => mode === 'WO');
    expect(await world.runUntil(isMoving, 60)).toBe(true);
    setIn(world, 'replica-auto-balance', 'disabled');
    await world.run(60);
    expect(await spread(world, client)).toBe('2/0');
    expect((await client.view()).replicas).toHaveLength(2);
    expect(eventTypes(world)).toContain('ReplicaMoveCancelled');
  });

  test('copies that go to and fro are left alone, which is said, until a user sets how it is balanced', async () => {
    world = await aClusterOf(['n1', 'n2']);
    setIn(world, 'replica-auto-balance', 'best-effort');
    const client = await crowdedOn1({ numberOfReplicas: 2 });
    const relabel = (zones: Record<string, string>) =>
      Promise.all(
        Object.entries(zones).map(([name, zone]) =>
          patchNode(world.useCases, {
            clusterId: world.clusterId,
            nodeId: world.nodeId(name),
            patch: { zone },
          }),
        ),
      );
    world.addNode('n3', { zone: 'b' });
    await world.run(5);
    // Whoever relabels the nodes again and again makes balance carry a copy round in circles.
    await switchNode(world, 'n2', true);
    for (let round = 0; round < 4; round += 1) {
      await relabel({ n1: 'a', n2: 'a', n3: 'b' });
      await world.run(120);
      await relabel({ n1: 'a', n2: 'b', n3: 'a' });
      await world.run(120);
    }
    const stopped = conditionOf((await client.view()).volume.conditions, 'AutoBalance');
    expect(stopped).toMatchObject({ status: 'False', reason: 'Oscillating' });
    expect(eventTypes(world)).toContain('AutoBalanceStopped');
    const moves = eventTypes(world).filter((type) => type === 'ReplicaMoved').length;
    await relabel({ n1: 'a', n2: 'a', n3: 'b' });
    await world.run(300);
    expect(eventTypes(world).filter((type) => type === 'ReplicaMoved')).toHaveLength(moves);
    const patch = { replicaAutoBalance: 'best-effort' as const };
    await patchVolume(world.useCases, { volumeId: client.volumeId, patch });
    await world.run(120);
    expect(conditionOf((await client.view()).volume.conditions, 'AutoBalance')?.status).toBe('True');
  });
});

describe('auto-balance over disks', () => {
  const fill = (node: string, disk: number, usedGib: number) => {
    const found = world.node(node).disks[disk];
    if (found !== undefined) found.availableBytes = (100 - usedGib) * GIB;
  };
  const diskOf = async (client: SimClient, name: string) => {
    const { replicas, fleet } = await client.view();
    const own = replicas.filter(({ nodeId }) => nodeId === world.nodeId(name));
    return own.map(({ diskId }) => fleet.disks.find(({ id }) => id === diskId)?.name);
  };

  test('a copy leaves a disk under pressure for an emptier one of its node, one at a time', async () => {
    world = await aClusterOf(['n1', 'n2'], 2);
    setIn(world, 'storage-minimal-available-percentage', 0);
    setIn(world, 'replica-auto-balance', 'best-effort');
    const clients: SimClient[] = [];
    for (const name of ['a', 'b', 'c'])
      clients.push(await servedVolume(world, { name, numberOfReplicas: 2 }));
    const before = await Promise.all(clients.map((client) => diskOf(client, 'n1')));
    const pressed = before[0]?.[0] === 'disk-1' ? 0 : 1;
    fill('n1', pressed, 95);
    let mostAtOnce = 0;
    await world.runUntil(async () => {
      const view = await clients[0]?.view();
      mostAtOnce = Math.max(mostAtOnce, view?.relocations.underWay.length ?? 0);
      return false;
    }, 300);
    const after = await Promise.all(clients.map((client) => diskOf(client, 'n1')));
    expect(after.flat()).not.toContain(`disk-${pressed + 1}`);
    expect(mostAtOnce).toBe(1);
  });

  test('not where the other disk would hardly be emptier', async () => {
    world = await aClusterOf(['n1'], 2);
    setIn(world, 'storage-minimal-available-percentage', 0);
    setIn(world, 'replica-auto-balance', 'best-effort');
    const client = await servedVolume(world, { numberOfReplicas: 1 });
    const before = await diskOf(client, 'n1');
    fill('n1', 0, before[0] === 'disk-1' ? 91 : 85);
    fill('n1', 1, before[0] === 'disk-1' ? 85 : 91);
    await world.run(300);
    expect(await diskOf(client, 'n1')).toEqual(before);
  });
});

describe('data locality', () => {
  const LOCAL = { dataLocality: 'best-effort' as const };

  test('V41: a volume with one copy that is attached elsewhere ends with one copy there, after one rebuild', async () => {
    world = await aClusterOf(['n1', 'n2', 'n3']);
    for (const name of ['n2', 'n3']) await switchNode(world, name, false);
    const client = await servedVolume(world, { ...LOCAL, numberOfReplicas: 1 });
    await switchNode(world, 'n2', true);
    await detach(client);
    await attach(world, client, 'n2');
    expect(await spreadsTo(world, client, '0/1/0', 120)).toEqual(WELL);
    await world.run(120);
    expect((await client.view()).replicas).toHaveLength(1);
    expect((await client.view()).rebuilds.map(({ state }) => state)).toEqual(['succeeded']);
    expect(await client.missing()).toEqual([]);
  });

  test('a node that can have no copy is told, nothing else waits for it, and it gets one when there is room', async () => {
    world = await aClusterOf(['n1', 'n2', 'n3', 'n4']);
    await switchNode(world, 'n4', false);
    const client = await servedVolume(world, LOCAL);
    await detach(client);
    await attach(world, client, 'n4');
    await world.run(60);
    const shown = async () => conditionOf((await client.view()).volume.conditions, 'DataLocality');
    expect(await shown()).toMatchObject({ status: 'False', reason: 'LocalReplicaSchedulingFailure' });
    expect((await client.view()).volume.robustness).toBe('healthy');
    await switchNode(world, 'n4', true);
    const hasLocal = async () => (await spread(world, client)).endsWith('/1');
    expect(await world.runUntil(hasLocal, 120)).toBe(true);
    await world.run(60);
    expect((await client.view()).replicas).toHaveLength(3);
    expect((await shown())?.status).toBe('True');
  });

  test('the copy on its way is dropped when the volume moves on', async () => {
    world = await aClusterOf(['n1', 'n2', 'n3']);
    for (const name of ['n2', 'n3']) await switchNode(world, name, false);
    const client = await servedVolume(world, { ...LOCAL, numberOfReplicas: 1 });
    for (const name of ['n2', 'n3']) await switchNode(world, name, true);
    await detach(client);
    await attach(world, client, 'n2');
    expect(await world.runUntil(async () => (await client.view()).replicas.length === 2, 60)).toBe(true);
    setIn(world, 'concurrent-rebuild-per-cluster-limit', 0);
    await detach(client);
    await world.run(30);
    expect((await client.view()).replicas).toHaveLength(1);
    setIn(world, 'concurrent-rebuild-per-cluster-limit', 10);
    await attach(world, client, 'n3');
    expect(await spreadsTo(world, client, '0/0/1', 120)).toEqual(WELL);
  });

  test('V42: with strict locality the volume can not be attached elsewhere, nor get a second copy', async () => {
    world = await aClusterOf(['n1', 'n2']);
    const client = await servedVolume(world, { dataLocality: 'strict-local', numberOfReplicas: 1 });
    await detach(client);
    const { volumeId } = client;
    const nodeId = world.nodeId((await spread(world, client)) === '' ? 'n1' : 'n2');
    const elsewhere = (await client.view()).replicas[0]?.nodeId === nodeId ? world.nodeId('n1') : nodeId;
    expect(await codeOf(requestAttach(world.useCases, { volumeId, nodeId: elsewhere }))).toBe(
      'volume.strict_local',
    );
    const raised = patchVolume(world.useCases, { volumeId, patch: { numberOfReplicas: 2 } });
    expect(await codeOf(raised)).toBe('request.invalid');
  });

  test('strict locality is switched on and off only while the volume is detached', async () => {
    world = await aClusterOf(['n1', 'n2']);
    const client = await servedVolume(world, { numberOfReplicas: 1 });
    const { volumeId } = client;
    const set = (dataLocality: 'strict-local' | 'disabled') =>
      codeOf(patchVolume(world.useCases, { volumeId, patch: { dataLocality } }));
    expect(await set('strict-local')).toBe('volume.attached');
    await detach(client);
    expect(await set('strict-local')).toBe('done');
    await attach(world, client);
    expect(await set('disabled')).toBe('volume.attached');
  });
});
