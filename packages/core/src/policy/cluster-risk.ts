/**
 * Risk of a cluster at one look: which volumes are not healthy, by what cause, and whether work under way ends that without a user.
 *
 * One cause often has many effects: a node that does not answer leaves a thousand volumes unknown. Each volume counts once, for the
 * first cause that fits: the node that serves it, a node or a disk that holds one of its copies, a copy without a place, else the
 * copies themselves.
 */
import { compareIds, type DiskId, type NodeId, type VolumeId } from '../model/ids.js';
import type { RebuildStop } from '../model/rebuild-limits.js';
import { robustnessAtRest } from '../model/robustness.js';
import type { Robustness } from '../model/volume.js';

/** A volume that may not be healthy, and what it waits for then. */
export type RiskVolume = {
  readonly id: VolumeId;
  readonly name: string;
  /** As the worker has judged it last: with a silent node's thousands of volumes it may be a minute ago. */
  readonly robustness: Robustness;
  /** Of one that no engine serves and that has copies on silent nodes; `undefined`: of another. */
  readonly atRest: AtRest | undefined;
  /** Code of what a user has to decide; `undefined`: nothing. */
  readonly attention: string | undefined;
  readonly holderId: NodeId | undefined;
  /** Of its copies, in any order, and one as often as it holds a copy. */
  readonly nodeIds: readonly NodeId[];
  readonly diskIds: readonly DiskId[];
  readonly isUnplaced: boolean;
  /** Its first copies are being made, or it is being filled: it has never been whole, so that nothing of it is missing. */
  readonly isBeingMade: boolean;
  /** Of its rebuilds that have not ended, the one that is nearest to helping. */
  readonly rebuild: 'running' | 'queued' | 'paused' | undefined;
  /** Its rebuilds are held back, by a user or by a failed check. */
  readonly isHeld: boolean;
  /** Code of why no rebuild of it is queued; `undefined`: one is, or none is needed. */
  readonly waitingReason: string | undefined;
};

/** Full copies on nodes that answer, and copies that the volume is to have. */
type AtRest = { readonly reachable: number; readonly wanted: number };

/** One that is not healthy, as it is shown. */
type TroubledVolume = RiskVolume & { readonly robustness: Exclude<Robustness, 'healthy'> };

/** A node or a disk that is not as it should be. */
export type RiskPlace<Id> = { readonly id: Id; readonly name: string; readonly since: Date | undefined };

export type RiskFacts = {
  /** All volumes of the cluster, the healthy ones too. */
  readonly volumesTotal: number;
  /** All that were not healthy when judged last, and all that silent nodes serve or hold copies of. */
  readonly volumes: readonly RiskVolume[];
  /** Further such volumes, of which nothing else was read: so many that a cause more tells nothing. */
  readonly unread: number;
  /** Nodes whose agents do not answer. */
  readonly silentNodes: readonly RiskPlace<NodeId>[];
  /** Disks that can't be used although their nodes answer. */
  readonly failedDisks: readonly RiskPlace<DiskId>[];
  /** A setting lets no rebuild of the cluster start. */
  readonly rebuildStop: RebuildStop | undefined;
};

export type RiskCounts = Readonly<Record<'notServed' | Exclude<Robustness, 'healthy'>, number>>;

export const RISK_CAUSES = ['node', 'disk', 'placement', 'copies'] as const;
export type RiskCauseKind = (typeof RISK_CAUSES)[number];

export type RiskCause = {
  readonly kind: RiskCauseKind;
  /** Id of the node or disk; `undefined`: the cause is no single object. */
  readonly subjectId: string | undefined;
  readonly name: string | undefined;
  readonly since: Date | undefined;
  readonly effects: RiskCounts;
  /** The worst of its volumes first. */
  readonly examples: readonly Pick<TroubledVolume, 'id' | 'name' | 'robustness'>[];
};

