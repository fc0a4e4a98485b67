/** On random fleets: what is told is what the scheduler does, and no cure is larger than it has to be. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { A_SPEC, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type DiskPart, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DETACHED } from '../../model/volume-lifecycle.js';
import { decidePlacement } from '../place-replica.js';
import type { CureChange } from './cure-change.js';
import { explainPlacement } from './explain-placement.js';
import { cycleOf, type PlacementQuestion, withChanges } from './placement-question.js';

/** Few enough to explain each in full, many enough to meet every rule several times. */
const RUNS = 400;

const rarely = fc.integer({ min: 0, max: 7 }).map((number) => number === 0);
const mostly = rarely.map((is) => !is);
const tags = fc.subarray(['ssd', 'fast']);
const bytes = fc.integer({ min: 0, max: 40 * GIB });

const disk: fc.Arbitrary<DiskPart> = fc
  .record({
    ready: mostly,
    allowScheduling: mostly,
    evictionRequested: rarely,
    tags,
    bytes: fc.integer({ min: 20 * GIB, max: 60 * GIB }),
    storageReservedBytes: bytes,
    storageScheduledBytes: bytes,
    taken: bytes,
  })
  .map(({ taken, ...part }) => ({ ...part, storageAvailableBytes: Math.max(0, part.bytes - taken) }));

const node: fc.Arbitrary<NodePart> = fc.record({
  ready: mostly,
  zone: fc.constantFrom('a', 'b', undefined),
  tags,
  cordoned: rarely,
  allowScheduling: mostly,
  evictionRequested: rarely,
  disks: fc
    .array(disk, { maxLength: 3 })
    .map((disks) => Object.fromEntries(disks.map((one, at) => [`${at}`, one]))),
});

const question: fc.Arbitrary<PlacementQuestion> = fc
  .record({
    nodes: fc.array(node, { minLength: 1, maxLength: 5 }),
    holders: fc.subarray([0, 1, 2, 3, 4]),
    failed: fc.array(rarely, { minLength: 5, maxLength: 5 }),
    nodeSelector: tags,
    diskSelector: tags,
    sizeBytes: fc.integer({ min: 1, max: 20 * GIB }),
    writtenBytes: fc.integer({ min: 0, max: 10 * GIB }),
    hard: fc.record({ node: fc.boolean(), zone: fc.boolean(), disk: fc.boolean() }),
    overProvisioning: fc.integer({ min: 10, max: 150 }),
  })
  .map((given) => {
    const named = Object.fromEntries(
      given.nodes.map((part, at) => [
        `n${at}`,
        {
          ...part,
          disks: Object.fromEntries(Object.entries(part.disks ?? {}).map(([d, one]) => [`n${at}-${d}`, one])),
        },
      ]),
    );
    const fleet = aFleet(named, {
      'replica-soft-anti-affinity': !given.hard.node,
      'replica-zone-soft-anti-affinity': !given.hard.zone,
      'replica-disk-soft-anti-affinity': !given.hard.disk,
      'storage-over-provisioning-percentage': given.overProvisioning,
    });
    const { nodeSelector, diskSelector, sizeBytes, writtenBytes } = given;
    const replicas = given.holders
      .filter((at) => at < given.nodes.length)
      .map((at) =>
        aReplicaOn(`n${at}-0`, {
          id: asId<ReplicaId>(`r${at}`),
          failedAt: given.failed[at] === true ? NOON : undefined,
        }),
      );
    const spec = { ...A_SPEC, nodeSelector, diskSelector, sizeBytes };
    return { volume: { spec, writtenBytes, lifecycle: DETACHED }, replicas, fleet, now: NOON };
  });

function fits(given: PlacementQuestion, changes: readonly CureChange[]): boolean {
  return decidePlacement(cycleOf(withChanges(given, changes))).kind === 'placed';
}

/** The same change by the least less; `undefined` where there is no less. */
function oneLess(change: CureChange): CureChange | undefined {
  switch (change.kind) {
    case 'free-space':
      return change.freeBytes > 0
        ? { ...change, freeBytes: change.freeBytes - 1 }
        : { ...change, releaseBytes: change.releaseBytes - 1 };
    case 'lower-reserve':
      return { ...change, toBytes: change.toBytes + 1 };
    case 'wait-until':
      return { ...change, at: new Date(new Date(change.at).getTime() - 1).toISOString() };
    case 'add-disk':
    case 'add-node':
      return { ...change, bytes: change.bytes - 1 };
    case 'set-setting':
      if (change.setting === 'storage-minimal-available-percentage')
        return { ...change, to: Number(change.to) + 1 };
      if (change.setting === 'storage-over-provisioning-percentage')
        return { ...change, to: Number(change.to) - 1 };
      return undefined;
    case 'tag-node':
    case 'tag-disk':
    case 'remove-selector-tags':
      return { ...change, tags: change.tags.slice(1) };
    default:
      return undefined;
  }
}

test('an explanation agrees with the scheduler, and each cure is as small as it can be', () => {
  let unplaced = 0;
  let less = 0;
  fc.assert(
    fc.property(question, (given) => {
      const explanation = explainPlacement(given);
      const decision = decidePlacement(cycleOf(given));
      expect(explanation.place?.diskId).toBe(decision.kind === 'placed' ? decision.diskId : undefined);
      expect(explanation.tier).toBe(decision.kind === 'placed' ? decision.tier : null);
      const asked = explanation.filters.filter(({ applies }) => applies);
      for (const [at, { subject, asked: count }] of asked.entries()) {
        const before = asked[at - 1];
        if (before?.subject === subject) expect(count).toBe(before.asked - before.rejected);
      }
      if (decision.kind === 'placed') return;
      unplaced += 1;
      for (const { changes } of explanation.cures) {
        expect(fits(given, changes)).toBe(true);
        for (const [at, change] of changes.entries()) {
          // A pair is only told where neither half is enough.
          if (changes.length > 1) expect(fits(given, [change])).toBe(false);
          const smaller = oneLess(change);
          if (smaller === undefined) continue;
          less += 1;
          expect(fits(given, changes.with(at, smaller))).toBe(false);
        }
      }
    }),
    { numRuns: RUNS, seed: 20_260_101 },
  );
  // The generator has to reach what the property is about.
  expect(unplaced).toBeGreaterThan(50);
  expect(less).toBeGreaterThan(200);
});
