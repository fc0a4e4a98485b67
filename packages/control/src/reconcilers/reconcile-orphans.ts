/**
 * Reconciler of orphans: announces them by an event, asks for their descriptions, and removes those that may go.
 *
 * A removal is claimed in the database first, under the orphan's version: the commit fails if a replica has its id by then, and
 * afterwards no replica can get it. The agent removes only the copy in its reported state. A crash after the claim leaves it for the
 * next pass; one after the removal leaves a row that the next report deletes.
 */
import { type OrphanStep, otherClusterOf, planOrphans } from '@holdfast/core/lifecycle/plan-orphans.js';
import { removalReason } from '@holdfast/core/lifecycle/plan-removal.js';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { CopyDescription } from '@holdfast/core/model/copy-description.js';
import type { RemovalReason } from '@holdfast/core/model/copy-removal.js';
import type { ClusterEvent } from '@holdfast/core/model/event.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, NodeId } from '@holdfast/core/model/ids.js';
import type { OrphanInContext, OrphanRemoval } from '@holdfast/core/model/orphan.js';
import type { Change, CommitGuard } from '../ports/store.js';
import { agentOf, type ReconcilerPorts } from './reconciler-ports.js';

/** Orphans per pass. The next pass sees the others: announced and removed ones make room. */
const LOADED_MAX = 1_000;
/** A commit each; more would hold up the rest of the cluster's work. */
const TOLD_MAX = 50;

export async function reconcileOrphans(ports: ReconcilerPorts, clusterId: ClusterId): Promise<void> {
  const view = await ports.store.loadOrphans(clusterId, LOADED_MAX);
  const steps = planOrphans(view, ports.clock.now());
  // One that does not answer costs a timeout, and the rest of the cluster waits for this pass.
  const silent = new Set<NodeId>();
  for (const step of steps.filter(({ kind }) => kind !== 'remove').slice(0, TOLD_MAX)) {
    await ignoreConflict(() => tell(ports, step, silent));
  }
  for (const step of steps) {
    const { nodeId } = step.item.orphan;
    if (step.kind !== 'remove' || silent.has(nodeId)) continue;
    await ignoreConflict(async () => {
      if ((await remove(ports, step)) === 'no-answer') silent.add(nodeId);
    });
  }
}

/** Another worker did it, or it is no orphan any more: the next pass judges it anew. */
async function ignoreConflict(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isFault(error, 'store.conflict')) throw error;
  }
}

/** Announces it, with its description if the agent returns one; or asks again for a description that is missing. */
async function tell(ports: ReconcilerPorts, { kind, item }: OrphanStep, silent: Set<NodeId>): Promise<void> {
  const description = silent.has(item.orphan.nodeId) ? undefined : await describe(ports, item, silent);
  if (kind === 'announce') return announce(ports, item, description);
  if (description === undefined) return;
  const { id } = item.orphan;
  await ports.store.commit(guardOf(item), [{ kind: 'orphan.patch', orphanId: id, patch: { description } }]);
}

/** `undefined` if its agent does not respond: it is queried again in the next pass. */
async function describe(
  ports: ReconcilerPorts,
  { orphan }: OrphanInContext,
  silent: Set<NodeId>,
): Promise<CopyDescription | undefined> {
  const { nodeId, replicaId, volumeId, diskId } = orphan;
  try {
    const said = await ports.agents.describeCopy(await agentOf(ports, nodeId), replicaId);
    return said.volumeId === volumeId && said.diskId === diskId ? said : undefined;
  } catch (error) {
    if (!isFault(error)) throw error;
    if (error.code === 'agent.unreachable') silent.add(nodeId);
    return undefined;
  }
}

