/**
 * What differs between the schedulers that this code can be, as data (DESIGN sections 4 and 8).
 *
 * `holdfast` is what places replicas here. A `longhorn` profile does what Longhorn's code does, quirks included, to
 * predict an imported cluster. A rule asks the profile for its own switch; nothing asks for the profile's name.
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
  /** Conditions of nodes and disks: worked out from the facts, or read as they were recorded. */
  readonly conditions: 'derived' | 'recorded';
};

export const HOLDFAST_PROFILE: SchedulingProfile = {
  name: 'holdfast',
  occupants: 'all-placed',
  sharedDisks: 'fewest-replicas',
  usedNodeTierHonoursNodeSelector: true,
  writtenDataCounts: 'once',
  conditions: 'derived',
};
