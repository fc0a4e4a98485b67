/** Decides about draining a node and taking that back. Whether the node can be emptied is the drain's own matter: it says what it waits for. */
import { isNodeReady, type StorageDisk, type StorageNode } from '../model/node.js';
import { DRAIN_POLICIES, type DrainPolicy } from '../model/node-drain.js';
import type { FleetView } from '../model/views.js';
import { ALLOWED, type Decision, type Refusal, refuse, unchanged } from './decision.js';

type DrainFacts = Pick<StorageNode, 'id' | 'name' | 'drain'>;

export function isDrainPolicy(text: string): text is DrainPolicy {
  return DRAIN_POLICIES.some((policy) => policy === text);
}

/** The policy that is asked for, or else the cluster's; `undefined`: none is called so. */
export function drainPolicyOf(wanted: string | undefined, { settings }: FleetView): DrainPolicy | undefined {
  const policy = wanted ?? settings['node-drain-policy'];
  return isDrainPolicy(policy) ? policy : undefined;
}

/** @param wanted `undefined`: the cluster's setting says which */
export function decideDrain(
  { id, name, drain }: DrainFacts,
  wanted: string | undefined,
  fleet: FleetView,
): Decision<'request.invalid' | 'node.last_ready'> {
  const policy = drainPolicyOf(wanted, fleet);
  if (policy === undefined) return unknownPolicy(wanted);
  if (drain?.policy === policy) return unchanged(`node ${name} is drained with policy ${policy} already`);
  const isBooked = fleet.disks.some((disk) => disk.nodeId === id && disk.storageScheduledBytes > 0);
  if (!isBooked || !needsOtherNode(policy) || nodeForCopies(id, policy, fleet) !== undefined) return ALLOWED;
  const { why, cures } = noNodeForCopies(name, policy);
  return refuse('node.last_ready', why, cures);
}

/** Why a drain of the node does not end where `nodeForCopies` finds none, and what changes that. */
export function noNodeForCopies(name: string, policy: DrainPolicy): { why: string; cures: string[] } {
  return {
    why: `no other node is ready and not cordoned: with policy ${policy} the drain of node ${name} waits for copies elsewhere, and there can be none`,
    cures: [
      'start the agents of other nodes, uncordon one, or add a node',
      'drain with policy always-allow: what only this node holds can not be used while it is off',
    ],
  };
}

/**
 * Policies under which a node with copies may be switched off only once there are others. With `allow-if-replica-is-stopped` users may
 * end the drain of the last node, too: they detach the volumes.
 */
const NEED_A_COPY_ELSEWHERE: ReadonlySet<DrainPolicy> = new Set([
  'block-if-contains-last-replica',
  'block-for-eviction',
  'block-for-eviction-if-contains-last-replica',
]);

export function needsOtherNode(policy: DrainPolicy): boolean {
  return NEED_A_COPY_ELSEWHERE.has(policy);
}

/**
 * Another node whose copies count, the first by id. A cordoned one is on its way out, so a copy on it does not make up for one
 * here; `block-for-eviction` asks for one that takes what moves. A maintenance window ends, and so does what waits for it.
 */
export function nodeForCopies(
  id: StorageNode['id'],
  policy: DrainPolicy,
  fleet: FleetView,
): StorageNode | undefined {
  if (policy === 'block-for-eviction') return nodeForMoves(id, fleet);
  return fleet.nodes.find((node) => node.id !== id && isNodeReady(node) && !node.cordoned);
}

/** Another ready node that may take what leaves this one, the first by id. Whether it has room is the scheduler's matter. */
export function nodeForMoves(id: StorageNode['id'], fleet: FleetView): StorageNode | undefined {
  return fleet.nodes.find(
    (node) =>
      node.id !== id &&
      takesWhatMoves(node, fleet) &&
      fleet.disks.some((disk) => disk.nodeId === node.id && isDiskThatStays(disk)),
  );
}

/** A drained node and one that is being emptied take no replicas, whatever the setting about cordons says. */
export function takesWhatMoves(node: StorageNode, { settings }: Pick<FleetView, 'settings'>): boolean {
  if (!isNodeReady(node) || node.drain !== undefined || node.evictionRequested) return false;
  return !node.cordoned || !settings['disable-scheduling-on-cordoned-node'];
}

export function isDiskThatStays({ evictionRequested, removalRequestedAt }: StorageDisk): boolean {
  return !evictionRequested && removalRequestedAt === undefined;
}

export function unknownPolicy(wanted: string | undefined): Refusal<'request.invalid'> {
  return refuse('request.invalid', `there is no drain policy ${wanted}`, [
    `name one of ${DRAIN_POLICIES.join(', ')}`,
  ]);
}

export function decideDrainCancellation({ name, drain }: DrainFacts): Decision<never> {
  return drain === undefined ? unchanged(`node ${name} is not drained`) : ALLOWED;
}