/** What the volumes that are not healthy wait for. Each counts once, for the first that fits. */
export type RiskWaits = {
  /** A user has to act: nothing else ends it. */
  readonly user: number;
  /** A user has paused it, holds it, or lets no rebuild start by a setting. */
  readonly paused: number;
  readonly running: number;
  readonly queued: number;
  /** For a place, a return or a time: its own conditions say which. */
  readonly other: number;
};

export type ClusterRisk = {
  readonly volumes: RiskCounts & {
    readonly total: number;
    readonly healthy: number;
    readonly creating: number;
  };
  /** `safe`: every volume is healthy. `working`: rebuilds that run or are queued end it. `stuck`: for some volume none will. */
  readonly verdict: 'safe' | 'working' | 'stuck';
  readonly waits: RiskWaits;
  readonly causes: readonly RiskCause[];
};

/** As many as a panel names; the list of volumes has the rest. */
const EXAMPLES_MAX = 5;
const WORST_FIRST = ['faulted', 'unknown', 'degraded'] as const;

export function clusterRisk(facts: RiskFacts): ClusterRisk {
  const { volumesTotal, unread } = facts;
  const silent = new Set(facts.silentNodes.map(({ id }) => id));
  const judged = facts.volumes.filter((volume) => !isOnlyBeingMade(volume, silent));
  const volumes = judged.flatMap((volume) => troubled(volume, silent));
  const creating = facts.volumes.length - judged.length;
  const listed = waitsOf(volumes, facts);
  const waits = { ...listed, other: listed.other + unread };
  const counts = countsOf(volumes, facts);
  const notHealthy = volumes.length + unread;
  const stuck = waits.user + waits.paused + waits.other;
  return {
    volumes: {
      total: volumesTotal,
      healthy: volumesTotal - notHealthy - creating,
      creating,
      ...counts,
      unknown: counts.unknown + unread,
    },
    verdict: notHealthy === 0 ? 'safe' : stuck === 0 ? 'working' : 'stuck',
    waits,
    causes: causesOf(volumes, facts),
  };
}

/** It becomes whole without a user: all of its places are there, and their nodes answer. */
function isOnlyBeingMade(volume: RiskVolume, silent: ReadonlySet<NodeId>): boolean {
  const { isBeingMade, isUnplaced, robustness, nodeIds } = volume;
  return isBeingMade && !isUnplaced && robustness === 'unknown' && !nodeIds.some((id) => silent.has(id));
}

/** What follows from a node's silence is told with it, before each volume has been judged. */
function troubled(volume: RiskVolume, silent: ReadonlySet<NodeId>): TroubledVolume[] {
  const { robustness, holderId, atRest } = volume;
  const isServedThere = holderId !== undefined && silent.has(holderId);
  const now = robustness === 'healthy' ? robustnessNow(atRest, isServedThere) : robustness;
  return now === 'healthy' ? [] : [{ ...volume, robustness: now }];
}

function robustnessNow(atRest: AtRest | undefined, isServedThere: boolean): Robustness {
  if (isServedThere) return 'unknown';
  return atRest === undefined ? 'healthy' : robustnessAtRest(atRest.reachable, atRest.wanted);
}

function causesOf(troubledVolumes: readonly TroubledVolume[], facts: RiskFacts): RiskCause[] {
  const nodes = facts.silentNodes.map((place) => emptyCause('node', place));
  const disks = facts.failedDisks.map((place) => emptyCause('disk', place));
  const others = [emptyCause('placement'), emptyCause('copies')];
  const causes = [...nodes, ...disks, ...others].map((cause) => ({ cause, volumes: [] as TroubledVolume[] }));
  const byKey = new Map(causes.map((one) => [keyOf(one.cause.kind, one.cause.subjectId), one]));
  for (const volume of troubledVolumes) byKey.get(causeKey(volume, byKey))?.volumes.push(volume);
  return causes
    .map(({ cause, volumes }) => withEffects(cause, volumes, facts))
    .filter(({ kind, effects }) => kind === 'node' || kind === 'disk' || sumOf(effects) > 0)
    .sort(compareCauses);
}

