/** Set-up for tests about copies that move: small clusters, where a volume's copies are, and whether it was ever short of one. */
import { patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import type { SettingName } from '@holdfast/core/model/setting.js';
import type { SettingValue } from '@holdfast/core/settings/effective.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn } from '@holdfast/simulator/test-world.js';
import { World } from '@holdfast/simulator/world.js';

/** Nodes without zones, or in those given with a colon: `n1:a`. */
export async function aClusterOf(names: readonly string[], disks = 1): Promise<World> {
  const world = new World();
  for (const named of names) {
    const [name = '', zone = null] = named.split(':');
    world.addNode(name, { zone, diskBytes: Array(disks).fill(100 * GIB) });
  }
  await world.run(2);
  return world;
}

export async function servedVolume(
  world: World,
  spec: Parameters<typeof aVolumeIn>[1] = {},
  on = 'n1',
): Promise<SimClient> {
  const client = await aVolumeIn(world, spec);
  await world.run(1);
  await attach(world, client, on);
  await client.write();
  return client;
}

export function setIn(world: World, name: SettingName, value: SettingValue): void {
  world.store.setSetting(world.clusterId, name, value);
}

export async function switchNode(world: World, name: string, allowScheduling: boolean): Promise<void> {
  const nodeId = world.nodeId(name);
  await patchNode(world.useCases, { clusterId: world.clusterId, nodeId, patch: { allowScheduling } });
}

export async function removeReplicaOn(world: World, client: SimClient, name: string): Promise<void> {
  const { replicas } = await client.view();
  const replica = replicas.find(({ nodeId, intent }) => nodeId === world.nodeId(name) && intent === 'keep');
  if (replica === undefined) throw new Error(`no replica on ${name}`);
  await requestReplicaRemoval(world.useCases, { volumeId: client.volumeId, replicaId: replica.id });
}

export async function runningRebuild(client: SimClient): Promise<Rebuild | undefined> {
  return (await client.view()).rebuilds.find(({ state }) => state === 'running');
}

/** Full copies on each node, in the order of the names: `3/0/1`. */
export async function spread(world: World, client: SimClient): Promise<string> {
  const { replicas } = await client.view();
  return world.nodes
    .map(
      ({ nodeId }) => replicas.filter((replica) => replica.nodeId === nodeId && replica.mode === 'RW').length,
    )
    .join('/');
}

/**
 * Lets time pass until the copies are spread so, and looks at every moment whether fewer are full than wanted, or anything
 * else is that must never be.
 */
export async function spreadsTo(
  world: World,
  client: SimClient,
  wanted: string,
  seconds: number,
): Promise<{ isReached: boolean; findings: string[] }> {
  const findings = new Set<string>();
  const isReached = await world.runUntil(async () => {
    for (const finding of await checkWorld(world)) findings.add(finding);
    const { volume, replicas } = await client.view();
    const full = replicas.filter(({ mode }) => mode === 'RW').length;
    if (full < volume.spec.numberOfReplicas) findings.add(`only ${full} copies are full`);
    return (await spread(world, client)) === wanted;
  }, seconds);
  return { isReached, findings: [...findings] };
}

export function eventTypes(world: World): string[] {
  return world.store.events.map(({ type }) => type);
}
