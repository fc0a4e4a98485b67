/** Decides about draining a node and taking that back. Whether the node can be emptied is the drain's own matter: it says what it waits for. */
import { isNodeReady, type StorageNode } from '../model/node.js';
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
  if (!NEED_A_COPY_ELSEWHERE.has(policy) || !isBooked || hasPlaceForCopies(id, policy, fleet)) return ALLOWED;
  const why = `no other node is ready and not cordoned: with policy ${policy} the drain of node ${name} waits for copies elsewhere, and there can be none`;
  return refuse('node.last_ready', why, [
    'start the agents of other nodes, uncordon one, or add a node',
    'drain with policy always-allow: what only this node holds can not be used while it is off',
  ]);
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

/**
 * Is there another node whose copies count? A cordoned one is on its way out, so a copy on it does not make up for one here. It
 * still takes what `block-for-eviction` moves where cordons keep no replicas away. A maintenance window ends, and so does
 * what waits for it.
 */
function hasPlaceForCopies(
  id: StorageNode['id'],
  policy: DrainPolicy,
  { nodes, settings }: FleetView,
): boolean {
  const takesWhatMoves = policy === 'block-for-eviction' && !settings['disable-scheduling-on-cordoned-node'];
  return nodes.some((node) => node.id !== id && isNodeReady(node) && (!node.cordoned || takesWhatMoves));
}

export function unknownPolicy(wanted: string | undefined): Refusal<'request.invalid'> {
  return refuse('request.invalid', `there is no drain policy ${wanted}`, [
    `name one of ${DRAIN_POLICIES.join(', ')}`,
  ]);
}

export function hasOtherReadyNode(id: StorageNode['id'], { nodes }: Pick<FleetView, 'nodes'>): boolean {
  return nodes.some((node) => node.id !== id && isNodeReady(node));
}

export function decideDrainCancellation({ name, drain }: DrainFacts): Decision<never> {
  return drain === undefined ? unchanged(`node ${name} is not drained`) : ALLOWED;
}