type Place = RiskPlace<string>;

function emptyCause(kind: RiskCauseKind, place?: Place): RiskCause {
  const effects = { notServed: 0, faulted: 0, unknown: 0, degraded: 0 };
  return { kind, subjectId: place?.id, name: place?.name, since: place?.since, effects, examples: [] };
}

function keyOf(kind: RiskCauseKind, id: string | undefined): string {
  return id === undefined ? kind : `${kind} ${id}`;
}

function causeKey(volume: TroubledVolume, known: ReadonlyMap<string, unknown>): string {
  const { holderId, nodeIds, diskIds, isUnplaced } = volume;
  const places = [
    ...(holderId === undefined ? [] : [keyOf('node', holderId)]),
    ...[...nodeIds].sort(compareIds).map((id) => keyOf('node', id)),
    ...[...diskIds].sort(compareIds).map((id) => keyOf('disk', id)),
  ];
  return places.find((key) => known.has(key)) ?? (isUnplaced ? 'placement' : 'copies');
}

function withEffects(cause: RiskCause, volumes: readonly TroubledVolume[], facts: RiskFacts): RiskCause {
  const worst = [...volumes].sort(compareVolumes).slice(0, EXAMPLES_MAX);
  return {
    ...cause,
    effects: countsOf(volumes, facts),
    examples: worst.map(({ id, name, robustness }) => ({ id, name, robustness })),
  };
}

/** A volume whose serving node is silent counts as not served, whatever is known of its copies. */
function countsOf(volumes: readonly TroubledVolume[], { silentNodes }: RiskFacts): RiskCounts {
  const silent = new Set(silentNodes.map(({ id }) => id));
  const counts = { notServed: 0, faulted: 0, unknown: 0, degraded: 0 };
  for (const { holderId, robustness } of volumes) {
    if (holderId !== undefined && silent.has(holderId)) counts.notServed += 1;
    else counts[robustness] += 1;
  }
  return counts;
}

function waitsOf(volumes: readonly TroubledVolume[], facts: RiskFacts): RiskWaits {
  const waits = { user: 0, paused: 0, running: 0, queued: 0, other: 0 };
  for (const volume of volumes) waits[waitOf(volume, facts)] += 1;
  return waits;
}

function waitOf(volume: TroubledVolume, { rebuildStop }: RiskFacts): keyof RiskWaits {
  const { attention, robustness, rebuild, isHeld, waitingReason } = volume;
  if (attention !== undefined || robustness === 'faulted') return 'user';
  if (isHeld || rebuild === 'paused') return 'paused';
  const isToStart = rebuild === 'queued' || waitingReason === rebuildStop?.reason;
  if (rebuildStop !== undefined && isToStart) return 'paused';
  return rebuild ?? 'other';
}

function compareVolumes(a: TroubledVolume, b: TroubledVolume): number {
  return (
    WORST_FIRST.indexOf(a.robustness) - WORST_FIRST.indexOf(b.robustness) ||
    a.name.localeCompare(b.name, 'en', { numeric: true }) ||
    compareIds(a.id, b.id)
  );
}

/** What costs most first; of equal ones by kind, then by name. */
function compareCauses(a: RiskCause, b: RiskCause): number {
  const weight = ({ effects }: RiskCause) => [effects.notServed + effects.faulted, sumOf(effects)] as const;
  const [worstA, allA] = weight(a);
  const [worstB, allB] = weight(b);
  return (
    worstB - worstA ||
    allB - allA ||
    RISK_CAUSES.indexOf(a.kind) - RISK_CAUSES.indexOf(b.kind) ||
    (a.name ?? '').localeCompare(b.name ?? '', 'en', { numeric: true })
  );
}

function sumOf({ notServed, faulted, unknown, degraded }: RiskCounts): number {
  return notServed + faulted + unknown + degraded;
}
