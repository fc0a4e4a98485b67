/**
 * Forecast: the state of a cluster's volumes after a change, and the time until every possible copy is built.
 *
 * Runs the projection at three speeds: volumes are those of the middle one, and the times give the range. Lists are bounded: they
 * travel in one answer, and a user reads the worst first.
 */
import { fleetLookup } from '../lifecycle/node-volumes.js';
import { Bug } from '../model/faults.js';
import { compareIds, type VolumeId } from '../model/ids.js';
import type { RebuildSpeed } from '../model/rebuild.js';
import { isHealthy } from '../model/replica.js';
import type { FleetView } from '../model/views.js';
import type { PlacementExplanation } from '../scheduling/explanation/explanation.js';
import type { Shown } from '../scheduling/simulation/simulation.js';
import { rangeOf, type TimeEstimate } from './pace.js';
import { type Projection, project } from './project.js';
import { copiesOf, nowOf, type ProjectedVolume, type VolumeEnd } from './projected-volume.js';
import type { ProjectionInput } from './projection-input.js';

/** Volumes listed, the worst first. */
export const FORECAST_SHOWN_MAX = 200;
/** Volumes without a place whose reason is worked out: each costs a walk through the fleet by every rule. */
const EXPLAINED_MAX = 50;

export type ForecastedVolume = {
  readonly volumeId: VolumeId;
  readonly volumeName: string;
  /** Its final state. */
  readonly end: VolumeEnd['kind'];
  /** Reason why it does not get all its copies; null when it does. */
  readonly why: string | null;
  readonly copiesWanted: number;
  /** Full copies that can be read: before the change, the fewest after it, and in the end. */
  readonly copiesNow: number;
  readonly copiesAtLowest: number;
  readonly copiesAtEnd: number;
  readonly bytesToMove: number;
};

/** The numbers count every volume of the scene; lists and their totals hold only those that the viewer may see. */
export type Forecast = {
  /** Until the last copy that can be built is built; null: none is built. */
  readonly time: TimeEstimate | null;
  readonly rebuilds: number;
  readonly bytesToMove: number;
  /** Volumes without a full copy. */
  readonly volumesLost: number;
  /** Volumes that have fewer copies than they want at some time, the lost ones left out. */
  readonly volumesDegraded: number;
  /** Volumes that lack a copy in the end, since no disk takes it. */
  readonly volumesUnschedulable: number;
  /** Volumes that lack a copy in the end, and wait for a user or for a node. */
  readonly volumesWaiting: number;
  /** The fewest full copies of any volume, and how many volumes have so few; null: there is no volume. */
  readonly lowWater: { readonly copies: number; readonly volumes: number } | null;
  /** The worst first. */
  readonly volumes: Shown<ForecastedVolume>;
  /** Of the first volume that has no place for a copy, with what would help; null: all have. */
  readonly firstUnschedulable: PlacementExplanation | null;
  /** True: a bound ended the forecast. It takes longer, and counts may be higher. */
  readonly isCut: boolean;
};

export function forecast(
  scene: ProjectionInput,
  before: FleetView,
  speeds: readonly RebuildSpeed[],
  now: Date,
): Forecast {
  const runs: Projection[] = [];
  const time = rangeOf(speeds, (pace) => {
    const run = project(scene, pace, now);
    runs.push(run);
    return run.endSeconds;
  });
  const likely = runs[1];
  if (likely === undefined) throw new Bug('a forecast has no run at the middle pace');
  return { time: time ?? null, ...told(likely, before), isCut: runs.some(({ isCut }) => isCut) };
}

function told(run: Projection, before: FleetView): Omit<Forecast, 'time' | 'isCut'> {
  const { projection, volumes, rebuilds } = run;
  const present = { lookup: fleetLookup(before) };
  const ends = (kind: VolumeEnd['kind']) => volumes.filter(({ end }) => end?.kind === kind).length;
  const lowest = volumes.map(({ copiesAtLowest }) => copiesAtLowest);
  const copies = lowest.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
  const visible = volumes.filter(({ given }) => given.isVisible).sort(byTrouble);
  const reasons = reasonsOf(visible, run);
  return {
    rebuilds,
    bytesToMove: volumes.reduce((sum, { bytes }) => sum + bytes, 0),
    volumesLost: ends('lost'),
    volumesDegraded: volumes.filter((one) => isDegraded(one) && one.end?.kind !== 'lost').length,
    volumesUnschedulable: ends('unschedulable'),
    volumesWaiting: ends('waiting'),
    lowWater:
      volumes.length === 0 ? null : { copies, volumes: lowest.filter((one) => one === copies).length },
    volumes: {
      total: visible.length,
      shown: visible.slice(0, FORECAST_SHOWN_MAX).map((projected) => ({
        volumeId: projected.volume.id,
        volumeName: projected.volume.name,
        end: projected.end?.kind ?? 'full',
        why: reasons.of(projected),
        copiesWanted: projected.volume.spec.numberOfReplicas,
        copiesNow: copiesOf({ ...projected, replicas: projected.given.replicas }, present).length,
        copiesAtLowest: projected.copiesAtLowest,
        copiesAtEnd: copiesOf(projected, projection).length,
        bytesToMove: projected.bytes,
      })),
    },
    firstUnschedulable: reasons.first,
  };
}

function isDegraded({ copiesAtLowest, volume }: ProjectedVolume): boolean {
  return copiesAtLowest < volume.spec.numberOfReplicas;
}

const TROUBLE: readonly VolumeEnd['kind'][] = ['lost', 'unschedulable', 'waiting', 'full'];

/** First by the final state, then by the fewest copies. */
function byTrouble(a: ProjectedVolume, b: ProjectedVolume): number {
  const rank = ({ end }: ProjectedVolume) => TROUBLE.indexOf(end?.kind ?? 'full');
  return rank(a) - rank(b) || a.copiesAtLowest - b.copiesAtLowest || compareIds(a.volume.id, b.volume.id);
}

function reasonsOf(volumes: readonly ProjectedVolume[], { projection }: Projection) {
  const sentences = new Map<ProjectedVolume, string>();
  let first: PlacementExplanation | null = null;
  for (const projected of volumes
    .filter(({ end }) => end?.kind === 'unschedulable')
    .slice(0, EXPLAINED_MAX)) {
    const { volume, replicas } = projected;
    const kept = replicas.filter((replica) => isHealthy(replica) || replica.failedAt !== undefined);
    // One search for cures shows the missing part; the others would mostly repeat it.
    const cures = first === null ? 'searched' : 'left-out';
    const explanation = projection.fleet.explain(volume, kept, cures, nowOf(projection));
    first ??= explanation;
    sentences.set(projected, explanation.sentence);
  }
  const of = (projected: ProjectedVolume): string | null => {
    switch (projected.end?.kind) {
      case 'lost':
        return 'no full copy of it is left';
      case 'waiting':
        return projected.end.why;
      case 'unschedulable':
        return sentences.get(projected) ?? 'a copy of it fits nowhere';
      default:
        return null;
    }
  };
  return { of, first };
}
