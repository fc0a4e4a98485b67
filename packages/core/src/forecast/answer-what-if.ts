/**
 * Answer to a what-if: what would fit where, and the effect on existing volumes. Pure: a thread of its own can compute it from plain
 * data.
 */
import { isEvictingPolicy } from '../model/node-drain.js';
import type { RebuildSpeed } from '../model/rebuild.js';
import type { AffectedPlaces, FleetView } from '../model/views.js';
import { changedFleet, type LostPlaces, lostPlaces } from '../scheduling/simulation/changed-fleet.js';
import { simulatePlacements } from '../scheduling/simulation/simulate-placements.js';
import type { SimulationRequest, SimulationResult } from '../scheduling/simulation/simulation.js';
import { type Forecast, forecast } from './forecast.js';
import { sentencesOf } from './forecast-sentences.js';
import { type ForecastVolume, withFailedNodes } from './projection-input.js';

export type WhatIfResult = SimulationResult & { readonly forecast: Forecast };

/** One consistent snapshot of a cluster. `volumes` are those of `Store.loadAffectedVolumes`. */
export type WhatIfView = {
  readonly fleet: FleetView;
  readonly volumes: readonly ForecastVolume[];
  /** Of the last rebuilds. */
  readonly speeds: readonly RebuildSpeed[];
};

const NOTHING_MOVES = 'No copy has to move.';
const NOTHING_LOST: LostPlaces = { nodeIds: new Set(), diskIds: new Set() };

/**
 * @throws StorageFault `request.invalid` that points at the wrong part of the request, `fleet.inconsistent` when the view itself is
 * broken
 */
export function answerWhatIf(request: SimulationRequest, view: WhatIfView, now: Date): WhatIfResult {
  const placed = simulatePlacements(request, view, now);
  const lost = lostPlaces(request, view.fleet);
  const changed = changedFleet(request, view.fleet, NOTHING_LOST, now);
  const scene = { fleet: withFailedNodes(changed, lost, now), volumes: view.volumes };
  const told = forecast(scene, view.fleet, view.speeds, now);
  const hasDrains = (request.drain ?? []).length > 0;
  const parts = [
    ...(hasDrains && placed.existing.replicasLost === 0 && placed.shapes.length === 0
      ? []
      : [placed.sentence]),
    ...sentencesOf(told),
  ];
  return {
    ...placed,
    sentence: parts.length === 0 ? NOTHING_MOVES : parts.join(' '),
    allFit: placed.allFit && !(hasDrains && told.volumesUnschedulable > 0),
    forecast: told,
  };
}

/**
 * Lost or evicted places, by the request or already.
 *
 * @throws StorageFault `request.invalid` that names places which the fleet lacks
 */
export function affectedPlaces(request: SimulationRequest, fleet: FleetView, now: Date): AffectedPlaces {
  const lost = lostPlaces(request, fleet);
  const known = new Set(fleet.nodes.map(({ id }) => id));
  const nodeIds = new Set(lost.nodeIds);
  // By the settings and beside the new nodes of the request: a drain may follow the one, and be refused without the other.
  for (const { id, drain, evictionRequested } of changedFleet(request, fleet, lost, now).nodes) {
    const isEmptied = evictionRequested || (drain !== undefined && isEvictingPolicy(drain.policy));
    if (isEmptied && known.has(id)) nodeIds.add(id);
  }
  const diskIds = fleet.disks
    .filter(({ id, nodeId, evictionRequested }) => {
      return lost.diskIds.has(id) || nodeIds.has(nodeId) || evictionRequested;
    })
    .map(({ id }) => id);
  return { nodeIds: [...nodeIds], diskIds };
}
