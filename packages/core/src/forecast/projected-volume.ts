/** A volume in a projection: its rows as they would be by then, and its reason for waiting. */

import { type FleetLookup, isLeaving } from '../lifecycle/node-volumes.js';
import { conditionOf } from '../model/condition.js';
import type { NodeId, RebuildId } from '../model/ids.js';
import { isNodeReady } from '../model/node.js';
import type { Rebuild } from '../model/rebuild.js';
import { isHealthy, type Replica } from '../model/replica.js';
import type { RepairView } from '../model/views.js';
import { isAwaitingRebuild } from '../model/volume-facts.js';
import type { WorkingFleet } from '../scheduling/simulation/working-fleet.js';
import type { Pace } from './pace.js';
import type { ForecastVolume } from './projection-input.js';
import type { RebuildQueue } from './rebuild-queue.js';

/** Final state of a volume. `waiting`: for a user or for a node; the sentence says for what. */
export type VolumeEnd =
  | { readonly kind: 'full' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'unschedulable' }
  | { readonly kind: 'waiting'; readonly why: string };

export type ProjectedVolume = {
  readonly given: ForecastVolume;
  volume: ForecastVolume['volume'];
  replicas: readonly Replica[];
  rebuild: Rebuild | undefined;
  /** `repairing`: the worker attaches it for its rebuilds, and detaches it afterwards. */
  use: 'idle' | 'served' | 'repairing';
  /** Node on which it occupies a detached move while it is `repairing`. */
  turnOf: NodeId | undefined;
  wakeMs: number | undefined;
  end: VolumeEnd | undefined;
  copiesAtLowest: number;
  bytes: number;
};

/** Shared state of all volumes of a projection. */
export type ProjectionState = {
  readonly fleet: WorkingFleet;
  readonly lookup: FleetLookup;
  readonly line: RebuildQueue;
  readonly pace: Pace;
  readonly startedMs: number;
  nowMs: number;
  /** Rebuilds that were added; numbers their ids. */
  added: number;
  /** A booking has been released since volumes without a place were tried. */
  hasRoomAgain: boolean;
  /** Detached volumes that are being moved, by the node that they leave. */
  readonly turns: Map<NodeId, number>;
  readonly byRebuild: Map<RebuildId, ProjectedVolume>;
};

export function projectedVolume(
  given: ForecastVolume,
  projection: Pick<ProjectionState, 'lookup'>,
): ProjectedVolume {
  const { volume, replicas, rebuilds } = given;
  const projected: ProjectedVolume = {
    given,
    volume,
    replicas,
    rebuild: rebuilds[0],
    use: 'idle',
    turnOf: undefined,
    wakeMs: undefined,
    end: undefined,
    copiesAtLowest: 0,
    bytes: 0,
  };
  projected.copiesAtLowest = copiesOf(projected, projection).length;
  return projected;
}

export function nowOf({ nowMs }: Pick<ProjectionState, 'nowMs'>): Date {
  return new Date(nowMs);
}

/** As the rules of its repair read it. */
export function repairView(
  { volume, replicas, rebuild }: ProjectedVolume,
  { fleet }: ProjectionState,
): RepairView {
  return { volume, replicas, rebuilds: rebuild === undefined ? [] : [rebuild], fleet: fleet.view };
}

/** True on an existing disk and node. */
export function isReachable(
  { nodeId, diskId }: Pick<Replica, 'nodeId' | 'diskId'>,
  { lookup }: Pick<ProjectionState, 'lookup'>,
): boolean {
  const node = lookup.nodeOf(nodeId);
  const disk = lookup.diskOf(diskId);
  const isDiskGone = disk === undefined || conditionOf(disk.conditions, 'Ready')?.status === 'False';
  return node !== undefined && isNodeReady(node) && !isDiskGone;
}

/** Full copies that can be read. */
export function copiesOf(
  { replicas }: ProjectedVolume,
  projection: Pick<ProjectionState, 'lookup'>,
): Replica[] {
  return replicas.filter(
    (replica) => isHealthy(replica) && replica.intent !== 'remove' && isReachable(replica, projection),
  );
}

/** Of these, those that stay: what counts towards the wanted number. */
export function stayingCopies(
  projected: ProjectedVolume,
  { lookup }: Pick<ProjectionState, 'lookup'>,
): Replica[] {
  return copiesOf(projected, { lookup }).filter((replica) => !isLeaving(replica, projected, lookup));
}

export function comingOf(
  { replicas }: ProjectedVolume,
  { lookup }: Pick<ProjectionState, 'lookup'>,
): Replica[] {
  return replicas.filter(
    (replica) => isAwaitingRebuild(replica) && !isLeaving(replica, { replicas }, lookup),
  );
}

export function noteCopies(projected: ProjectedVolume, projection: Pick<ProjectionState, 'lookup'>): void {
  const { length } = copiesOf(projected, projection);
  projected.copiesAtLowest = Math.min(projected.copiesAtLowest, length);
}
