/**
 * Healing of a simulated cluster after a run: all faults are repaired, nodes are opened, and volumes attached. Every volume that can
 * be healthy must be healthy within a bound, evicted nodes and disks must be empty, and nothing is left over.
 */

import { reconcileCluster } from '@holdfast/control/reconcilers/reconcile-cluster.js';
import { reconcileVolume } from '@holdfast/control/reconcilers/reconcile-volume.js';
import { acceptDisk } from '@holdfast/control/use-cases/accept-disk.js';
import { cancelDrain } from '@holdfast/control/use-cases/drain-node.js';
import { endMaintenance } from '@holdfast/control/use-cases/maintain-node.js';
import { patchDisk } from '@holdfast/control/use-cases/patch-disk.js';
import { patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestSalvage } from '@holdfast/control/use-cases/request-salvage.js';
import { tuneRebuild } from '@holdfast/control/use-cases/tune-rebuild.js';
import { isSetBack } from '@holdfast/core/lifecycle/plan-set-back.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import { type StorageNode, zoneKey } from '@holdfast/core/model/node.js';
import { isActiveRebuild } from '@holdfast/core/model/rebuild.js';
import { isHealthy, type Replica } from '@holdfast/core/model/replica.js';
import { followingValue, overridesFrom } from '@holdfast/core/model/volume-overrides.js';
import { NO_FAULTS } from '../faults.js';
import { type SimClient, settleForDisk } from '../sim-client.js';
import type { World } from '../world.js';
import { changeSettings } from './sim-settings.js';

/** Settings under which all that can be repaired is. */
const OPEN_SETTINGS = {
  'replica-replenishment-wait-interval': 30,
  'stale-replica-timeout': 1,
  'concurrent-replica-rebuild-per-node-limit': 5,
  'concurrent-rebuild-source-per-node-limit': 5,
  'concurrent-rebuild-per-cluster-limit': 100,
  'snapshot-heavy-task-concurrent-limit': 5,
  'disable-snapshot-purge': false,
  'replica-soft-anti-affinity': true,
  'replica-disk-soft-anti-affinity': true,
  'allow-empty-node-selector-volume': true,
  'allow-empty-disk-selector-volume': true,
  'storage-minimal-available-percentage': 0,
  'agent-heartbeat-timeout': 10,
  'replica-rebuilding-bandwidth-limit': 0,
  'allow-volume-creation-with-degraded-availability': true,
  'storage-over-provisioning-percentage': 1_000,
  'orphan-resource-auto-deletion': 'replica-data',
  'orphan-resource-auto-deletion-grace-period': 0,
  'snapshot-data-integrity': 'disabled',
  'replica-auto-balance': 'disabled',
  'replica-relocate-on-selector-change': false,
} as const;
const OPEN = { allowScheduling: true, evictionRequested: false };
/** Nodes to be emptied stay so while so many others are open: two copies of each volume fit there at least. */
const OPEN_NODES_MIN = 3;
/** How long to wait between two attempts to get a volume that has lost its members going. */
const ROUND_SECONDS = 60;

/**
 * Copies of disks are taken out, as their conditions say: of disks with one identity the one stays that the control plane has. A disk that
 * holds an earlier state is accepted.
 */
async function settleDisks(world: World, clients: readonly SimClient[]): Promise<void> {
  const { useCases, clusterId, fleet, store } = world;
  for (const node of fleet.doubles()) {
    for (const disk of [...node.disks]) {
      const others = world.nodes.filter((one) => one !== node && one.disks.some(({ id }) => id === disk.id));
      const isKnown = store.tables.disks.get(disk.id)?.nodeId === node.nodeId;
      const isKnownElsewhere = others.some(
        ({ nodeId }) => nodeId === store.tables.disks.get(disk.id)?.nodeId,
      );
      if (others.length > 0 && !isKnown && isKnownElsewhere) node.removeClone(disk);
    }
  }
  await world.run(15);
  const { disks } = await store.loadFleet(clusterId);
  for (const { id: diskId } of disks.filter(isSetBack)) {
    await tolerated(() => acceptDisk(useCases, { clusterId, diskId }));
    settleForDisk(clients, diskId, world);
  }
}

export async function healWorld(
  world: World,
  clients: () => Promise<readonly SimClient[]>,
  secondsMax: number,
): Promise<string[]> {
  const unemptied = await emptyDeadNode(world);
  if (unemptied.length > 0) return unemptied;
  const isZoned = await repair(world);
  await settleDisks(world, await clients());
  const emptied = await openPlaces(world);
  for (const client of await clients()) await openVolume(world, client, isZoned);
  await world.run(15);
  const areWell = async () => {
    for (const client of await clients()) if ((await troubleOf(client)) !== undefined) return false;
    return (await leftovers(world, emptied)).length === 0;
  };
  for (let round = 0; round * ROUND_SECONDS < secondsMax; round += 1) {
    for (const client of await clients()) await serve(world, client);
    if (await world.runUntil(areWell, ROUND_SECONDS)) break;
  }
  const findings: string[] = [];
  for (const client of await clients()) findings.push(...((await troubleOf(client)) ?? []));
  findings.push(...(await leftovers(world, emptied)));
  return findings.length > 0 ? findings : secondRuns(world, await clients());
}