async function announce(
  { store, clock }: ReconcilerPorts,
  item: OrphanInContext,
  description: CopyDescription | undefined,
): Promise<void> {
  const now = clock.now();
  const { orphan, nodeName, diskName } = item;
  const whose = ownerOf(item, description);
  const message = `a copy of ${formatBytes(orphan.writtenBytes)} on ${nodeName}, disk ${diskName}, belongs to no replica: it is of ${whose}`;
  await store.commit(guardOf(item), [
    { kind: 'orphan.patch', orphanId: orphan.id, patch: { announcedAt: now, description } },
    { kind: 'event', event: eventOf(item, { type: 'OrphanFound', message }, now) },
  ]);
}

function ownerOf({ orphan, volume }: OrphanInContext, description: CopyDescription | undefined): string {
  const otherClusterId = otherClusterOf({ ...orphan, description });
  if (otherClusterId !== undefined)
    return `volume ${description?.volume?.name} of the cluster ${otherClusterId}; if that cluster lives, put the disk back into a node of it`;
  return volume === undefined ? 'a volume that does not exist' : `volume ${volume.name}`;
}

async function remove(
  ports: ReconcilerPorts,
  { item, removal }: Extract<OrphanStep, { kind: 'remove' }>,
): Promise<'removed' | 'refused' | 'no-answer'> {
  const { orphan, nodeName, diskName } = item;
  const { store, agents, clock } = ports;
  const claimed = { ...removal, claimedAt: removal.claimedAt ?? clock.now() };
  await store.commit(guardOf(item), [patched(item, claimed)]);
  const next: CommitGuard = { kind: 'orphan', orphanId: orphan.id, ifVersion: orphan.version + 1 };
  try {
    await agents.removeOrphan(await agentOf(ports, orphan.nodeId), orphan.replicaId, {
      volumeId: orphan.volumeId,
      diskId: orphan.diskId,
      record: orphan.record ?? null,
      because: await reasonFor(ports, item, removal),
    });
  } catch (error) {
    if (!isFault(error)) throw error;
    const trouble = { message: error.message, at: clock.now() };
    await store.commit(next, [patched(item, { ...claimed, trouble })]);
    return error.code === 'agent.unreachable' ? 'no-answer' : 'refused';
  }
  const why = removal.by === 'person' ? 'as was asked for' : 'by orphan-resource-auto-deletion';
  const message = `the orphaned copy of ${formatBytes(orphan.writtenBytes)} on ${nodeName}, disk ${diskName}, was removed ${why}`;
  await store.commit(next, [
    { kind: 'orphan.delete', orphanId: orphan.id },
    {
      kind: 'event',
      event: eventOf(item, { type: 'OrphanRemoved', message }, clock.now()),
    },
  ]);
  return 'removed';
}

/**
 * Reason of the removal, for the agent. The setting discards no data: a deleted volume was discarded by a user, and the data of an
 * existing one is held by other copies. Of a volume that this database never knew, the copy may be the only data left.
 */
async function reasonFor(
  { store }: ReconcilerPorts,
  { orphan }: OrphanInContext,
  { by }: OrphanRemoval,
): Promise<RemovalReason | undefined> {
  if (by === 'person') return { kind: 'given-up' };
  const { clusterId, volumeId, id } = orphan;
  const volume = (await store.loadVolume(volumeId))?.volume;
  if (volume !== undefined) return removalReason(volume);
  const found = await store.loadFoundCopies(clusterId, { volumeId });
  const wasDeleted = found.some(({ orphan: copy, deletedAt }) => copy.id === id && deletedAt !== undefined);
  return wasDeleted ? { kind: 'given-up' } : undefined;
}

function guardOf({ orphan }: OrphanInContext): CommitGuard {
  return { kind: 'orphan', orphanId: orphan.id, ifVersion: orphan.version };
}

function patched({ orphan }: OrphanInContext, removal: OrphanInContext['orphan']['removal']): Change {
  return { kind: 'orphan.patch', orphanId: orphan.id, patch: { removal } };
}

function eventOf(
  { orphan }: OrphanInContext,
  event: Pick<ClusterEvent, 'type' | 'message'>,
  at: Date,
): ClusterEvent {
  const { clusterId, id, volumeId } = orphan;
  return { ...event, clusterId, subject: { kind: 'orphan', id }, volumeId, at };
}
