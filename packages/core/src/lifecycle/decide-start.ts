/**
 * May the engine start, and on which copies? Asked when every copy that can be reached has been fenced at the new epoch
 * and has said what it holds.
 *
 * The records decide what is current (DESIGN section 5). Here is added only patience: a member that is missing because
 * its agent is just starting would be left out, and rebuilt, for no reason. So the start waits a little for members that
 * may answer in a moment, but never longer, because users wait too.
 */

import { conditionOf } from '../model/condition.js';
import { type CopyRecord, decideCurrentCopies } from '../model/copy-record.js';
import type { ReplicaId } from '../model/ids.js';
import type { Attention } from '../model/volume.js';
import { COPIES_MISSING } from '../policy/decide-salvage.js';
import { isNodeReady } from '../policy/node-conditions.js';
import type { VolumeView } from './views.js';
import { nodeById, nodeName } from './volume-facts.js';

/** How long a start waits for members that may be about to answer. */
const PATIENCE_MS = 12_000;
/** A holder that became ready this recently suggests that the whole cluster is starting. */
const CLUSTER_START_MS = 20_000;

export const WAITING_FOR_COPIES = 'WaitingForCopies';

export type StartDecision =
  | { kind: 'go'; record: CopyRecord; current: readonly ReplicaId[] }
  | { kind: 'wait'; attention: Attention };

/** @param found the record of every copy that answered and has one */
export function decideStart(
  view: VolumeView,
  found: ReadonlyMap<ReplicaId, CopyRecord>,
  now: Date,
): StartDecision {
  const { volume } = view;
  const decision = decideCurrentCopies({ known: volume.record, found });
  const since = volume.attention?.since ?? now;
  if (decision.kind === 'wait') {
    return { kind: 'wait', attention: { ...tooFew(view, decision.missing, found.size), since } };
  }
  const missing = decision.record.members.filter((member) => !found.has(member));
  const mayAnswerSoon = missing.some((member) => isComing(view, member, now));
  if (mayAnswerSoon && now.getTime() - since.getTime() < PATIENCE_MS) {
    const message = `waiting a moment for ${namesOf(view, missing)}`;
    return { kind: 'wait', attention: { code: WAITING_FOR_COPIES, message, cures: [], since } };
  }
  return { kind: 'go', record: decision.record, current: decision.current };
}

/** Have too few copies answered for longer than a start waits? Then the volume is faulted; while a cluster starts it is not yet. */
export function isFaulted({ code, since }: Attention, now: Date): boolean {
  return code === COPIES_MISSING && now.getTime() - since.getTime() >= PATIENCE_MS;
}

/** A ready node that did not answer has either just died or is about to answer; a starting cluster has all coming. */
function isComing({ volume, replicas, fleet }: VolumeView, replicaId: ReplicaId, now: Date): boolean {
  const replica = replicas.find(({ id }) => id === replicaId);
  const node = nodeById(fleet, replica?.nodeId);
  if (node === undefined) return false;
  if (isNodeReady(node)) return true;
  const holder = nodeById(fleet, volume.attachedNodeId);
  const readySince =
    holder === undefined ? undefined : conditionOf(holder.conditions, 'Ready')?.lastTransitionAt;
  return readySince !== undefined && now.getTime() - readySince.getTime() < CLUSTER_START_MS;
}

function tooFew(
  view: VolumeView,
  missing: readonly ReplicaId[],
  foundCount: number,
): Omit<Attention, 'since'> {
  const where = namesOf(view, missing);
  return {
    code: COPIES_MISSING,
    message:
      `too few current copies answer to be sure that no acknowledged write is lost: ` +
      `${foundCount} found, missing ${where}`,
    cures: [
      `start the agents of the missing copies (${where})`,
      'salvage it with the copies that answer, when the missing ones are gone for good: what only they hold is lost',
    ],
  };
}

function namesOf({ replicas, fleet }: VolumeView, replicaIds: readonly ReplicaId[]): string {
  if (replicaIds.length === 0) return 'every copy';
  return replicaIds
    .map((replicaId) => {
      const replica = replicas.find(({ id }) => id === replicaId);
      return replica === undefined
        ? `replica ${replicaId}`
        : `the copy on ${nodeName(fleet, replica.nodeId)}`;
    })
    .join(', ');
}
