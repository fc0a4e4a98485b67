/** Risk: which volumes are lost with which node, zone or disk, how likely each is lost in a year, and what would halve that. */

import { MIB } from '@holdfast/core/model/bytes.js';
import {
  failuresPerHour,
  HOURS_PER_YEAR,
  lossPerYear,
  lossWithNodes,
  meanHoursToLoss,
} from '@holdfast/core/policy/durability.js';
import type { LonghornReplica, LonghornVolume } from '../model.js';
import { type ClusterIndex, grouped, isHealthyReplica } from './cluster-index.js';
import type { RiskReport } from './report.js';

/** Share of disks that fail in a year: hard disks of a large operator, 2024. */
export const ANNUAL_FAILURE_RATE = 0.0157;
/** What a rebuild copies in a second, where none was measured. */
export const REBUILD_BYTES_PER_SECOND = 100 * MIB;
/** Until Longhorn has noticed that a replica is gone. */
const DETECTION_SECONDS = 30;
const LISTED_MAX = 20;

type Rated = {
  readonly volume: LonghornVolume;
  readonly healthy: readonly LonghornReplica[];
  readonly repairHours: number;
  readonly meanHours: number;
};

export function riskOf(index: ClusterIndex): RiskReport {
  const { cluster } = index;
  const waitSeconds = Number(cluster.settings.get('replica-replenishment-wait-interval')?.v1 ?? '600') || 600;
  const disk = failuresPerHour(ANNUAL_FAILURE_RATE);
  const rated = cluster.volumes
    .filter(({ isDeleting, isSharded }) => !isDeleting && !isSharded)
    .map((volume) => rate(volume, index, waitSeconds, disk))
    .filter(({ healthy }) => healthy.length > 0);
  const zoneOf = (node: string) => index.nodes.get(node)?.zone ?? '';
  const worst = [...rated].sort(
    (a, b) => a.meanHours - b.meanHours || (a.volume.name < b.volume.name ? -1 : 1),
  );
  return {
    assumptions: [
      `${(ANNUAL_FAILURE_RATE * 100).toFixed(2)} % of disks fail in a year, each on its own; what fails together is counted by node, zone and disk`,
      `a lost replica is full again after ${DETECTION_SECONDS} s, the wait of ${waitSeconds} s and a copy at ${REBUILD_BYTES_PER_SECOND / MIB} MiB/s`,
      'a volume counts with the replicas that are healthy now; backups are not counted',
    ],
    lostWith: {
      nodes: lostWith(rated, ({ nodeName }) => nodeName),
      zones: lostWith(rated, ({ nodeName }) => zoneOf(nodeName)),
      disks: lostWith(
        rated,
        ({ diskUuid }) => diskUuid,
        (uuid) => diskName(index, uuid),
      ),
    },
    anyLossPerYear: anyLossPerYear(rated),
    bytesLostPerYear: Math.round(
      rated.reduce((sum, { volume, meanHours }) => sum + volume.sizeBytes * lossPerYear(meanHours), 0),
    ),
    nodesLostAtOnce: nodesLostAtOnce(rated, cluster.nodes.length),
    volumes: worst.slice(0, LISTED_MAX).map((one) => ({
      name: one.volume.name,
      healthy: one.healthy.length,
      wanted: one.volume.numberOfReplicas,
      lossPerYear: lossPerYear(one.meanHours),
      halvedBy: halvedBy(one, disk, waitSeconds),
    })),
  };
}

function rate(
  volume: LonghornVolume,
  { replicasOf }: ClusterIndex,
  waitSeconds: number,
  disk: number,
): Rated {
  const healthy = (replicasOf.get(volume.name) ?? []).filter(isHealthyReplica);
  const repairHours = repairHoursOf(volume, waitSeconds);
  const copies = copiesOf(healthy);
  return {
    volume,
    healthy,
    repairHours,
    meanHours: meanHoursToLoss(copies, 0, { failuresPerHour: disk, repairHours }),
  };
}

