// Faults of the scheduler of core: filters, tiers, the fleet index, cures, simulations and conformance.
export const CORE_SCHEDULING_FAULTS = [
  {
    name: 'free-space-not-asked',
    breaks: 'a disk that the data would leave too full is refused',
    file: 'packages/core/src/scheduling/filters/free-space.filter.ts',
    changes: [
      {
        find: 'if (leavesFreeSpace(disk, requiredBytes, limits)) return undefined;',
        replace: 'if (leavesFreeSpace(disk, 0, limits)) return undefined;',
      },
    ],
    foundBy: 'packages/core/src/scheduling/filters/disk-filters.test.ts',
  },
  {
    name: 'booked-in-the-same-pass-forgotten',
    breaks: 'what was booked earlier in the same pass counts against the limit of a disk',
    file: 'packages/core/src/scheduling/filters/provisionable-space.filter.ts',
    changes: [
      {
        find: 'staysProvisionable(disk, sizeBytes + unrecordedBytes, limits)',
        replace: 'staysProvisionable(disk, sizeBytes, limits)',
      },
    ],
    foundBy: 'packages/core/test/conformance.test.ts',
  },
  {
    name: 'zone-or-region-is-enough',
    breaks: 'a node matches a topology term only by zone and region',
    file: 'packages/core/src/scheduling/filters/topology.filter.ts',
    changes: [
      {
        find: '(term.zone === undefined || term.zone === node.zone) &&',
        replace: '(term.zone === undefined || term.zone === node.zone) ||',
      },
    ],
    foundBy: 'packages/core/src/scheduling/filters/node-filters.test.ts',
  },
  {
    name: 'tags-are-decoration',
    breaks: 'a disk without the tags of the selector is refused',
    file: 'packages/core/src/scheduling/filters/disk-tags.filter.ts',
    changes: [
      {
        find: 'if (tagsMatch(disk.tags, diskSelector, allowEmpty)) return undefined;',
        replace: 'if (tagsMatch(disk.tags, [], allowEmpty)) return undefined;',
      },
    ],
    foundBy: 'packages/core/src/scheduling/filters/disk-filters.test.ts',
  },
  {
    name: 'least-range-ignores-room',
    breaks: 'an option without room for the replica is none',
    file: 'packages/core/src/scheduling/longhorn/least-range.ts',
    changes: [
      {
        find: 'options.filter(({ usableBytes }) => usableBytes >= sizeBytes)',
        replace: 'options.filter(({ usableBytes }) => usableBytes >= 0)',
      },
    ],
    foundBy: 'packages/core/src/scheduling/longhorn/least-range.test.ts',
  },
  {
    name: 'reuse-of-the-first-to-fail',
    breaks: 'the replica that failed last is the one that returns',
    file: 'packages/core/src/scheduling/longhorn/reuse-failed.ts',
    changes: [
      {
        find: 'Math.max(latest, failedAtMs(replica))',
        replace: 'Math.min(latest || failedAtMs(replica), failedAtMs(replica))',
      },
    ],
    foundBy: 'packages/core/src/scheduling/conformance/reuse.test.ts',
  },
  {
    name: 'no-second-on-top',
    breaks: 'the wait for a failed replica is over when the volume is looked at again',
    file: 'packages/core/src/scheduling/longhorn/reuse-failed.ts',
    changes: [{ find: 'Math.trunc(remainingSeconds + 1)', replace: 'Math.trunc(remainingSeconds)' }],
    foundBy: 'packages/core/src/scheduling/conformance/reuse.test.ts',
  },
  {
    name: 'clone-source-on-any-disk',
    breaks: 'a linked clone is placed on a disk of its source only',
    file: 'packages/core/src/scheduling/filters/linked-clone.filter.ts',
    changes: [
      {
        find: 'if (diskIds.has(disk.id)) return undefined;',
        replace: 'if (diskIds.size > 0) return undefined;',
      },
    ],
    foundBy: 'packages/core/src/scheduling/conformance/places.test.ts',
  },
  {
    name: 'largest-cure-first',
    breaks: 'the smallest cure is told first',
    file: 'packages/core/src/scheduling/explanation/cure-size.ts',
    changes: [{ find: 'compareLists(a.ranks, b.ranks) ||', replace: 'compareLists(b.ranks, a.ranks) ||' }],
    foundBy: 'packages/core/src/scheduling/explanation/find-cures.test.ts',
  },
  {
    name: 'cure-within-a-cure',
    breaks: 'what contains a cure that was found is no further advice',
    file: 'packages/core/src/scheduling/explanation/find-cures.ts',
    changes: [
      { find: 'if (this.cures.some((cure) => isWithin(cure.changes, changes))) continue;', replace: '' },
    ],
    foundBy: 'packages/core/src/scheduling/explanation/find-cures.test.ts',
  },
  {
    name: 'index-keeps-a-stale-maximum',
    breaks: 'a booking reaches every node of the tree above its disk',
    file: 'packages/core/src/scheduling/index/max-tree.ts',
    changes: [{ find: '    while (node >= 1 && changed) {', replace: '    while (node > 1 && changed) {' }],
    foundBy: 'packages/core/src/scheduling/index/fleet-index.test.ts',
  },
  {
    name: 'second-best-is-the-best',
    breaks: 'the second largest key is the best of those that lost',
    file: 'packages/core/src/scheduling/index/max-tree.ts',
    changes: [
      {
        find: 'second = Math.max(second, Math.min(left, right));',
        replace: 'second = Math.max(second, left, right);',
      },
    ],
    foundBy: 'packages/core/src/scheduling/index/fleet-index.test.ts',
  },
  {
    name: 'emptiest-node-first',
    breaks: 'the fullest node is listed first',
    file: 'packages/core/src/scheduling/simulation/fill.ts',
    changes: [
      { find: 'shareOf(b.after) - shareOf(a.after)', replace: 'shareOf(a.after) - shareOf(b.after)' },
    ],
    foundBy: 'packages/core/src/scheduling/simulation/simulate-placements.test.ts',
  },
  {
    name: 'failed-copy-counted-as-a-loss',
    breaks: 'a copy that had failed is no loss',
    file: 'packages/core/src/scheduling/simulation/restore-existing.ts',
    changes: [
      {
        find: "isGone(replica) && replica.failedAt === undefined && replica.intent !== 'remove'",
        replace: "isGone(replica) && replica.intent !== 'remove'",
      },
    ],
    foundBy: 'packages/core/src/scheduling/simulation/losses.test.ts',
  },
  {
    name: 'simulation-books-nothing',
    breaks: 'a replica that a simulation restores takes the room of the next one',
    file: 'packages/core/src/scheduling/simulation/restore-existing.ts',
    changes: [
      {
        find: 'fleet.book(disk.id, { sizeBytes: replica.sizeBytes, writtenBytes: volume.writtenBytes });',
        replace: '',
      },
    ],
    foundBy: 'packages/core/src/scheduling/simulation/losses.test.ts',
  },
  {
    name: 'any-place-conforms',
    breaks: 'an answer conforms only with node and disk of the vector',
    file: 'packages/core/src/scheduling/conformance/answer.ts',
    changes: [
      {
        find: 'nodeId === got.nodeId && diskId === got.diskId',
        replace: 'nodeId === got.nodeId || diskId === got.diskId',
      },
    ],
    foundBy: 'packages/core/src/scheduling/conformance/answer.test.ts',
  },
  {
    name: 'refusals-conform-whatever-they-say',
    breaks: 'a refusal conforms only with the reasons of the vector',
    file: 'packages/core/src/scheduling/conformance/answer.ts',
    changes: [
      {
        find: "got.kind === 'refused' && isSameList(got.reasons, wanted.reasons)",
        replace: "got.kind === 'refused'",
      },
    ],
    foundBy: 'packages/core/src/scheduling/conformance/answer.test.ts',
  },
  {
    name: 'written-bytes-counted-twice',
    breaks: 'a byte that is written and booked is taken off once',
    file: 'packages/core/src/scheduling/tiers/usable-space.ts',
    changes: [{ find: 'Math.max(0, scheduledBytes - writtenBytes)', replace: 'Math.max(0, scheduledBytes)' }],
    foundBy: 'packages/core/src/scheduling/tiers/usable-space.test.ts',
  },
  {
    name: 'used-zone-is-a-safe-tier',
    breaks: 'the safest tier has only nodes in zones without a copy',
    file: 'packages/core/src/scheduling/tiers/tiers.ts',
    changes: [{ find: 'unused.filter((node) => !occupancy.zones.has(zoneKey(node)))', replace: 'unused' }],
    foundBy: 'packages/core/src/scheduling/tiers/tiers.test.ts',
  },
  {
    name: 'one-of-the-selected-tags-is-enough',
    breaks: 'every tag of a selector has to be there',
    file: 'packages/core/src/scheduling/framework/tags.ts',
    changes: [{ find: 'selector.every(', replace: 'selector.some(' }],
    foundBy: 'packages/core/src/scheduling/filters/node-filters.test.ts',
  },
  {
    name: 'a-node-that-stays-counts-as-leaving',
    breaks: 'a node is leaving only where every occupant is evicted',
    file: 'packages/core/src/scheduling/framework/occupancy.ts',
    changes: [{ find: 'stayingNodes.add(node.id);', replace: '' }],
    foundBy: 'packages/core/src/scheduling/tiers/tiers.test.ts',
  },
  {
    name: 'a-replica-on-a-disk-of-another-node',
    breaks: 'a replica is on the node that its disk is on',
    file: 'packages/core/src/scheduling/placement/fleet-consistency.ts',
    changes: [{ find: 'if (disk.nodeId !== nodeId) return', replace: 'if (disk.nodeId === null) return' }],
    foundBy: 'packages/core/src/scheduling/placement/fleet-consistency.test.ts',
  },
  {
    name: 'one-name-for-two-nodes',
    breaks: 'a name stands for one node of the fleet',
    file: 'packages/core/src/scheduling/placement/fleet-consistency.ts',
    changes: [{ find: 'keys.some((key) => seen.has(key))', replace: 'keys.every((key) => seen.has(key))' }],
    foundBy: 'packages/core/src/scheduling/placement/fleet-consistency.test.ts',
  },
];
