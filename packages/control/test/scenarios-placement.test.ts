/** The end-to-end scenarios about placement (V01 to V16), told over the use cases on a simulated cluster. */
import { patchDisk } from '@holdfast/control/use-cases/patch-disk.js';
import { type NodeSpecPatch, patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import { GIB, MIB } from '@holdfast/core/model/bytes.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import type { SettingName } from '@holdfast/core/model/setting.js';
import type { SettingValue } from '@holdfast/core/settings/effective.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn } from '@holdfast/simulator/test-world.js';
import { World } from '@holdfast/simulator/world.js';
import { afterEach, describe, expect, test } from '@jest/globals';

let world: World;

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

const set = (name: SettingName, value: SettingValue) => world.store.setSetting(world.clusterId, name, value);
const node = (name: string, patch: NodeSpecPatch) =>
  patchNode(world.useCases, { clusterId: world.clusterId, nodeId: world.nodeId(name), patch });

const scheduledOf = async (client: SimClient) => {
  const condition = conditionOf((await client.view()).volume.conditions, 'Scheduled');
  return { status: condition?.status, message: condition?.message ?? '' };
};
const disksSchedulable = async () =>
  (await world.store.loadFleet(world.clusterId)).disks.map(
    ({ conditions }) => conditionOf(conditions, 'Schedulable')?.status,
  );
const healthyOn = async (client: SimClient) => {
  const { replicas, fleet } = await client.view();
  return replicas
    .filter(
      ({ mode, failedAt, healthyAt }) => mode !== 'WO' && failedAt === undefined && healthyAt !== undefined,
    )
    .map(({ nodeId }) => fleet.nodes.find(({ id }) => id === nodeId)?.name)
    .sort();
};
const becomesHealthy = (client: SimClient, seconds = 60) =>
  world.runUntil(async () => (await client.view()).volume.robustness === 'healthy', seconds);

describe('topology', () => {
  test.each([
    { name: 'one zone, whose nodes its copies share', terms: [{ zone: 'z1' }], want: ['n1', 'n2'] },
    { name: 'one of two zones', terms: [{ zone: 'z2' }, { zone: 'z3' }], want: ['n3', 'n4'] },
    { name: 'a region', terms: [{ region: 'eu' }], want: ['n3', 'n4'] },
    { name: 'a zone of a region', terms: [{ region: 'eu', zone: 'z2' }], want: ['n3'] },
  ])('a volume keeps to $name', async ({ terms, want }) => {
    world = new World();
    for (const [name, zone] of Object.entries({ n1: 'z1', n2: 'z1', n3: 'z2', n4: 'z3' })) {
      world.addNode(name, { zone });
    }
    await world.run(2);
    for (const name of ['n3', 'n4']) await node(name, { region: 'eu' });
    set('replica-zone-soft-anti-affinity', false);
    const client = await aVolumeIn(world, { numberOfReplicas: 2, topologyRequirement: terms });
    await world.run(3);
    expect(await healthyOn(client)).toEqual(want);
    expect((await scheduledOf(client)).message.includes('topology')).toBe(want.length < 2);
  });
});

describe('node anti-affinity', () => {
  test('V01, V02: soft, a deleted replica comes back on another node, and a reattach changes nothing', async () => {
    await aBaseWorld([100 * GIB, 100 * GIB]);
    set('replica-soft-anti-affinity', true);
    const client = await attachedVolume();
    await node('n1', { allowScheduling: false });
    await removeReplicaOn(client, 'n1');
    await world.run(10);
    expect(await becomesHealthy(client)).toBe(true);
    const nodes = await healthyOn(client);
    expect(nodes).toHaveLength(3);
    expect(nodes).not.toContain('n1');

    await requestDetach(world.useCases, { volumeId: client.volumeId });
    await world.run(5);
    const rebuilds = (await client.view()).rebuilds.length;
    await attach(world, client, 'n1');
    await world.run(10);
    const { volume, replicas, rebuilds: after } = await client.view();
    expect([volume.robustness, replicas.length, after.length]).toEqual(['healthy', 3, rebuilds]);
  });

  test('V03, V04: hard, the volume stays degraded without an unplaced replica, until the node is back', async () => {
    await aBaseWorld();
    const client = await attachedVolume();
    await node('n1', { allowScheduling: false });
    await removeReplicaOn(client, 'n1');
    await world.run(15);
    const { volume, replicas } = await client.view();
    expect(volume.robustness).toBe('degraded');
    expect(replicas.map(({ mode }) => mode)).toEqual(['RW', 'RW']);
    expect(await scheduledOf(client)).toMatchObject({
      status: 'False',
      message: expect.stringContaining('NodeSchedulingDisabled'),
    });
    await node('n1', { allowScheduling: true });
    expect(await becomesHealthy(client)).toBe(true);
    expect(await healthyOn(client)).toEqual(['n1', 'n2', 'n3']);
    await world.run(5);
    expect((await scheduledOf(client)).status).toBe('True');
  });

  test('V05: hard and detached, it is rebuilt at the next attach', async () => {
    await aBaseWorld();
    const client = await attachedVolume();
    await node('n1', { allowScheduling: false });
    await removeReplicaOn(client, 'n1');
    await world.run(15);
    await requestDetach(world.useCases, { volumeId: client.volumeId });
    await node('n1', { allowScheduling: true });
    await world.run(5);
    await attach(world, client, 'n2');
    expect(await becomesHealthy(client)).toBe(true);
    expect(await healthyOn(client)).toEqual(['n1', 'n2', 'n3']);
  });
});

describe('zones', () => {
  test('V06: hard, two zones are too few for three; a third one lets the reconciler place it', async () => {
    await aBaseWorld();
    set('replica-zone-soft-anti-affinity', false);
    await node('n1', { zone: 'z1' });
    await node('n2', { zone: 'z1' });
    await node('n3', { zone: 'z2' });
    set('allow-volume-creation-with-degraded-availability', false);
    const client = await aVolumeIn(world);
    await world.run(6);
    expect(await scheduledOf(client)).toMatchObject({
      status: 'False',
      message: expect.stringContaining('ZoneOccupied'),
    });
    await node('n2', { zone: 'z3' });
    await node('n1', { zone: 'z1' });
    await world.run(6);
    expect((await scheduledOf(client)).status).toBe('True');
    expect(await healthyOn(client)).toEqual(['n1', 'n2', 'n3']);
  });

  test('V07: soft, one zone holds all three on different nodes', async () => {
    await aBaseWorld();
    for (const name of ['n1', 'n2', 'n3']) await node(name, { zone: 'z1' });
    const client = await aVolumeIn(world);
    await world.run(2);
    expect(await healthyOn(client)).toEqual(['n1', 'n2', 'n3']);
  });
});

describe('space', () => {
  test('V08: over-provisioning 0 lets nothing in; 200 lets the reconciler place it', async () => {
    await aBaseWorld();
    set('storage-over-provisioning-percentage', 0);
    const client = await aVolumeIn(world);
    await world.run(6);
    expect((await scheduledOf(client)).status).toBe('False');
    set('storage-over-provisioning-percentage', 200);
    await world.run(6);
    expect((await scheduledOf(client)).status).toBe('True');
    expect(await healthyOn(client)).toEqual(['n1', 'n2', 'n3']);
  });

  test('V09: too large for every disk, and it says so for 3 of 3', async () => {
    await aBaseWorld([GIB]);
    const client = await aVolumeIn(world, { sizeBytes: 2 * GIB });
    await world.run(6);
    expect(await scheduledOf(client)).toMatchObject({
      status: 'False',
      message: expect.stringMatching(/insufficient storage .* on 3 of 3 disks/),
    });
  });

  test('V10: just below the limit fits', async () => {
    await aBaseWorld();
    const client = await aVolumeIn(world, { sizeBytes: 100 * GIB - 2 * MIB });
    await world.run(2);
    expect((await scheduledOf(client)).status).toBe('True');
  });

  test('V11: minimal available 100 closes every disk; 25 opens them for the same volume', async () => {
    await aBaseWorld();
    set('storage-minimal-available-percentage', 100);
    const client = await aVolumeIn(world);
    await world.run(6);
    expect((await scheduledOf(client)).message).toContain('InsufficientFreeSpace');
    expect(await disksSchedulable()).toEqual(['False', 'False', 'False']);
    set('storage-minimal-available-percentage', 25);
    await world.run(6);
    expect(await disksSchedulable()).toEqual(['True', 'True', 'True']);
    expect((await scheduledOf(client)).status).toBe('True');
  });

  test('V12: a reserve that takes all; lowered to leave room for one each, the reconciler places it', async () => {
    await aBaseWorld();
    const { disks } = await world.store.loadFleet(world.clusterId);
    const reserve = async (storageReservedBytes: number) => {
      for (const { id } of disks) {
        const input = { clusterId: world.clusterId, diskId: id, patch: { storageReservedBytes } };
        await patchDisk(world.useCases, input);
      }
    };
    await reserve(100 * GIB);
    const client = await aVolumeIn(world, { sizeBytes: 10 * GIB });
    await world.run(6);
    expect((await scheduledOf(client)).status).toBe('False');
    await reserve(90 * GIB);
    await world.run(6);
    expect((await scheduledOf(client)).status).toBe('True');
    expect(await healthyOn(client)).toEqual(['n1', 'n2', 'n3']);
  });
});

describe('tags and cordons', () => {
  test('V13: only tagged nodes and disks are used, and one too few is refused with its reason', async () => {
    await aBaseWorld();
    await node('n1', { tags: ['slow'] });
    await node('n2', { tags: ['fast', 'main'] });
    await node('n3', { tags: ['main', 'fast', 'x'] });
    const pair = await aVolumeIn(world, { numberOfReplicas: 2, nodeSelector: ['main', 'fast'] });
    const three = await aVolumeIn(world, { name: 'three', nodeSelector: ['main', 'fast'] });
    await world.run(6);
    expect(await healthyOn(pair)).toEqual(['n2', 'n3']);
    await attach(world, three, 'n2');
    await world.run(6);
    expect(await scheduledOf(three)).toMatchObject({
      status: 'False',
      message: expect.stringContaining('NodeTagsMissing'),
    });
  });

  test('V14: tags that are added later let the reconciler place it', async () => {
    await aBaseWorld();
    const client = await aVolumeIn(world, { nodeSelector: ['main'] });
    await world.run(6);
    expect((await scheduledOf(client)).status).toBe('False');
    for (const name of ['n1', 'n2', 'n3']) await node(name, { tags: ['main'] });
    await world.run(6);
    expect((await scheduledOf(client)).status).toBe('True');
  });

  test('V15: a cordoned node takes nothing, unless the setting does not mind', async () => {
    await aBaseWorld();
    await node('n1', { cordoned: true });
    set('allow-volume-creation-with-degraded-availability', false);
    const refused = await aVolumeIn(world);
    await world.run(6);
    expect(await scheduledOf(refused)).toMatchObject({
      status: 'False',
      message: expect.stringContaining('NodeCordoned'),
    });
    set('disable-scheduling-on-cordoned-node', false);
    const taken = await aVolumeIn(world, { name: 'taken' });
    await world.run(6);
    expect(await healthyOn(taken)).toEqual(['n1', 'n2', 'n3']);
  });
});

describe('degraded creation', () => {
  test('V16: one copy attaches; the condition tells the difference; the others follow', async () => {
    await aBaseWorld();
    await node('n2', { allowScheduling: false });
    await node('n3', { allowScheduling: false });
    const client = await aVolumeIn(world);
    await world.run(6);
    expect((await scheduledOf(client)).status).toBe('True');
    await attach(world, client, 'n1');
    await world.run(6);
    expect(await healthyOn(client)).toEqual(['n1']);
    expect((await scheduledOf(client)).status).toBe('False');
    await node('n2', { allowScheduling: true });
    await node('n3', { allowScheduling: true });
    expect(await becomesHealthy(client)).toBe(true);
    expect(await healthyOn(client)).toEqual(['n1', 'n2', 'n3']);
  });

  test('V17: where it is not allowed, the attach waits and says for what', async () => {
    await aBaseWorld();
    set('allow-volume-creation-with-degraded-availability', false);
    await node('n2', { allowScheduling: false });
    await node('n3', { allowScheduling: false });
    const client = await aVolumeIn(world);
    await world.run(6);
    await attach(world, client, 'n1');
    const { volume } = await client.view();
    expect(volume.lifecycle.state).toBe('attaching');
    expect(volume.attention).toMatchObject({ code: 'ReplicasUnplaced' });
    expect((await scheduledOf(client)).status).toBe('False');
  });
});

/** The base fixture: n1 to n3, one disk of 100 GiB each, no zones. */
async function aBaseWorld(diskBytes: readonly number[] = [100 * GIB]): Promise<void> {
  world = new World();
  for (const name of ['n1', 'n2', 'n3']) world.addNode(name, { diskBytes });
  await world.run(2);
}

async function removeReplicaOn(client: SimClient, name: string): Promise<void> {
  const { replicas } = await client.view();
  const replica = replicas.find(({ nodeId }) => nodeId === world.nodeId(name));
  if (replica === undefined) throw new Error(`no replica on ${name}`);
  await requestReplicaRemoval(world.useCases, { volumeId: client.volumeId, replicaId: replica.id });
}

async function attachedVolume(): Promise<SimClient> {
  const client = await aVolumeIn(world);
  await world.run(1);
  await attach(world, client, 'n1');
  return client;
}
