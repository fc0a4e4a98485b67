import type { ClusterId } from '@holdfast/core/model/ids.js';
import { lostPlaces } from '@holdfast/core/scheduling/simulation/changed-fleet.js';
import { simulatePlacements } from '@holdfast/core/scheduling/simulation/simulate-placements.js';
import {
  EXISTING_VOLUMES_MAX,
  type SimulationView,
} from '@holdfast/core/scheduling/simulation/simulation.js';
import { findVolumesOn } from '@holdfast/database/queries/volumes.js';
import { loadFleetView } from '@holdfast/database/store/load-views.js';
import { Injectable } from '@nestjs/common';
import type { Tenant } from '../platform/tenant.js';
import { type SimulateBody, simulationRequest, simulationView } from './simulation.schemas.js';

/** What-ifs. They read one consistent state of the cluster, and nothing is written. */
@Injectable()
export class PlacementsService {
  async simulate(tenant: Tenant, clusterId: ClusterId, body: SimulateBody) {
    const request = simulationRequest(body);
    const view = await tenant.read(async (sql): Promise<SimulationView> => {
      const fleet = await loadFleetView(sql, clusterId);
      const lost = lostPlaces(request, fleet);
      // One more than may be, so that core sees that there are too many. Row-level security hides others' volumes:
      // their bookings are in the disks' figures, and that is all of them that counts.
      const found = await findVolumesOn(
        sql,
        { clusterId, diskIds: [...lost.diskIds] },
        EXISTING_VOLUMES_MAX + 1,
      );
      return { fleet, volumes: found.map((existing) => ({ ...existing, isVisible: true })) };
    });
    return simulationView(simulatePlacements(request, view, tenant.now));
  }
}
