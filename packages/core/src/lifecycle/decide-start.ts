/**
 * Decides whether an engine may start, and on which copies. Called when every reachable copy has been fenced at the new epoch and has
 * reported its state.
 *
 * The records decide what is current (docs/adr/0004-copy-records.md). This adds only patience: a member that is missing because its
 * agent is just starting would be left out, and rebuilt, for no reason. So the start waits a little for members that may answer in a
 * moment, but never longer, because users wait too.
 */

import { conditionOf } from '../model/condition.js';
import { type AttachDecision, type CopyRecord, decideCurrentCopies } from '../model/copy-record.js';
import { DISK_SET_BACK } from '../model/disk-stamp.js';
import { compareIds, type NodeId, type ReplicaId } from '../model/ids.js';
import { isNodeReady, type StorageNode } from '../model/node.js';
import type { VolumeView } from '../model/views.js';
import { type Attention, isRestored } from '../model/volume.js';
import { nodeById } from '../model/volume-facts.js';
import { holderOf } from '../model/volume-lifecycle.js';
import { COPIES_MISSING } from '../policy/decide-salvage.js';
import { cloneInDoubt, namesOf, oneNodesWord, type Refusals, tooFewCopies } from './start-obstacles.js';

/** How long a start waits for members that may be about to answer, while a cluster starts. */
const PATIENCE_MS = 12_000;
/**
 * At any other time: the time that an agent needs to start again. Its node has most likely just died, and a user waits for the
 * takeover.
 */
const SHORT_PATIENCE_MS = 2_000;
/** A holder that became ready this recently suggests that the whole cluster is starting. */
const CLUSTER_START_MS = 20_000;

export const WAITING_FOR_COPIES = 'WaitingForCopies';

export type StartDecision =
  | { kind: 'go'; record: CopyRecord; current: readonly ReplicaId[] }
  | {
      kind: 'wait';
      attention: Attention;
      /** Copies that say alone, on their node, that others are stale; left out: none does. */
      claimedBy?: readonly ReplicaId[];
    };

/** Which copies an engine may believe, by their records and where they are. */
export function currentCopies(
  { volume, replicas }: Pick<VolumeView, 'volume' | 'replicas'>,
  found: ReadonlyMap<ReplicaId, CopyRecord>,
): AttachDecision {
  const nodeOf = new Map(
    replicas.flatMap(({ id, nodeId }): [ReplicaId, NodeId][] => (nodeId === undefined ? [] : [[id, nodeId]])),
  );
  const places = { nodeOf, holderId: holderOf(volume) };
  // Their records are those from before their disks were set back.
  const setBack = replicas.filter(
    ({ failedAt, failure }) => failedAt !== undefined && failure?.reason === DISK_SET_BACK,
  );
  const believed = new Map(found);
  for (const { id } of setBack) believed.delete(id);
  return decideCurrentCopies({
    known: volume.record,
    found: believed,
    isRestored: isRestored(volume),
    places,
  });
}

/**
 * @param found the record of every copy that answered and has one
 * @param refused what others said instead
 */
export function decideStart(
  view: VolumeView,
  found: ReadonlyMap<ReplicaId, CopyRecord>,
  now: Date,
  refused: Refusals = new Map(),
): StartDecision {
  const { volume } = view;
  const decision = currentCopies(view, found);
  const since = volume.attention?.since ?? now;
  if (decision.kind === 'wait' && decision.code === 'OneNodesWord') {
    const { claimedBy } = decision;
    return { kind: 'wait', attention: { ...oneNodesWord(view, decision), since }, claimedBy };
  }
  if (decision.kind === 'wait') {
    const { missing, setBack = [] } = decision;
    const members = decision.record?.members ?? [];
    const current = members.filter((member) => found.has(member) && !setBack.includes(member));
    const stale = [...found.keys()].filter((id) => !members.includes(id)).sort(compareIds);
    const few = tooFewCopies(view, { missing, setBack, current, stale, refused });
    return { kind: 'wait', attention: { ...few, since } };
  }
  const doubt = cloneInDoubt(view, decision.record);
  if (doubt !== undefined) return { kind: 'wait', attention: { ...doubt, since } };
  const missing = decision.record.members.filter((member) => !found.has(member));
  const patienceMs = Math.max(0, ...missing.map((member) => patienceFor(view, member, now)));
  if (now.getTime() - since.getTime() < patienceMs) {
    const message = `waiting a moment for ${namesOf(view, missing)}`;
    return { kind: 'wait', attention: { code: WAITING_FOR_COPIES, message, cures: [], since } };
  }
  return { kind: 'go', record: decision.record, current: decision.current };
}

/** Have too few copies answered for longer than a start waits? Then the volume is faulted; while a cluster starts it is not yet. */
export function isFaulted({ code, since }: Attention, now: Date): boolean {
  return code === COPIES_MISSING && now.getTime() - since.getTime() >= PATIENCE_MS;
}

/**
 * A ready node that did not answer has either just died or is about to answer; a starting cluster has all coming. One
 * that has been ready for long is not starting, whatever the others do.
 */
function patienceFor(view: VolumeView, replicaId: ReplicaId, now: Date): number {
  const { volume, replicas, fleet } = view;
  const node = nodeById(fleet, replicas.find(({ id }) => id === replicaId)?.nodeId);
  if (node === undefined) return 0;
  const isReady = isNodeReady(node);
  const isStarting = isFresh(nodeById(fleet, holderOf(volume)), now) && (!isReady || isFresh(node, now));
  if (isStarting) return PATIENCE_MS;
  return isReady ? SHORT_PATIENCE_MS : 0;
}

function isFresh(node: StorageNode | undefined, now: Date): boolean {
  const readySince = node === undefined ? undefined : conditionOf(node.conditions, 'Ready')?.lastTransitionAt;
  return readySince !== undefined && now.getTime() - readySince.getTime() < CLUSTER_START_MS;
}
