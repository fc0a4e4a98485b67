import { asId, type ReplicaId, type VolumeId } from '../../model/ids.js';
import type { StorageDisk } from '../../model/node.js';
import { newReplica, type Replica } from '../../model/replica.js';
import type { VolumeSpec } from '../../model/volume.js';
import { DETACHED } from '../../model/volume-lifecycle.js';
import type { PlacementExplanation } from '../explanation/explanation.js';
import {
  HOW_MANY_MORE_MAX,
  PLACEMENTS_SHOWN_MAX,
  type PlacedVolume,
  type ShapeResult,
} from './simulation.js';
import type { WorkingFleet } from './working-fleet.js';

type Attempt =
  | { readonly kind: 'placed'; readonly disks: readonly StorageDisk[] }
  | {
      readonly kind: 'refused';
      readonly replicaNumber: number;
      readonly explain: () => PlacementExplanation;
    };

/** Places `count` volumes of one shape for as long as they fit. The first that does not ends it: the rest are alike. */
export function placeShape(
  fleet: WorkingFleet,
  shape: number,
  spec: VolumeSpec,
  count: number,
): Omit<ShapeResult, 'howManyMore'> {
  const placed: PlacedVolume[] = [];
  let fit = 0;
  let firstFailure: ShapeResult['firstFailure'] = null;
  while (fit < count) {
    const attempt = placeVolume(fleet, spec);
    if (attempt.kind === 'refused') {
      const { replicaNumber, explain } = attempt;
      firstFailure = { volumeNumber: fit + 1, replicaNumber, explanation: explain() };
      break;
    }
    fit += 1;
    if (fit <= PLACEMENTS_SHOWN_MAX)
      placed.push({ number: fit, places: attempt.disks.map((disk) => fleet.named(disk)) });
  }
  const { sizeBytes, numberOfReplicas } = spec;
  return { shape, sizeBytes, numberOfReplicas, asked: count, fit, placed, firstFailure };
}

/** How many more would fit from here on. Leaves the fleet as it was. */
export function countMore(
  fleet: WorkingFleet,
  spec: VolumeSpec,
  max = HOW_MANY_MORE_MAX,
): NonNullable<ShapeResult['howManyMore']> {
  const booked: StorageDisk[] = [];
  let count = 0;
  let limitedBy: string | null = null;
  while (count < max) {
    const attempt = placeVolume(fleet, spec);
    if (attempt.kind === 'refused') {
      limitedBy = attempt.explain().sentence;
      break;
    }
    booked.push(...attempt.disks);
    count += 1;
  }
  for (const { id } of booked) fleet.release(id, claimOf(spec));
  return { count, isAtLeast: limitedBy === null, limitedBy };
}

/** All replicas of one new volume, or none of them. */
function placeVolume(fleet: WorkingFleet, spec: VolumeSpec): Attempt {
  const volume = { spec, writtenBytes: 0, lifecycle: DETACHED };
  const replicas: Replica[] = [];
  const disks: StorageDisk[] = [];
  for (let number = 1; number <= spec.numberOfReplicas; number += 1) {
    const disk = fleet.find(volume, replicas);
    if (disk === undefined) {
      for (const { id } of disks) fleet.release(id, claimOf(spec));
      // Asked for words only now and then, so the fleet is put back into the state of the refusal for them.
      const explain = () => {
        for (const { id } of disks) fleet.book(id, claimOf(spec));
        const explanation = fleet.explain(volume, replicas);
        for (const { id } of disks) fleet.release(id, claimOf(spec));
        return explanation;
      };
      return { kind: 'refused', replicaNumber: number, explain };
    }
    fleet.book(disk.id, claimOf(spec));
    disks.push(disk);
    replicas.push(simulatedReplica(number, spec, disk));
  }
  return { kind: 'placed', disks };
}

function claimOf({ sizeBytes }: VolumeSpec) {
  return { sizeBytes, writtenBytes: 0 };
}

function simulatedReplica(number: number, { sizeBytes }: VolumeSpec, disk: StorageDisk): Replica {
  const facts = {
    id: asId<ReplicaId>(`number ${number}`),
    volumeId: asId<VolumeId>('simulated'),
    sizeBytes,
    secret: '',
    createdAt: new Date(0),
  };
  return newReplica(facts, { nodeId: disk.nodeId, diskId: disk.id });
}
