/**
 * Admission queue: which waiting work may begin, against limits that count running work.
 *
 * One function for rebuilds and for background tasks. They differ in their limits, and in the effect of waiting work on that behind
 * it: a rebuild blocks nothing that needs other nodes; a background task keeps its place, so that tasks which need fewer nodes can't
 * pass it for ever.
 */
import type { NodeId } from '../model/ids.js';
import type { StorageNode } from '../model/node.js';
import type { ClusterSettings, SettingName } from '../model/setting.js';
import type { RebuildQuota } from '../model/views.js';
import { quotaText } from './rebuild-quotas.js';
import type { Waiting } from './waiting.js';

/** A place that work takes while it runs: one of a node's, one of the cluster's, or one of a quota of its volume's owner. */
export type Demand =
  | { readonly limit: LimitName; readonly nodeId: NodeId | undefined }
  | { readonly limit: 'quota'; readonly quota: RebuildQuota };

export type QueuedWork<Key> = {
  readonly key: Key;
  readonly demands: readonly Demand[];
  /** Why it may not begin whatever runs; `undefined`: nothing. */
  readonly obstacle: Waiting | undefined;
  /** While it waits, no work behind it takes a place that it waits for. */
  readonly keepsItsPlace: boolean;
};

export type Line<Key> = {
  readonly admitted: readonly Key[];
  /** In the order of the line. */
  readonly waiting: readonly { readonly key: Key; readonly why: Waiting }[];
};

type Limit = {
  readonly setting: SettingName & keyof ClusterSettings;
  readonly reason: Waiting['reason'];
  /** Words for running work of the limit, for one and for several. */
  readonly runs: readonly [one: string, several: string];
  readonly verb: string;
  /** Does 0 mean that there is no limit? Else 0 stops all that is new. */
  readonly zeroIsUnlimited: boolean;
};

const REBUILDS = { runs: ['1 rebuild', 'rebuilds'], zeroIsUnlimited: false } as const;

const LIMITS = {
  cluster: {
    ...REBUILDS,
    setting: 'concurrent-rebuild-per-cluster-limit',
    reason: 'ClusterLimit',
    verb: 'runs',
  },
  target: {
    ...REBUILDS,
    setting: 'concurrent-replica-rebuild-per-node-limit',
    reason: 'TargetNodeLimit',
    verb: 'receives',
  },
  source: {
    ...REBUILDS,
    setting: 'concurrent-rebuild-source-per-node-limit',
    reason: 'SourceNodeLimit',
    verb: 'sends',
  },
  tasks: {
    runs: ['1 purge, filling or check', 'purges, fillings and checks'],
    zeroIsUnlimited: true,
    setting: 'snapshot-heavy-task-concurrent-limit',
    reason: 'TaskLimit',
    verb: 'runs',
  },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof LIMITS;

/** Running work, by limit and node; grows as work is admitted. */
export class AdmissionLoad {
  private readonly counts = new Map<string, number>();
  private readonly kept = new Set<string>();

  constructor(
    private readonly settings: ClusterSettings,
    private readonly nodes: readonly Pick<StorageNode, 'id' | 'name'>[],
  ) {}

  add(demands: readonly Demand[]): void {
    for (const demand of demands) this.counts.set(keyOf(demand), this.count(demand) + 1);
  }

  /** Removes what was added. */
  remove(demands: readonly Demand[]): void {
    for (const demand of demands) this.counts.set(keyOf(demand), this.count(demand) - 1);
  }

  /** Keeps the places for work that waits. */
  keep(demands: readonly Demand[]): void {
    for (const demand of demands) this.kept.add(keyOf(demand));
  }

  /** Why the first of the places that is not free is not; `undefined`: all are. */
  obstacleFor(demands: readonly Demand[]): Waiting | undefined {
    const missing = demands.find((demand) => !this.isFree(demand));
    return missing === undefined ? undefined : this.told(missing);
  }

  isFree(demand: Demand): boolean {
    const most = this.mostOf(demand);
    return most === undefined || (this.count(demand) < most && !this.kept.has(keyOf(demand)));
  }

  /** `undefined`: as much as there is. */
  private mostOf(demand: Demand): number | undefined {
    if (demand.limit === 'quota') return demand.quota.most - demand.quota.elsewhere;
    const limit: Limit = LIMITS[demand.limit];
    const most = Number(this.settings[limit.setting]);
    return most === 0 && limit.zeroIsUnlimited ? undefined : most;
  }

  private told(demand: Demand): Waiting {
    if (demand.limit === 'quota') return quotaText(demand.quota, this.count(demand));
    const { setting, reason, runs, verb }: Limit = LIMITS[demand.limit];
    const most = Number(this.settings[setting]);
    if (most === 0) return { reason, waitingFor: `no ${runs[0].slice(2)} may start: ${setting} is 0` };
    const count = this.count(demand);
    const where = this.nameOf(demand.nodeId);
    if (count < most)
      return { reason, waitingFor: `${where} has its next place kept for one that waits longer` };
    const what = count === 1 ? runs[0] : `${count} ${runs[1]}`;
    return { reason, waitingFor: `${where} ${verb} ${what} (${setting} is ${most})` };
  }

  private count(demand: Demand): number {
    return this.counts.get(keyOf(demand)) ?? 0;
  }

  private nameOf(nodeId: NodeId | undefined): string {
    if (nodeId === undefined) return 'the cluster';
    return this.nodes.find(({ id }) => id === nodeId)?.name ?? nodeId;
  }
}

export function keyOf(demand: Demand): string {
  return `${demand.limit} ${demand.limit === 'quota' ? demand.quota.id : (demand.nodeId ?? '')}`;
}

/** @param load grows by the admitted work */
export function admitInLine<Key>(line: readonly QueuedWork<Key>[], load: AdmissionLoad): Line<Key> {
  const admitted: Key[] = [];
  const waiting: { key: Key; why: Waiting }[] = [];
  for (const { key, demands, obstacle, keepsItsPlace } of line) {
    const why = obstacle ?? load.obstacleFor(demands);
    if (why === undefined) {
      load.add(demands);
      admitted.push(key);
    } else {
      if (keepsItsPlace) load.keep(demands);
      waiting.push({ key, why });
    }
  }
  return { admitted, waiting };
}
