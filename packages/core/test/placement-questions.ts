/** Random placement questions: small fleets in which most disks would do, and some are kept by one rule or another. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { DETACHED } from '@holdfast/core/model/volume-lifecycle.js';
import type { PlacementQuestion } from '@holdfast/core/scheduling/explanation/placement-question.js';
import { A_SPEC, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type DiskPart, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import fc from 'fast-check';

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

export const placementQuestion: fc.Arbitrary<PlacementQuestion> = fc
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
