/** Set-up that tests on a simulated cluster share: a cluster of some nodes, and a volume with its user. */
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { Bug, isFault } from '@holdfast/core/model/faults.js';
import type { VolumeSpecInput } from '@holdfast/core/policy/volume-spec.js';
import { SimClient } from './sim-client.js';
import { World } from './world.js';

/** Three nodes in three zones, two disks each, all ready. */
export async function aWorld(
  seed = 1,
  zones: readonly string[] = ['zone-a', 'zone-b', 'zone-c'],
): Promise<World> {
  const world = new World(seed);
  for (const [index, zone] of zones.entries()) world.addNode(`node-${index + 1}`, { zone });
  await world.run(2);
  return world;
}

export async function aVolumeIn(
  world: World,
  spec: Partial<VolumeSpecInput> & { name?: string } = {},
): Promise<SimClient> {
  const { organizationId, projectId, clusterId } = world;
  const { name = 'pg-data', ...rest } = spec;
  const owner = { organizationId, projectId, clusterId };
  const { volumeId } = await createVolume(world.useCases, { ...owner, name, sizeBytes: GIB, ...rest });
  return new SimClient(world, volumeId);
}

/** Attaches and waits until it is served. */
export async function attach(world: World, client: SimClient, nodeName?: string): Promise<void> {
  const nodeId = nodeName === undefined ? undefined : world.nodeId(nodeName);
  await requestAttach(world.useCases, { volumeId: client.volumeId, nodeId });
  await world.runUntil(async () => (await client.view()).volume.lifecycle.state === 'attached', 60);
}

/** A volume that is served on node-1 and has been written. */
export async function aServedVolumeIn(world: World, name?: string): Promise<SimClient> {
  const client = await aVolumeIn(world, name === undefined ? {} : { name });
  await world.run(1);
  await attach(world, client, 'node-1');
  if (!(await client.write())) throw new Bug('the volume is attached and takes no write');
  return client;
}

/** How something ends: `done`, or the code of the refusal. */
export function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: unknown) => (isFault(error) ? error.code : String(error)),
  );
}
