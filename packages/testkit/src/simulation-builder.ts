/** What-ifs for tests, on a small cluster that reads well. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { type FaultItem, isFault } from '@holdfast/core/model/faults.js';
import { asId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { VolumeSpec } from '@holdfast/core/model/volume.js';
import { DETACHED } from '@holdfast/core/model/volume-lifecycle.js';
import { simulatePlacements } from '@holdfast/core/scheduling/simulation/simulate-placements.js';
import type {
  ExistingVolume,
  SimulationRequest,
  SimulationView,
} from '@holdfast/core/scheduling/simulation/simulation.js';
import { A_SPEC, NOON } from './builders.js';
import { aFleet, type NodePart } from './fleet-builder.js';

export const TEN = { bytes: 10 * GIB };
/** Three zones of one node each, with one disk of 10 GiB. */
export const THREE = {
  a: { zone: 'east', disks: { 'a-d': TEN } },
  b: { zone: 'west', disks: { 'b-d': TEN } },
  c: { zone: 'north', disks: { 'c-d': TEN } },
};
/** Two copies of 4 GiB. */
export const SHAPE = { sizeBytes: 4 * GIB, numberOfReplicas: 2 };

export function aSimulationView(
  nodes: Record<string, NodePart>,
  volumes: ExistingVolume[] = [],
): SimulationView {
  return { fleet: aFleet(nodes), volumes };
}

export function anExisting(
  name: string,
  replicas: Replica[],
  spec: Partial<VolumeSpec> = {},
  writtenBytes = 0,
): ExistingVolume {
  const volume = {
    id: asId<VolumeId>(name),
    name,
    spec: { ...A_SPEC, sizeBytes: 4 * GIB, ...spec },
    writtenBytes,
    lifecycle: DETACHED,
  };
  return { volume, replicas, isVisible: true };
}

export function simulate(request: SimulationRequest, given: SimulationView) {
  return simulatePlacements(request, given, NOON);
}

/** Message of a refused request; `undefined` when it is not refused. */
export function faultOf(act: () => unknown): readonly FaultItem[] | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (!isFault(error, 'request.invalid')) throw error;
    return error.details.errors;
  }
}
