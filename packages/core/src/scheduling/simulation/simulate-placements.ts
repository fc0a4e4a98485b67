/**
 * Answers a what-if: see `simulation.ts` for the question and the order of events. Pure: it works on a copy of the
 * fleet, with the rules that place replicas.
 */

import { StorageFault } from '../../model/faults.js';
import type { NodeId, VolumeId } from '../../model/ids.js';
import type { Replica } from '../../model/replica.js';
import type { FleetView } from '../../model/views.js';
import { assertFleetConsistent } from '../placement/fleet-consistency.js';
import { changedFleet, lostPlaces } from './changed-fleet.js';
import { assertBounds, specsOf } from './check-request.js';
import { nodeFills, zoneFills } from './fill.js';
import { moveDrained } from './move-drained.js';
import { countMore, placeShape } from './place-shape.js';
import { restoreExisting } from './restore-existing.js';
import {
  EXISTING_VOLUMES_MAX,
  type ExistingResult,
  type ShapeResult,
  type SimulationRequest,
  type SimulationResult,
  type SimulationView,
} from './simulation.js';
import { WorkingFleet } from './working-fleet.js';

/**
 * @throws StorageFault `request.invalid` that points at what is wrong in the request, `fleet.inconsistent` when the
 * view itself is broken
 */
export function simulatePlacements(
  request: SimulationRequest,
  view: SimulationView,
  now: Date,
): SimulationResult {
  assertBounds(request);
  assertFleetConsistent(view.fleet);
  const lost = lostPlaces(request, view.fleet);
  const changed = changedFleet(request, view.fleet, lost, now);
  const specs = specsOf(request, changed.settings);
  assertFewEnough(view);

  const fleet = new WorkingFleet(changed, now);
  const restored = new Map<VolumeId, readonly Replica[]>();
  const existing = restoreExisting(fleet, view.volumes, lost, restored);
  moveDrained(fleet, view.volumes, newlyDrained(view.fleet, changed), restored);
  const placed = specs.map((spec, shape) =>
    placeShape(fleet, shape, spec, request.volumes?.[shape]?.count ?? 0),
  );
  const zones = zoneFills(view.fleet, fleet.view);
  const nodes = nodeFills(view.fleet, fleet.view);
  const shapes = placed.map((result, shape): ShapeResult => {
    const spec = specs[shape];
    const isAsked = request.howManyMore === true && spec !== undefined;
    return { ...result, howManyMore: isAsked ? countMore(fleet, spec) : null };
  });

  return {
    sentence: sentenceOf(shapes, existing, lost.nodeIds.size + lost.diskIds.size > 0),
    allFit: shapes.every(({ fit, asked }) => fit === asked) && isIntact(existing),
    shapes,
    existing,
    zones,
    nodes,
    lost: { nodes: lost.nodeIds.size, disks: lost.diskIds.size },
  };
}

function newlyDrained(before: FleetView, after: FleetView): Set<NodeId> {
  const drains = new Map(before.nodes.map(({ id, drain }) => [id, drain]));
  return new Set(after.nodes.filter(({ id, drain }) => drain !== drains.get(id)).map(({ id }) => id));
}

/** For a viewer who may see some volumes only: the others take part, and nothing about them is told. */
export function showingOnly(view: SimulationView, maySee: (id: VolumeId) => boolean): SimulationView {
  const volumes = view.volumes.map((existing) => ({ ...existing, isVisible: maySee(existing.volume.id) }));
  return { ...view, volumes };
}

function assertFewEnough({ volumes }: SimulationView): void {
  if (volumes.length <= EXISTING_VOLUMES_MAX) return;
  throw new StorageFault('request.invalid', {
    publicMessage: `the losses hit more than ${EXISTING_VOLUMES_MAX} volumes; lose fewer places at once`,
  });
}

function isIntact({ replicasStranded, volumesLost }: ExistingResult): boolean {
  return replicasStranded === 0 && volumesLost === 0;
}

/** What is asked and what is lost. What becomes of volumes then is the forecast's to say: it alone knows who waits for whom. */
function sentenceOf(
  shapes: readonly ShapeResult[],
  existing: ExistingResult,
  isSomethingLost: boolean,
): string {
  const parts: string[] = [];
  const asked = shapes.reduce((sum, shape) => sum + shape.asked, 0);
  const fit = shapes.reduce((sum, shape) => sum + shape.fit, 0);
  if (asked > 0) parts.push(sentenceOfNew(fit, asked));
  if (existing.replicasLost > 0) parts.push(sentenceOfLosses(existing));
  if (parts.length === 0)
    return isSomethingLost
      ? 'What is lost holds no copy in use.'
      : 'Nothing was asked to be placed, and nothing is lost.';
  const sentence = parts.join('; ');
  return `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}.`;
}

function sentenceOfNew(fit: number, asked: number): string {
  if (asked === 1) return fit === 1 ? 'the new volume fits' : 'the new volume does not fit';
  return fit === asked ? `all ${asked} new volumes fit` : `${fit} of ${asked} new volumes fit`;
}

function sentenceOfLosses({ volumesHit, replicasLost }: ExistingResult): string {
  const volumes = `${counted(volumesHit, 'existing volume')} ${verb(volumesHit, 'lose')}`;
  return `${volumes} ${counted(replicasLost, 'replica')}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function verb(count: number, plural: string): string {
  return count === 1 ? `${plural}s` : plural;
}
