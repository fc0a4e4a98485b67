/**
 * Conditions about the places of a volume's copies: `DataLocality` (the engine's node can't have one), `PlacementFits` (some no
 * longer match the selectors) and `AutoBalance` (stopped, because copies oscillated).
 *
 * They are shown as long as they are `False`, and once more when that has ended; an event reports each change.
 */
import { mayMove } from '../balance/choose-move.js';
import { localityMove } from '../balance/locality-move.js';
import { placeOf, placeText } from '../balance/planned-move.js';
import { misfits } from '../balance/selector-move.js';
import type { Change } from '../model/changes.js';
import { conditionOf, withCondition } from '../model/condition.js';
import type { EventType } from '../model/event-types.js';
import type { VolumeView } from '../model/views.js';
import type { Volume, VolumeConditionType } from '../model/volume.js';
import { nodeName, volumeEvent } from '../model/volume-facts.js';
import { effectiveValue } from '../policy/volume-settings.js';

type Trouble = { readonly reason: string; readonly message: string };
type Shown = 'AutoBalance' | 'DataLocality' | 'PlacementFits';

const RULES: readonly {
  readonly type: Shown & VolumeConditionType;
  /** Message of the condition when it is true again. */
  readonly well: string;
  readonly trouble: (view: VolumeView, known: Trouble | undefined, now: Date) => Trouble | undefined;
}[] = [
  { type: 'AutoBalance', well: 'its copies are balanced as its settings say', trouble: stoppedBalance },
  { type: 'DataLocality', well: 'nothing keeps a copy from the node of its engine', trouble: unplacedLocal },
  { type: 'PlacementFits', well: 'all copies match its selectors', trouble: unfitPlaces },
];

/** `undefined`: nothing new. */
export function relocationConditions(
  view: VolumeView,
  conditions: Volume['conditions'],
  now: Date,
): { conditions: Volume['conditions']; changes: readonly Change[] } | undefined {
  let current = conditions;
  const changes: Change[] = [];
  for (const { type, well, trouble } of RULES) {
    const known = conditionOf(current, type);
    const isKnown = known?.status === 'False';
    const found = trouble(view, isKnown ? known : undefined, now);
    if (found === undefined ? !isKnown : isKnown && isSame(known, found)) continue;
    const next = found ?? { reason: '', message: '' };
    current = withCondition(current, { type, status: found === undefined ? 'True' : 'False', ...next }, now);
    if (isKnown === (found !== undefined)) continue;
    const message = `volume ${view.volume.name}: ${found?.message ?? well}`;
    const told = found === undefined ? EVENTS[type].well : EVENTS[type].trouble;
    // The event of the stop names its reason.
    if (told !== undefined)
      changes.push({ kind: 'event', event: volumeEvent(view, now, { type: told, message }) });
  }
  return current === conditions ? undefined : { conditions: current, changes };
}

const EVENTS: Readonly<Record<Shown, { trouble: EventType | undefined; well: EventType }>> = {
  AutoBalance: { trouble: undefined, well: 'AutoBalanceResumed' },
  DataLocality: { trouble: 'LocalReplicaSchedulingFailed', well: 'LocalReplicaScheduled' },
  PlacementFits: { trouble: 'VolumePlacementUnfit', well: 'VolumePlacementFits' },
};

function isSame(known: Trouble, found: Trouble): boolean {
  return known.reason === found.reason && known.message === found.message;
}

function stoppedBalance({ volume, fleet }: VolumeView): Trouble | undefined {
  if (volume.balance?.stoppedAt === undefined) return undefined;
  if (effectiveValue(volume.spec, fleet.settings, 'replicaAutoBalance') === 'disabled') return undefined;
  const message =
    'auto-balance has stopped: its copies went to and fro. To resume, set replicaAutoBalance of the volume again, to the same value too';
  return { reason: 'Oscillating', message };
}

/** A volume that is not whole is repaired first, which says nothing about a place for a copy. */
function unplacedLocal(view: VolumeView, known: Trouble | undefined, now: Date): Trouble | undefined {
  const { volume, fleet } = view;
  if (volume.spec.dataLocality !== 'best-effort' || volume.lifecycle.state !== 'attached') return undefined;
  if (!mayMove(view)) return known;
  const answer = localityMove(view, now);
  if (answer?.kind !== 'blocked') return undefined;
  const where = nodeName(fleet, volume.lifecycle.grant.nodeId);
  const message = `node ${where} runs its engine and can not have a copy: ${answer.why}`;
  return { reason: 'LocalReplicaSchedulingFailure', message };
}

function unfitPlaces(view: VolumeView): Trouble | undefined {
  const found = misfits(view);
  const [first] = found;
  if (first === undefined) return undefined;
  const places = found.map(({ replica, rejection }) => {
    const place = placeOf(replica);
    return `replica ${replica.id}${place === undefined ? '' : ` on ${placeText(place, view)}`}: ${rejection.message}`;
  });
  return { reason: first.rejection.reason, message: `${places.join('; ')}. ${whatFollows(view)}` };
}

/** A detached volume is attached for evictions and drains only: what does not fit any more is as safe where it is. */
function whatFollows({ volume, fleet }: VolumeView): string {
  if (!fleet.settings['replica-relocate-on-selector-change'])
    return 'they stay there: replica-relocate-on-selector-change is false';
  return volume.lifecycle.state === 'attached'
    ? 'each is moved as soon as there is a place'
    : 'each is moved once the volume is attached and there is a place';
}
