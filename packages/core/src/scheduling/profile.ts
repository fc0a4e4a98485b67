/**
 * What differs between the schedulers that this code can be, as data (docs/adr/0050-two-profiles-as-data.md).
 *
 * `holdfast` is what places replicas here. `longhorn` does what Longhorn's code does, quirks included, to predict an
 * imported cluster; `packages/core/test/vectors` hold its decisions. A rule asks the profile for its own switch; nothing asks for the profile's name.
 */
export type SchedulingProfile = {
  readonly name: string;
  /** Which of a volume's replicas occupy node and zone: all that are placed, or those on nodes that pass the filters. */
  readonly occupants: 'all-placed' | 'on-candidate-nodes';
  /** Soft disk anti-affinity once every disk holds a replica: the fewest of them, or any disk. */
  readonly sharedDisks: 'fewest-replicas' | 'any';
  readonly usedNodeTierHonoursNodeSelector: boolean;
  /** How often data that is written already counts in `usable`. */
  readonly writtenDataCounts: 'once' | 'twice';
  /** Conditions of nodes and disks, and which replicas leave: worked out from the facts, or read as recorded. */
  readonly conditions: 'derived' | 'recorded';
  /** From when on a failed replica's place is held for its return: from its own failure, or the volume's degradation. */
  readonly replenishmentWaitsFrom: 'failure' | 'degradation';
  /** A failed replica that is already being deleted may still be taken back, and holds its disk until then. */
  readonly deletedReplicasMayReturn: boolean;
  /**
   * Best-effort auto-balance lets a replica share a node that has a disk under pressure, and an evicted one's
   * replacement share a zone with one that stays.
   */
  readonly autoBalanceSharesDomains: boolean;
  /** The last step: most usable space in the best score, or the least range over all candidates with ties by id. */
  readonly choice: 'balance-score' | 'least-range';
};

export const HOLDFAST_PROFILE: SchedulingProfile = {
  name: 'holdfast',
  occupants: 'all-placed',
  sharedDisks: 'fewest-replicas',
  usedNodeTierHonoursNodeSelector: true,
  writtenDataCounts: 'once',
  conditions: 'derived',
  replenishmentWaitsFrom: 'failure',
  deletedReplicasMayReturn: false,
  autoBalanceSharesDomains: false,
  choice: 'balance-score',
};

export const LONGHORN_PROFILE: SchedulingProfile = {
  name: 'longhorn',
  occupants: 'on-candidate-nodes',
  sharedDisks: 'any',
  usedNodeTierHonoursNodeSelector: false,
  writtenDataCounts: 'twice',
  conditions: 'recorded',
  replenishmentWaitsFrom: 'degradation',
  deletedReplicasMayReturn: true,
  autoBalanceSharesDomains: true,
  choice: 'least-range',
};
