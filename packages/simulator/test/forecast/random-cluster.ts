/** Clusters by chance for forecasts: their volumes hold something, and rebuilds were measured there. */
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { isHealthy } from '@holdfast/core/model/replica.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn } from '@holdfast/simulator/test-world.js';
import { World } from '@holdfast/simulator/world.js';

export type RandomCluster = { readonly world: World; readonly clients: readonly SimClient[] };

const TICK_SECONDS = 0.5;
const WRITES_MAX = 24;

export async function randomCluster(seed: number): Promise<RandomCluster> {
  const world = new World(seed);
  const { random } = world;
  rebuildsTakeTime(world, 2048 * (1 + random.below(6)));
  const nodes = 3 + random.below(5);
  for (let index = 1; index <= nodes; index += 1) {
    const diskBytes = Array.from({ length: 1 + random.below(2) }, () => (4 + random.below(20)) * GIB);
    world.addNode(`n${index}`, { zone: `z${random.below(4)}`, diskBytes });
  }
  await world.run(2);
  const set = (name: Parameters<World['store']['setSetting']>[1], value: number | boolean) =>
    world.store.setSetting(world.clusterId, name, value);
  set('replica-replenishment-wait-interval', random.below(4) * 60);
  set('concurrent-replica-rebuild-per-node-limit', 1 + random.below(5));
  set('offline-replica-rebuilding', random.chance(0.3));
  set('volume-failover-delay', random.chance(0.3) ? 60 : 0);

  const clients: SimClient[] = [];
  for (let index = 0; index < 4 + random.below(8); index += 1) {
    const client = await aVolumeIn(world, {
      name: `volume-${index}`,
      numberOfReplicas: 1 + random.below(3),
    });
    await world.run(2);
    await use(world, client, random.chance(0.7));
    clients.push(client);
  }
  await measure(world, clients);
  return { world, clients };
}

/** At a speed of their own within a third of the cluster's. */
function rebuildsTakeTime(world: World, bytesPerSecond: number): void {
  world.workOf = (heldBytes) => {
    const rate = bytesPerSecond * (0.67 + 0.66 * world.random.next());
    const bytes = Math.max(4096, heldBytes);
    return { bytes, steps: Math.max(1, Math.ceil(bytes / rate / TICK_SECONDS)) };
  };
}

async function use(world: World, client: SimClient, stays: boolean): Promise<void> {
  const { name = 'n1' } = world.random.pick(world.nodes) ?? {};
  await attach(world, client, name);
  for (let count = 1 + world.random.below(WRITES_MAX); count > 0; count -= 1) await client.write();
  await world.run(1);
  if (stays) return;
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(2);
}

/** Copies that users delete are built again: the cluster then knows how fast its rebuilds are. */
async function measure(world: World, clients: readonly SimClient[]): Promise<void> {
  for (let rounds = 0; rounds < 3; rounds += 1) {
    for (const client of clients) {
      const { volume, replicas } = await client.view();
      const full = replicas.filter(isHealthy);
      const [first] = full;
      if (volume.lifecycle.state !== 'attached' || full.length < 2 || first === undefined) continue;
      await requestReplicaRemoval(world.useCases, { volumeId: client.volumeId, replicaId: first.id });
    }
    await world.run(240);
  }
}
