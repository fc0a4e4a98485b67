/**
 * Chooses the next move of a volume's copies, by the first of these that wants one: a copy that its selectors do not allow
 * where it is, a copy for the engine's node, an even spread.
 *
 * Only a whole volume is moved: attached, every wanted copy full, nothing else under way.
 */
import { rebuildsStoppedBy } from '../model/rebuild-limits.js';
import type { VolumeView } from '../model/views.js';
import { activeRebuild, lastingCopies } from '../model/volume-facts.js';
import { effectiveValue } from '../policy/volume-settings.js';
import {
  cooledDownAt,
  copySettledAt,
  fitsInFlight,
  isGoingToAndFro,
  nodeStableFrom,
} from './balance-guards.js';
import { localityMove } from './locality-move.js';
import type { MoveAnswer, PlannedMove } from './planned-move.js';
import { pressureMove } from './pressure-move.js';
import { selectorMove } from './selector-move.js';
import { spreadMove } from './spread-move.js';

/** `stop`: balance would bring copies back to where it took them from, so it leaves the volume alone from now on. */
export type MoveChoice = MoveAnswer | { readonly kind: 'stop'; readonly move: PlannedMove };

export function chooseMove(view: VolumeView, now: Date): MoveChoice {
  const known = chosen.get(view);
  if (known?.atMs === now.getTime()) return known.choice;
  const choice = newChoice(view, now);
  chosen.set(view, { atMs: now.getTime(), choice });
  return choice;
}

/** One plan asks several times: what begins, when to look again, what to show. A view is frozen. */
const chosen = new WeakMap<VolumeView, { readonly atMs: number; readonly choice: MoveChoice }>();

function newChoice(view: VolumeView, now: Date): MoveChoice {
  if (!mayMove(view)) return undefined;
  const wanted = selectorMove(view, now) ?? localityMove(view, now);
  if (wanted?.kind === 'move') return wanted;
  return balanceMove(view, now) ?? wanted;
}

/** Is the volume whole and at rest, and may rebuilds start? */
export function mayMove(view: VolumeView): boolean {
  if (rebuildsStoppedBy(view.fleet.settings) !== undefined) return false;
  return view.volume.lifecycle.state === 'attached' && whyNotMovable(view) === undefined;
}

/** Work that an attached volume has to finish before a copy of it moves, as the rest of a sentence about it. */
export function whyNotMovable(view: VolumeView): string | undefined {
  const { volume, replicas } = view;
  if (volume.robustness !== 'healthy') return `is ${volume.robustness}: its missing copies are made first`;
  if (volume.task !== undefined) return `is busy: its ${volume.task.kind} has not ended`;
  if (volume.rebuildHold !== undefined) return `is ${volume.rebuildHold}, so none of its copies is rebuilt`;
  if (volume.verification?.state === 'running') return 'is being verified';
  if (activeRebuild(view) !== undefined) return 'has a rebuild under way';
  const isChanging = replicas.some(
    ({ intent, relocation, failedAt, healthyAt }) =>
      intent !== 'keep' || relocation !== undefined || (failedAt === undefined && healthyAt === undefined),
  );
  const isWhole = lastingCopies(view).length === volume.spec.numberOfReplicas;
  return isChanging || !isWhole ? 'is changing its copies' : undefined;
}

function balanceMove(view: VolumeView, now: Date): MoveChoice {
  const { volume, fleet } = view;
  const effort = effectiveValue(volume.spec, fleet.settings, 'replicaAutoBalance');
  if (effort === 'disabled' || volume.balance?.stoppedAt !== undefined) return undefined;
  const restsUntil = cooledDownAt(view);
  if (restsUntil !== undefined && restsUntil.getTime() > now.getTime()) return undefined;
  const spread = spreadMove(view, effort, now);
  const answer =
    spread?.kind === 'move' || effort === 'least-effort' ? spread : (pressureMove(view, now) ?? spread);
  if (answer?.kind !== 'move') return answer;
  const { move } = answer;
  if (isGoingToAndFro(view, move.from, move.to, now)) return { kind: 'stop', move };
  return fitsInFlight(view)
    ? answer
    : { kind: 'blocked', why: 'as many bytes as replica-auto-balance-bytes-in-flight allows are under way' };
}

/** When a volume has cooled down, and when nodes that came back and copies that became full have settled. */
export function moveTimes(view: VolumeView): Date[] {
  const { volume, fleet } = view;
  if (volume.lifecycle.state !== 'attached') return [];
  if (effectiveValue(volume.spec, fleet.settings, 'replicaAutoBalance') === 'disabled') return [];
  const cooled = cooledDownAt(view);
  const settled = fleet.nodes.map((node) => nodeStableFrom(node, fleet.settings));
  const stable = lastingCopies(view).map((replica) => copySettledAt(replica, fleet));
  return [...(cooled === undefined ? [] : [cooled]), ...settled, ...stable];
}
