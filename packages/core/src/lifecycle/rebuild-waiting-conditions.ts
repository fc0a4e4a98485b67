/**
 * Condition `RebuildWaiting`: why no rebuild of a missing copy is queued. A queued rebuild has its own reason for
 * waiting, and a copy without a place is the Scheduled condition's.
 *
 * It decides nothing: the rules are those of replenishment, offline rebuilds and admission, asked in their order.
 */

import { blockText } from '../admission/waiting.js';
import { conditionOf, withCondition } from '../model/condition.js';
import { rebuildsStoppedBy } from '../model/rebuild-limits.js';
import { isHealthy, isPotentiallyReusable, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { activeRebuild, isReachable, lastingCopies, nodeName } from '../model/volume-facts.js';
import { quotedTitle } from '../model/volume-overrides.js';
import { fillOf } from '../model/volume-task.js';
import { effectiveValue } from '../policy/volume-settings.js';
import { placeHeldUntil, returnFacts, windowOfReturn } from '../scheduling/framework/occupancy.js';
import { awayUntil } from './lost-places.js';
import { pressingTask } from './plan-task-admission.js';
import { rebuildPause } from './rebuild-pause.js';

const TYPE = 'RebuildWaiting';

type Why = { readonly reason: string; readonly message: string };

/** `undefined`: nothing new. */
export function waitingConditions(
  view: VolumeView,
  conditions: Volume['conditions'],
  now: Date,
): Volume['conditions'] | undefined {
  const why = rebuildWaits(view, conditions, now);
  const known = conditionOf(conditions, TYPE);
  if (why === undefined && known?.status !== 'True') return undefined;
  if (known?.status === 'True' && known.reason === why?.reason && known.message === why.message)
    return undefined;
  const next = why === undefined ? ({ status: 'False', reason: '', message: '' } as const) : shown(why);
  return withCondition(conditions, { type: TYPE, ...next }, now);
}

function shown(why: Why) {
  return { status: 'True' as const, ...why };
}

/** `undefined`: no copy is missing, it is being rebuilt, or something else says why not. */
export function rebuildWaits(view: VolumeView, conditions: Volume['conditions'], now: Date): Why | undefined {
  const { volume, fleet } = view;
  const { numberOfReplicas: wanted } = volume.spec;
  const copies = lastingCopies(view).filter((replica) => isReachable(replica, fleet)).length;
  const isSteady = volume.lifecycle.state === 'attached' || volume.lifecycle.state === 'detached';
  if (copies >= wanted || copies === 0 || !isSteady || fillOf(volume) !== undefined) return undefined;
  const active = activeRebuild(view);
  if (active !== undefined) {
    const further = wanted - copies - 1;
    if (further === 0) return undefined;
    const target = nodeName(fleet, active.targetNodeId);
    const message = `${copyCount(further)} more to rebuild after the one on ${target}: a volume rebuilds one at a time`;
    return { reason: 'OtherReplicaRebuilding', message };
  }
  return (
    blocked(volume) ??
    unused(view) ??
    stopped(view) ??
    paused(view, now) ??
    (conditionOf(conditions, 'Scheduled')?.status === 'False' ? undefined : awaited(view, now))
  );
}

function blocked(volume: Volume): Why | undefined {
  const by = volume.rebuildHold ?? pressingTask(volume)?.kind;
  if (by === undefined) return undefined;
  const { reason, waitingFor } = blockText(by);
  return { reason, message: `missing copies are not rebuilt: ${waitingFor}` };
}

function unused({ volume, fleet }: VolumeView): Why | undefined {
  const isRebuiltOffline = effectiveValue(volume.spec, fleet.settings, 'offlineRebuilding') === 'enabled';
  if (volume.lifecycle.state !== 'detached' || isRebuiltOffline) return undefined;
  const message = `missing copies are rebuilt while it is attached, or also now with ${quotedTitle('offlineRebuilding')} enabled`;
  return { reason: 'VolumeDetached', message };
}

function stopped({ fleet }: VolumeView): Why | undefined {
  const stop = rebuildsStoppedBy(fleet.settings);
  return stop === undefined ? undefined : { reason: stop.reason, message: stop.message };
}

function paused({ rebuilds }: VolumeView, now: Date): Why | undefined {
  const pause = rebuildPause(rebuilds, now);
  if (pause === undefined) return undefined;
  const happened = pause.after === 'cancelled' ? 'was cancelled' : 'failed';
  const message = `the last rebuild ${happened}: the next one begins at ${clockText(pause.until)}`;
  return { reason: pause.after === 'cancelled' ? 'RebuildCancelled' : 'RebuildFailed', message };
}

/** Copies on unreachable nodes may return, which is cheaper than new ones; a maintenance window promises that. */
function awaited({ volume, replicas, fleet }: VolumeView, now: Date): Why | undefined {
  const facts = returnFacts(replicas, fleet);
  const isAway = (replica: Replica) => volume.lifecycle.state === 'detached' && isHealthy(replica);
  const held = replicas
    .filter((replica) => isPotentiallyReusable(replica) || isAway(replica))
    .map((replica) => ({
      replica,
      until: isAway(replica) ? awayUntil(replica, { replicas, fleet }) : placeHeldUntil(replica, facts),
    }))
    .filter(({ until }) => until !== undefined && until.getTime() > now.getTime())
    .sort((a, b) => (a.until?.getTime() ?? 0) - (b.until?.getTime() ?? 0))[0];
  if (held?.until === undefined) return undefined;
  const where = nodeName(fleet, held.replica.nodeId);
  const until = clockText(held.until);
  if (windowOfReturn(held.replica, facts)?.until.getTime() === held.until.getTime()) {
    const message = `node ${where} is in maintenance until ${until}: no new copy is built for the one on it`;
    return { reason: 'NodeMaintenance', message };
  }
  const message = `the copy on ${where} may come back: no new one is built until ${until}`;
  return { reason: 'CopyMayReturn', message };
}

/** To the second; the date too, since waits may be set to days. */
function clockText(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function copyCount(count: number): string {
  return count === 1 ? '1 copy' : `${count} copies`;
}