/**
 * @param staysDead a node that is not started again
 * @returns whether zones are hard
 */
async function repair(world: World, staysDead?: NodeId): Promise<boolean> {
  world.faults = NO_FAULTS;
  world.rebuildFaults.clear();
  for (const node of world.nodes) {
    node.isConnected = true;
    node.isSilent = false;
    if (!node.isAlive && node.nodeId !== staysDead) world.startNode(node.name);
    for (const disk of node.disks) {
      disk.isGone = false;
      disk.availableBytes = disk.maximumBytes;
    }
  }
  await world.run(2);
  world.store.setQuota('project', world.projectId, {});
  world.store.setQuota('organization', world.organizationId, {});
  const isZoned = await mayKeepZones(world);
  await changeSettings(world, { ...OPEN_SETTINGS, 'replica-zone-soft-anti-affinity': !isZoned });
  return isZoned;
}

/** @returns ids of the nodes that are still to be emptied */
async function openPlaces(world: World): Promise<ReadonlySet<string>> {
  const { useCases, clusterId } = world;
  const { nodes, disks } = await world.store.loadFleet(clusterId);
  const leaving = nodes.filter(isToBeEmptied);
  const staysEmptied = nodes.length - leaving.length >= OPEN_NODES_MIN;
  for (const node of nodes) {
    const key = { clusterId, nodeId: node.id };
    await endMaintenance(useCases, key);
    const isKept = staysEmptied && isToBeEmptied(node);
    if (!isKept) await cancelDrain(useCases, key);
    const patch = isKept ? {} : { ...OPEN, cordoned: false };
    // Selectors must not keep a volume from the nodes that are left.
    await patchNode(useCases, { ...key, patch: { ...patch, tags: ['fast'] } });
  }
  for (const { id: diskId, removalRequestedAt } of disks) {
    // A disk pending removal accepts no new replicas.
    const patch = removalRequestedAt === undefined ? OPEN : {};
    await patchDisk(useCases, {
      clusterId,
      diskId,
      patch: { ...patch, tags: ['ssd'], storageReservedBytes: 0 },
    });
  }
  return new Set(staysEmptied ? leaving.map(({ id }) => id) : []);
}

function isToBeEmptied({ evictionRequested, drain }: StorageNode): boolean {
  return evictionRequested || drain?.policy === 'block-for-eviction';
}

/** It follows its cluster, whose settings are open; what holds only of attached volumes stays. */
async function openVolume({ useCases }: World, client: SimClient, isZoned: boolean): Promise<void> {
  const { volumeId } = client;
  const { spec } = (await client.view()).volume;
  // Block disks are not in every zone.
  const isAnyZone = isZoned && spec.dataEngine === 'v2';
  const patch = {
    ...overridesFrom(followingValue),
    ...(isAnyZone ? { replicaZoneSoftAntiAffinity: 'enabled' as const } : {}),
  };
  await tolerated(() => patchVolume(useCases, { volumeId, patch }));
}

/**
 * May zones be hard? Where each has a node that is open, and there are as many as any volume wants copies: then a copy that is to leave has a
 * place in its own zone at least.
 */
async function mayKeepZones(world: World): Promise<boolean> {
  const { nodes } = await world.store.loadFleet(world.clusterId);
  const zones = new Set(nodes.map(zoneKey));
  const open = new Set(nodes.filter((node) => !isToBeEmptied(node)).map(zoneKey));
  const wanted = [...world.store.tables.volumes.values()].map(({ spec }) => spec.numberOfReplicas);
  return open.size === zones.size && open.size >= Math.max(0, ...wanted);
}

/** The longest rest after an attempt that came to nothing, and moves of all volumes, a few at a time. */
const EMPTYING_SECONDS = 3_600;

/**
 * A dead node that is evicted gives up its copies while it stays dead, also of detached volumes: as long as each of these has a full
 * copy elsewhere. Everything else is repaired first.
 */
async function emptyDeadNode(world: World): Promise<string[]> {
  const { nodes } = await world.store.loadFleet(world.clusterId);
  const dead = nodes.find(
    (node) => node.evictionRequested && isDead(world, node.id) && node.forget === undefined,
  );
  if (dead === undefined || nodes.length <= OPEN_NODES_MIN) return [];
  const { replicas } = world.store.tables;
  const isSpared = ({ volumeId }: Replica) =>
    replicas.by('volume', volumeId).some((other) => other.nodeId !== dead.id && isSound(world, other));
  if (!replicas.by('node', dead.id).every(isSpared)) return [];
  await repair(world, dead.id);
  // Evicted copies are moved whether or not lost copies are rebuilt.
  await changeSettings(world, { 'offline-replica-rebuilding': false });
  if (!(await openPlaces(world)).has(dead.id)) return [];
  const left = () => replicas.by('node', dead.id).filter(({ volumeId }) => isIdle(world, volumeId));
  await world.runUntil(async () => left().length === 0, EMPTYING_SECONDS);
  return left().map(
    ({ volumeId }) =>
      `detached volume ${volumeId} keeps a replica on node ${dead.name}, which is dead and to be emptied`,
  );
}

