/**
 * Best-effort data locality of an attached volume: a copy on its engine's node, where reads cross no network.
 *
 * The replaced copy is the one that the surplus rule would drop first, among those whose absence leaves the engine's node free for
 * another by the volume's anti-affinity.
 */
import type { Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { lastingCopies, nodeName } from '../model/volume-facts.js';
import { holderOf } from '../model/volume-lifecycle.js';
import { surplusOrder } from '../policy/decide-surplus.js';
import type { CandidateRefusal } from '../scheduling/framework/framework.js';
import { placeInstead } from './place-instead.js';
import { type MoveAnswer, placeOf } from './planned-move.js';

/** The node that wants a copy of its own; `undefined`: none does, or it has one. */
export function nodeWithoutCopy({ volume, replicas }: VolumeView) {
  const holderId = holderOf(volume);
  if (volume.spec.dataLocality !== 'best-effort' || volume.lifecycle.state !== 'attached') return undefined;
  const hasCopy = replicas.some((replica) => replica.nodeId === holderId && isLive(replica));
  return hasCopy ? undefined : holderId;
}

function isLive({ failedAt, intent }: Replica): boolean {
  return failedAt === undefined && intent !== 'remove';
}

export function localityMove(view: VolumeView, now: Date): MoveAnswer {
  const nodeId = nodeWithoutCopy(view);
  if (nodeId === undefined) return undefined;
  let why = 'no copy may give way';
  for (const replica of surplusOrder(view, lastingCopies(view))) {
    const from = placeOf(replica);
    if (from === undefined) continue;
    const placement = placeInstead(view, replica, { nodeId }, now);
    if (placement.kind === 'placed') {
      const gain = `reads and writes of the engine on ${nodeName(view.fleet, nodeId)} reach a copy there`;
      const to = { nodeId, diskId: placement.diskId };
      return { kind: 'move', move: { replica, from, to, reason: 'locality', gain } };
    }
    why = reasonsOn(placement.refusals.filter((refusal) => refusal.nodeId === nodeId));
  }
  return { kind: 'blocked', why };
}

/** By disk, without numbers: the message must not change with every heartbeat. */
function reasonsOn(refusals: readonly CandidateRefusal[]): string {
  return refusals.map(({ diskName, rejection }) => `${diskName ?? 'node'}: ${rejection.reason}`).join(', ');
}
