/** The limits of running rebuilds that a cluster's settings make. 0 in any of them stops new rebuilds: each needs a place in all. */
import type { WaitingReason } from './rebuild.js';
import type { ClusterSettings } from './setting.js';

/** In the order in which admission checks them. */
const LIMITS = [
  { setting: 'concurrent-rebuild-per-cluster-limit', reason: 'ClusterLimit' },
  { setting: 'concurrent-replica-rebuild-per-node-limit', reason: 'TargetNodeLimit' },
  { setting: 'concurrent-rebuild-source-per-node-limit', reason: 'SourceNodeLimit' },
] as const satisfies readonly { setting: keyof ClusterSettings; reason: WaitingReason }[];

type LimitSettings = Pick<ClusterSettings, (typeof LIMITS)[number]['setting']>;

/** Reason that stops all new rebuilds of a cluster: a code, a sentence, and the cure. */
export type RebuildStop = {
  readonly reason: WaitingReason;
  readonly message: string;
  readonly cures: readonly string[];
};

/** `undefined`: rebuilds may start, as far as there is room. */
export function rebuildsStoppedBy(settings: LimitSettings): RebuildStop | undefined {
  const stopping = LIMITS.filter(({ setting }) => settings[setting] === 0);
  const [first] = stopping;
  if (first === undefined) return undefined;
  const { reason, setting } = first;
  return {
    reason,
    message: `no rebuild may start: ${setting} is 0`,
    cures: stopping.map((limit) => `set ${limit.setting} to 1 or more`),
  };
}