/** Several replicas of one disk are lost together. */
function copiesOf(healthy: readonly LonghornReplica[]): number {
  return Math.max(1, new Set(healthy.map(({ diskUuid }) => diskUuid)).size);
}

function repairHoursOf({ actualBytes, sizeBytes }: LonghornVolume, waitSeconds: number): number {
  const bytes = actualBytes > 0 ? actualBytes : sizeBytes;
  return (DETECTION_SECONDS + waitSeconds + bytes / REBUILD_BYTES_PER_SECOND) / 3600;
}

/** Volumes whose healthy replicas are all in one place; the place that most are lost with comes first. */
function lostWith(
  rated: readonly Rated[],
  placeOf: (replica: LonghornReplica) => string,
  nameOf = (place: string) => place,
): RiskReport['lostWith']['nodes'] {
  const lost = rated.flatMap(({ volume, healthy }) => {
    const places = new Set(healthy.map(placeOf));
    const [only] = places;
    return places.size === 1 && only !== undefined && only !== ''
      ? [{ place: only, volume: volume.name }]
      : [];
  });
  return [...grouped(lost, ({ place }) => place)]
    .map(([place, volumes]) => ({
      name: nameOf(place),
      count: volumes.length,
      volumes: volumes.slice(0, LISTED_MAX).map(({ volume }) => volume),
    }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}

function diskName({ disks }: ClusterIndex, uuid: string): string {
  const disk = disks.get(uuid);
  return disk === undefined ? uuid : `${disk.nodeName}/${disk.name}`;
}

/** Volumes on the same disks are lost together, so that each set of disks counts once, by its slowest repair. */
function anyLossPerYear(rated: readonly Rated[]): number {
  const sets = grouped(rated, ({ healthy }) =>
    [...new Set(healthy.map(({ diskUuid }) => diskUuid))].sort().join(),
  );
  const perHour = [...sets.values()].reduce(
    (sum, volumes) => sum + 1 / Math.min(...volumes.map(({ meanHours }) => meanHours)),
    0,
  );
  return -Math.expm1(-HOURS_PER_YEAR * perHour);
}

/** The chance of some loss when as many nodes fail at once as volumes have replicas. */
function nodesLostAtOnce(rated: readonly Rated[], nodes: number): RiskReport['nodesLostAtOnce'] {
  const setsOf = grouped(
    rated.map(({ healthy }) => [...new Set(healthy.map(({ nodeName }) => nodeName))].sort()),
    ({ length }) => String(length),
  );
  return [...setsOf]
    .map(([copies, sets]) => {
      const distinct = new Set(sets.map((set) => set.join())).size;
      return {
        nodes: Number(copies),
        sets: distinct,
        lossChance: lossWithNodes(distinct, nodes, Number(copies)),
      };
    })
    .sort((a, b) => a.nodes - b.nodes);
}

/** Changes of one thing, each computed anew; those that halve the chance at least. */
function halvedBy(
  { volume, healthy, repairHours, meanHours }: Rated,
  disk: number,
  waitSeconds: number,
): string[] {
  const copies = copiesOf(healthy);
  const missing = Math.max(0, volume.numberOfReplicas - copies);
  const noticed = DETECTION_SECONDS / 3600;
  const waited = waitSeconds / 3600;
  const means = (count: number, hours = repairHours) =>
    meanHoursToLoss(count, 0, { failuresPerHour: disk, repairHours: hours });
  const changes: { words: string; hours: number; applies: boolean }[] = [
    {
      words: `make the ${missing} missing replica${missing === 1 ? '' : 's'}`,
      hours: means(volume.numberOfReplicas),
      applies: missing > 0,
    },
    { words: 'one replica more', hours: means(copies + 1), applies: missing === 0 },
    {
      words: 'a wait of 0 s before a replacement',
      hours: means(copies, repairHours - waited),
      applies: copies > 1,
    },
    {
      words: 'rebuilds twice as fast',
      hours: means(copies, noticed + waited + (repairHours - noticed - waited) / 2),
      applies: copies > 1,
    },
  ];
  return changes.filter(({ hours, applies }) => applies && hours >= 2 * meanHours).map(({ words }) => words);
}