function isDead(world: World, nodeId: NodeId): boolean {
  return world.nodes.some((node) => node.nodeId === nodeId && !node.isAlive);
}

/** Is it a full copy, with its files, that its volume's record names? */
function isSound(world: World, replica: Replica): boolean {
  const members = world.store.tables.volumes.get(replica.volumeId)?.record?.members ?? [];
  const copy = world.fleet.holderOf(replica)?.copies.get(replica.id);
  return (
    isHealthy(replica) &&
    replica.intent === 'keep' &&
    members.includes(replica.id) &&
    copy !== undefined &&
    !copy.isKnownDamaged
  );
}

/** Block disks may be on too few nodes for another copy. */
function isIdle(world: World, volumeId: VolumeId): boolean {
  const volume = world.store.tables.volumes.get(volumeId);
  return volume?.lifecycle.state === 'detached' && volume.spec.dataEngine === 'v1';
}

/** A user attaches it, salvages it if members are lost, and resumes its rebuilds. */
async function serve(world: World, client: SimClient): Promise<void> {
  const { useCases } = world;
  const { volumeId } = client;
  const { volume, rebuilds } = await client.view();
  await tolerated(() => requestAttach(useCases, { volumeId }));
  if (volume.lifecycle.state === 'attaching') {
    await tolerated(async () => {
      await requestSalvage(useCases, { volumeId, replicaIds: [] });
      client.settleFor();
    });
  }
  const paused = rebuilds.find((rebuild) => isActiveRebuild(rebuild) && rebuild.paused);
  if (paused !== undefined) {
    await tolerated(() => tuneRebuild(useCases, { volumeId, rebuildId: paused.id, paused: false }));
  }
}

async function troubleOf(client: SimClient): Promise<string[] | undefined> {
  const { volume, replicas, rebuilds, snapshots } = await client.view();
  const isBusy =
    volume.task !== undefined ||
    rebuilds.some(isActiveRebuild) ||
    snapshots.some(({ state }) => state === 'creating' || state === 'removing');
  const isFull = replicas.length === volume.spec.numberOfReplicas;
  if (volume.lifecycle.state === 'attached' && volume.robustness === 'healthy' && !isBusy && isFull)
    return undefined;
  const why = volume.attention?.message ?? volume.conditions.map(({ message }) => message).join('; ');
  const busy = isBusy ? ' and busy' : '';
  return [
    `${volume.name} ends ${volume.lifecycle.state}, ${volume.robustness}${busy} with ${replicas.length} replicas: ${why}`,
  ];
}

/** Copies on nodes that must be empty, and files without a replica. */
async function leftovers(world: World, emptied: ReadonlySet<string>): Promise<string[]> {
  const { replicas, volumes } = world.store.tables;
  // One of the v2 engine needs another block disk.
  const hasBlockPlace = world.nodes.some(
    ({ nodeId, disks }) =>
      nodeId !== undefined && !emptied.has(nodeId) && disks.some(({ type }) => type === 'block'),
  );
  // The copy of a strictly local volume stays beside its users.
  const onEmptied = [...replicas.values()].filter(
    ({ nodeId, volumeId }) =>
      nodeId !== undefined &&
      emptied.has(nodeId) &&
      volumes.get(volumeId)?.spec.dataLocality !== 'strict-local' &&
      (volumes.get(volumeId)?.spec.dataEngine !== 'v2' || hasBlockPlace),
  );
  // Copies on a forgotten node are out of reach.
  const known = world.nodes.filter(({ nodeId }) => nodeId !== undefined && isKnownNode(world, nodeId));
  const strays = known.flatMap(({ copies }) => [...copies.keys()].filter((id) => !replicas.has(id)));
  return [
    ...onEmptied.map(({ id }) => `replica ${id} is still on a node that is to be empty`),
    ...strays.map((id) => `copy ${id} is left on a disk and belongs to no replica`),
  ];
}

function isKnownNode({ store }: World, nodeId: NodeId): boolean {
  const node = store.tables.nodes.get(nodeId);
  return node !== undefined && node.forget === undefined;
}

/** When all is well, a reconciler that looks again has nothing to change. */
async function secondRuns(world: World, clients: readonly SimClient[]): Promise<string[]> {
  const { reconcilers, store, clusterId } = world;
  await reconcileCluster(reconcilers, clusterId);
  const findings: string[] = [];
  const rerun = async (what: string, run: () => Promise<unknown>) => {
    await run();
    const before = store.commits;
    await run();
    if (store.commits !== before)
      findings.push(`a second run of the reconciler of ${what} changes something`);
  };
  for (const { volumeId } of clients) {
    await rerun(`volume ${volumeId}`, () => reconcileVolume(reconcilers, volumeId));
  }
  await rerun('the cluster', () => reconcileCluster(reconcilers, clusterId));
  return findings;
}

async function tolerated(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}
