/** Cause of a change of a volume's robustness: the node or disk whose loss made it worse, or the node whose return made it better. */
import { type Condition, conditionOf } from '../model/condition.js';
import type { EventCause } from '../model/event-cause.js';
import { isNodeReady, type StorageNode } from '../model/node.js';
import { isHealthy, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import type { Robustness } from '../model/volume.js';
import { diskById, nodeById } from '../model/volume-facts.js';
import { holderOf } from '../model/volume-lifecycle.js';

/** A worker gets through ten thousand volumes in this time; what becomes whole later owes it to something else. */
const FOLLOWS_RETURN_SECONDS = 600;

const WORSE: Record<Robustness, number> = { healthy: 0, degraded: 1, unknown: 2, faulted: 3 };

/** `undefined`: nothing of its places changed, or that a node is gone is not known yet. */
export function causeOfStatus(view: VolumeView, robustness: Robustness, now: Date): EventCause | undefined {
  const { volume, replicas } = view;
  if (WORSE[robustness] < WORSE[volume.robustness]) return returnedNode(view, now);
  return lostHolder(view) ?? lostPlace(view, replicas.filter(isNotUsable(view)));
}

/** Of the places of copies, the last lost one; a disk on a silent node was lost with the node. */
export function lostPlace({ fleet }: VolumeView, replicas: readonly Replica[]): EventCause | undefined {
  const nodes = replicas.flatMap(({ nodeId }) => nodeById(fleet, nodeId) ?? []);
  const silent = latest(
    nodes.filter((node) => !isNodeReady(node)),
    lostAt,
  );
  if (silent !== undefined) return { kind: 'node', id: silent.id };
  const disks = replicas.flatMap(({ diskId }) => diskById(fleet, diskId) ?? []);
  const lost = latest(
    disks.filter(({ conditions }) => conditionOf(conditions, 'Ready')?.status === 'False'),
    lostAt,
  );
  return lost === undefined ? undefined : { kind: 'disk', id: lost.id };
}

function lostHolder({ volume, fleet }: VolumeView): EventCause | undefined {
  const holder = nodeById(fleet, holderOf(volume));
  return holder === undefined || isNodeReady(holder) ? undefined : { kind: 'node', id: holder.id };
}

/** An attached volume counts the copies that its engine uses; a detached one those that are full. */
function isNotUsable({ volume }: VolumeView): (replica: Replica) => boolean {
  const isAttached = volume.lifecycle.state === 'attached' || volume.lifecycle.state === 'detaching';
  return (replica) => !isAttached || replica.mode !== 'RW' || !isHealthy(replica);
}

/** A return is a cause only if the volume was there before it, and waited for it: not if a rebuild has made it whole. */
function returnedNode({ volume, replicas, fleet }: VolumeView, now: Date): EventCause | undefined {
  const { state } = volume.lifecycle;
  const isAttached = state === 'attached' || state === 'detaching';
  if (isAttached && volume.robustness !== 'unknown') return undefined;
  const places = isAttached ? [holderOf(volume)] : replicas.map(({ nodeId }) => nodeId);
  const returned = places
    .flatMap((nodeId) => nodeById(fleet, nodeId) ?? [])
    .filter((node) => isNodeReady(node) && hasReturned(node, volume.createdAt, now));
  const last = latest(returned, ({ returnedAt }) => returnedAt?.getTime() ?? 0);
  return last === undefined ? undefined : { kind: 'node', id: last.id };
}

function hasReturned({ returnedAt }: StorageNode, createdAt: Date, now: Date): boolean {
  if (returnedAt === undefined || returnedAt <= createdAt) return false;
  return now.getTime() - returnedAt.getTime() <= FOLLOWS_RETURN_SECONDS * 1000;
}

function lostAt({ conditions }: { readonly conditions: readonly Condition[] }): number {
  return conditionOf(conditions, 'Ready')?.lastTransitionAt.getTime() ?? 0;
}

/** The first of those with the latest time. */
function latest<Item>(items: readonly Item[], timeOf: (item: Item) => number): Item | undefined {
  let found: Item | undefined;
  for (const item of items) if (found === undefined || timeOf(item) > timeOf(found)) found = item;
  return found;
}
