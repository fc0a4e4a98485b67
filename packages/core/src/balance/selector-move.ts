/** Copies that stand where their volume's selectors or topology do not allow a new one: which, why, and where they could go. */
import type { Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { diskById, lastingCopies, nodeById } from '../model/volume-facts.js';
import { diskTagsFilter } from '../scheduling/filters/disk-tags.filter.js';
import { nodeTagsFilter } from '../scheduling/filters/node-tags.filter.js';
import { topologyFilter } from '../scheduling/filters/topology.filter.js';
import {
  beginCycle,
  type PlacementCycle,
  type Preparing,
  type Rejection,
} from '../scheduling/framework/framework.js';
import { placementRequest } from '../scheduling/framework/placement-request.js';
import { HOLDFAST_PROFILE } from '../scheduling/placement/profile.js';
import { placeInstead } from './place-instead.js';
import { type MoveAnswer, placeOf } from './planned-move.js';

export type Misfit = { readonly replica: Replica; readonly rejection: Rejection };

/** Why a new copy would not be placed where this one is, by the labels of node and disk; `undefined`: it would. */
export function placeMismatch(view: VolumeView, replica: Replica): Rejection | undefined {
  const { volume, replicas, fleet } = view;
  // These rules know no time.
  const now = new Date(0);
  const cycle = beginCycle(placementRequest(volume, replicas, fleet), fleet, HOLDFAST_PROFILE, now);
  const node = nodeById(fleet, replica.nodeId);
  const disk = diskById(fleet, replica.diskId);
  return (
    refusalBy(topologyFilter, cycle, node) ??
    refusalBy(nodeTagsFilter, cycle, node) ??
    refusalBy(diskTagsFilter, cycle, disk)
  );
}

function refusalBy<Subject>(
  rule: Preparing<Subject>,
  cycle: PlacementCycle,
  subject: Subject | undefined,
): Rejection | undefined {
  return subject === undefined ? undefined : rule.prepare(cycle)?.(subject);
}

/** In the order of their ids. */
export function misfits(view: VolumeView): Misfit[] {
  return lastingCopies(view).flatMap((replica) => {
    const rejection = placeMismatch(view, replica);
    return rejection === undefined ? [] : [{ replica, rejection }];
  });
}

export function selectorMove(view: VolumeView, now: Date): MoveAnswer {
  if (!view.fleet.settings['replica-relocate-on-selector-change']) return undefined;
  const found = misfits(view);
  for (const { replica, rejection } of found) {
    const from = placeOf(replica);
    const placement = placeInstead(view, replica, {}, now);
    if (from === undefined || placement.kind !== 'placed') continue;
    const to = { nodeId: placement.nodeId, diskId: placement.diskId };
    const gain = `the copy is again where its volume wants it: ${rejection.message}`;
    return { kind: 'move', move: { replica, from, to, reason: 'selector', gain } };
  }
  return found.length === 0 ? undefined : { kind: 'blocked', why: 'no other place matches the selectors' };
}
