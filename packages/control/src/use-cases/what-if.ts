/** What-ifs: the effect on a cluster's volumes of a change that no user has made. Nothing is written. */
import { affectedPlaces, type WhatIfView } from '@holdfast/core/forecast/answer-what-if.js';
import { SPEEDS_MAX } from '@holdfast/core/forecast/pace.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import {
  EXISTING_VOLUMES_MAX,
  type SimulationRequest,
} from '@holdfast/core/scheduling/simulation/simulation.js';
import type { UseCasePorts } from './use-case.js';

/**
 * Everything that the answer is worked out from. One volume more than may be, so that core sees that there are too many.
 *
 * @throws StorageFault `request.invalid` that names what the fleet does not have
 */
export async function loadWhatIf(
  { store, clock }: Pick<UseCasePorts, 'store' | 'clock'>,
  clusterId: ClusterId,
  request: SimulationRequest,
): Promise<WhatIfView> {
  const places = affectedPlaces(request, await store.loadFleet(clusterId), clock.now());
  const { fleet, volumes } = await store.loadAffectedVolumes(clusterId, places, EXISTING_VOLUMES_MAX + 1);
  const speeds = await store.loadRebuildSpeeds(clusterId, SPEEDS_MAX);
  return { fleet, speeds, volumes: volumes.map((volume) => ({ ...volume, isVisible: true })) };
}
