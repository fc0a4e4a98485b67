/**
 * Planner of relocations: begins them, and ends the one under way. The replacement is rebuilt as any missing copy; when it is full,
 * the replaced copy is removed. It is dropped when its reason is gone.
 *
 * A relocation is recorded on the replacement's row only, so a worker that dies leaves nothing to repair.
 */

import { mayBeTaken, withMove, withMoveEnded } from '../balance/balance-guards.js';
import { chooseMove } from '../balance/choose-move.js';
import { type PlannedMove, placeText, relocationOf } from '../balance/planned-move.js';
import { localityObstacle, relocationObstacle } from '../balance/relocation-obstacle.js';
import type { Change, ReplicaPatch } from '../model/changes.js';
import type { Relocation } from '../model/relocation.js';
import { isHealthy, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { lastingCopies, nodeName, volumeEvent } from '../model/volume-facts.js';
import { decideRemoval } from '../policy/decide-removal.js';
import { bookingFor } from '../scheduling/placement/plan-placements.js';
import { isPausingRebuilds } from './rebuild-pause.js';
import type { Step } from './step.js';

type Relocating = Replica & { readonly relocation: Relocation };

export function planRelocationEnd(view: VolumeView, now: Date): Step | undefined {
  const replacement = view.replicas.find(isRelocating);
  if (replacement === undefined) return undefined;
  const replaced = view.replicas.find(({ id }) => id === replacement.relocation.replacesId);
  if (isHealthy(replacement)) return planReplaced(view, replacement, replaced, now);
  const obstacle = relocationObstacle(view, replacement);
  if (obstacle !== undefined) return ended(view, replacement, { outcome: 'dropped', why: obstacle }, now);
  if (replaced !== undefined && replaced.failedAt === undefined) return undefined;
  return ended(view, replacement, { outcome: 'kept', why: 'the copy that it was to replace is lost' }, now);
}

function isRelocating(replica: Replica): replica is Relocating {
  return replica.relocation !== undefined && replica.intent !== 'remove';
}

function planReplaced(
  view: VolumeView,
  replacement: Relocating,
  replaced: Replica | undefined,
  now: Date,
): Step | undefined {
  if (replaced === undefined) return ended(view, replacement, { outcome: 'moved' }, now);
  if (replaced.intent === 'remove') return undefined;
  const staying = lastingCopies(view).filter(({ id }) => id !== replaced.id).length;
  const away = localityObstacle(view, replacement);
  if (away !== undefined && isHealthy(replaced))
    return ended(view, replacement, { outcome: 'dropped', why: away }, now);
  const mayGo = decideRemoval(view.replicas, replaced.id).kind === 'allow';
  if (staying < view.volume.spec.numberOfReplicas || !mayGo) {
    return ended(view, replacement, { outcome: 'kept', why: 'another copy was lost meanwhile' }, now);
  }
  // The copy that balance wanted to move is the volume's most stable one by now: it stays until another has been stable for long
  // enough.
  const isBalance = replacement.relocation.reason === 'balance';
  if (isBalance && isHealthy(replaced) && !mayBeTaken(view, replaced, now, replacement.id)) return undefined;
  const patch = { intent: 'remove' as const };
  const change: Change = { kind: 'replica.patch', replicaId: replaced.id, patch };
  return { kind: 'commit', why: 'its replacement is a full copy', changes: [change] };
}

type Ending = { outcome: 'moved' } | { outcome: 'dropped' | 'kept'; why: string };

/** `dropped`: the replacement goes. `kept`: it stays, as an ordinary copy. */
function ended(view: VolumeView, replacement: Relocating, ending: Ending, now: Date): Step {
  const { volume, fleet } = view;
  const { relocation, id, nodeId } = replacement;
  const isDropped = ending.outcome === 'dropped';
  const patch: ReplicaPatch = { relocation: undefined, ...(isDropped ? { intent: 'remove' } : {}) };
  const where = `from ${placeText(relocation.from, view)} to ${nodeName(fleet, nodeId)}`;
  const message =
    ending.outcome === 'moved'
      ? `a copy has moved ${where}: ${relocation.gain}`
      : `the move of a copy ${where} was given up: ${ending.why}`;
  const event = volumeEvent(view, now, {
    type: ending.outcome === 'moved' ? 'ReplicaMoved' : 'ReplicaMoveCancelled',
    message,
    subject: { kind: 'replica', id },
  });
  const balance = withMoveEnded(volume.balance, now);
  const history: Change[] =
    relocation.reason !== 'balance' || balance === undefined
      ? []
      : [{ kind: 'volume.patch', volumeId: volume.id, patch: { balance } }];
  const changes: Change[] = [
    { kind: 'replica.patch', replicaId: id, patch },
    ...history,
    { kind: 'event', event },
  ];
  return { kind: 'commit', why: message, changes };
}

export function planRelocationBegin(view: VolumeView, now: Date): Step | undefined {
  if (!isServed(view) || isPausingRebuilds(view.rebuilds, now)) return undefined;
  const choice = chooseMove(view, now);
  if (choice?.kind === 'stop') return stopBalance(view, choice.move, now);
  return choice?.kind === 'move' ? beginMove(view, choice.move, now) : undefined;
}

/** Is a move wanted that has to wait for something which marks no volume due: free space, other moves? */
export function isMoveBlocked(view: VolumeView, now: Date): boolean {
  return isServed(view) && chooseMove(view, now)?.kind === 'blocked';
}

function isServed({ volume, engine }: VolumeView): boolean {
  return volume.lifecycle.state === 'attached' && engine?.report.state === 'running';
}

function beginMove(view: VolumeView, move: PlannedMove, now: Date): Step {
  const { volume, fleet, relocations } = view;
  const booking = bookingFor(move.to.diskId, volume.spec.sizeBytes, fleet);
  const relocation = relocationOf(move, view, now);
  const { from, to } = move;
  const changes: Change[] =
    move.reason !== 'balance'
      ? []
      : [
          { kind: 'balance.begin', clusterId: volume.clusterId, ifVersion: relocations.version },
          {
            kind: 'volume.patch',
            volumeId: volume.id,
            patch: { balance: withMove(volume.balance, { from, to, at: now }) },
          },
        ];
  return { kind: 'add-replica', nodeId: to.nodeId, booking, relocation, changes };
}

function stopBalance(view: VolumeView, { from, to, gain }: PlannedMove, now: Date): Step {
  const { volume } = view;
  const balance = { moves: volume.balance?.moves ?? [], stoppedAt: now };
  const message = `auto-balance leaves volume ${volume.name} alone: its copies went to and fro, the next move would be from ${placeText(from, view)} to ${placeText(to, view)} (${gain})`;
  const event = volumeEvent(view, now, { type: 'AutoBalanceStopped', message });
  const changes: Change[] = [
    { kind: 'volume.patch', volumeId: volume.id, patch: { balance } },
    { kind: 'event', event },
  ];
  return { kind: 'commit', why: message, changes };
}
