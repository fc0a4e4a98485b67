/** Changes by chance: asked as a what-if, and then really made. */
import { drainNode } from '@holdfast/control/use-cases/drain-node.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { Bug } from '@holdfast/core/model/faults.js';
import type { SimulationRequest } from '@holdfast/core/scheduling/simulation/simulation.js';
import type { World } from '@holdfast/simulator/world.js';

const LIMIT = 'concurrent-replica-rebuild-per-node-limit';
const POLICIES = ['block-for-eviction', 'block-for-eviction-if-contains-last-replica', 'always-allow'];

/** One to three changes of one request, the first of which moves copies where there are some. */
export function randomChange(world: World): SimulationRequest {
  const { random } = world;
  const moving = [drain, loseNode, loseZone, loseDisk];
  const kinds = [...moving, addNode, addDisk, setLimit];
  const others = Array.from({ length: random.below(3) }, () => random.pick(kinds)?.(world) ?? {});
  const parts = [random.pick(moving)?.(world) ?? {}, ...others];
  const request: SimulationRequest = Object.assign({}, ...parts);
  // What is lost is not drained, and gets no disks.
  const gone = new Set(lostNodes(request, world));
  return {
    ...request,
    drain: request.drain?.filter(({ node }) => !gone.has(node)),
    add: { ...request.add, disks: request.add?.disks?.filter(({ node }) => !gone.has(node)) },
  };
}

function nameOfOne({ random, nodes }: World): string {
  return random.pick(nodes)?.name ?? 'n1';
}

function drain(world: World): SimulationRequest {
  return { drain: [{ node: nameOfOne(world), policy: world.random.pick(POLICIES) }] };
}

function loseNode(world: World): SimulationRequest {
  return { lose: { nodes: [nameOfOne(world)] } };
}

function loseZone(world: World): SimulationRequest {
  return { lose: { zones: [world.random.pick(world.nodes)?.zone ?? 'z0'] } };
}

function loseDisk(world: World): SimulationRequest {
  const node = world.random.pick(world.nodes);
  return { lose: { disks: [`${node?.name}/${node?.disks[0]?.name}`] } };
}

function addNode({ random }: World): SimulationRequest {
  return { add: { nodes: [{ name: 'new', zone: `z${random.below(4)}`, disks: [{ sizeBytes: 10 * GIB }] }] } };
}

function addDisk(world: World): SimulationRequest {
  return { add: { disks: [{ node: nameOfOne(world), sizeBytes: 10 * GIB }] } };
}

function setLimit({ random }: World): SimulationRequest {
  return { settings: { [LIMIT]: 1 + random.below(4) } };
}

function lostNodes({ lose = {} }: SimulationRequest, world: World): string[] {
  const inZones = world.nodes.filter(({ zone }) => zone !== null && lose.zones?.includes(zone) === true);
  return [...(lose.nodes ?? []), ...inZones.map(({ name }) => name)];
}

/** All of it in one moment, as a what-if takes it. */
export async function make(request: SimulationRequest, world: World): Promise<void> {
  for (const [name, value] of Object.entries(request.settings ?? {})) {
    if (name === LIMIT) world.store.setSetting(world.clusterId, LIMIT, value);
  }
  const lost = lostNodes(request, world);
  for (const { name, zone, disks } of request.add?.nodes ?? []) {
    world.addNode(name, { zone: zone ?? null, diskBytes: disks.map(({ sizeBytes }) => sizeBytes) });
  }
  for (const { node, sizeBytes } of request.add?.disks ?? []) world.node(node).addDisk({ sizeBytes });
  for (const name of lost) world.node(name).kill();
  for (const place of request.lose?.disks ?? []) {
    const [node = '', name] = place.split('/');
    const disk = world.node(node).disks.find((one) => one.name === name);
    if (disk === undefined) throw new Bug(`there is no disk ${place}`);
    disk.isGone = true;
  }
  for (const { node, policy } of request.drain ?? []) {
    await drainNode(world.useCases, { clusterId: world.clusterId, nodeId: world.nodeId(node), policy });
  }
}
