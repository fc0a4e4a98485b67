import type { Change } from '../model/changes.js';
import { conditionOf, withCondition } from '../model/condition.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { volumeEvent } from '../model/volume-facts.js';
import { snapshotsMax } from '../policy/decide-snapshot.js';

const TYPE = 'TooManySnapshots';
const THRESHOLD = 'snapshot-count-warning-threshold';

/**
 * Says that a volume has many layers well before the limit refuses a snapshot or a rebuild has no room for its own.
 * Every layer counts, also what rebuilds left behind and what waits for a purge. `undefined`: nothing new.
 */
export function countedConditions(
  view: VolumeView,
  conditions: Volume['conditions'],
  now: Date,
): { conditions: Volume['conditions']; changes: Change[] } | undefined {
  const count = view.snapshots.filter(({ state }) => state !== 'failed' && state !== 'creating').length;
  const threshold = Math.min(view.fleet.settings[THRESHOLD], snapshotsMax(view));
  const isTooMany = count >= threshold;
  const known = conditionOf(conditions, TYPE);
  // A volume that never had too many has no such condition.
  if (known === undefined && !isTooMany) return undefined;
  if ((known?.status === 'True') === isTooMany) return undefined;
  const message = isTooMany
    ? `${count} snapshots, the warning begins at ${threshold}: delete what is not needed, and purge`
    : '';
  const status = isTooMany ? ('True' as const) : ('False' as const);
  const next = { type: TYPE, status, reason: isTooMany ? 'ThresholdReached' : '', message } as const;
  return {
    conditions: withCondition(conditions, next, now),
    changes: isTooMany ? [warning(view, count, now)] : [],
  };
}

function warning(view: VolumeView, count: number, now: Date): Change {
  const message = `volume ${view.volume.name} has ${count} snapshots`;
  return { kind: 'event', event: volumeEvent(view, now, { type: TYPE, message }) };
}
