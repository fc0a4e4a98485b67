/**
 * Gives existing volumes back what losses took, as replenishment would: a new replica in the place of each, built from
 * a full copy that is left. What is lost is taken to be gone for good, so nothing is waited for.
 */
import { compareIds, type VolumeId } from '../../model/ids.js';
import { isHealthy, type Replica } from '../../model/replica.js';
import { DETACHED, holderOf } from '../../model/volume-lifecycle.js';
import type { PlacementExplanation } from '../explanation/explanation.js';
import type { LostPlaces } from './changed-fleet.js';
import {
  EXISTING_SHOWN_MAX,
  type ExistingResult,
  type ExistingVolume,
  type ReplacedReplica,
  type StrandedReplica,
} from './simulation.js';
import type { WorkingFleet } from './working-fleet.js';

type Hit = ExistingVolume & {
  readonly lost: readonly Replica[];
  readonly left: readonly Replica[];
};

/** @param restored is filled with the copies that each volume with losses has afterwards */
export function restoreExisting(
  fleet: WorkingFleet,
  volumes: readonly ExistingVolume[],
  places: LostPlaces,
  restored = new Map<VolumeId, readonly Replica[]>(),
): ExistingResult {
  const hits = volumes.map((existing) => hitOf(existing, places)).filter(({ lost }) => lost.length > 0);
  const isLost = ({ replicas, left }: Hit) => replicas.some(isHealthy) && !left.some(isHealthy);
  const lostVolumes = hits.filter(isLost);
  const outcome = new Outcome();
  for (const hit of hits.filter((one) => !isLost(one)).sort(byUrgency))
    restored.set(hit.volume.id, restore(fleet, hit, outcome));
  // Nothing is left that they could be built from.
  for (const { volume, lost } of lostVolumes) {
    restored.set(volume.id, []);
    for (const _ of lost) outcome.strand();
  }
  const named = lostVolumes.filter(({ isVisible }) => isVisible);
  return {
    volumesHit: hits.length,
    replicasLost: hits.reduce((sum, { lost }) => sum + lost.length, 0),
    volumesLost: lostVolumes.length,
    ...outcome.result(),
    lostVolumes: {
      total: named.length,
      shown: named
        .slice(0, EXISTING_SHOWN_MAX)
        .map(({ volume }) => ({ volumeId: volume.id, volumeName: volume.name })),
    },
  };
}

function hitOf(existing: ExistingVolume, { diskIds, nodeIds }: LostPlaces): Hit {
  const isGone = ({ diskId }: Replica) => diskId !== undefined && diskIds.has(diskId);
  // A copy that had failed or was to go is no loss.
  const lost = existing.replicas.filter(
    (replica) => isGone(replica) && replica.failedAt === undefined && replica.intent !== 'remove',
  );
  const left = existing.replicas.filter((replica) => !isGone(replica));
  const holderId = holderOf(existing.volume);
  const isHolderGone = holderId !== undefined && nodeIds.has(holderId);
  const volume = isHolderGone ? { ...existing.volume, lifecycle: DETACHED } : existing.volume;
  return { ...existing, volume, lost: [...lost].sort((a, b) => compareIds(a.id, b.id)), left };
}

/** As rebuilds are admitted: fewest full copies first. */
function byUrgency(a: Hit, b: Hit): number {
  const copies = ({ left }: Hit) => left.filter(isHealthy).length;
  return copies(a) - copies(b) || compareIds(a.volume.id, b.volume.id);
}

function restore(fleet: WorkingFleet, { volume, lost, left, isVisible }: Hit, outcome: Outcome): Replica[] {
  const replicas = [...left];
  for (const replica of lost) {
    const disk = fleet.find(volume, replicas);
    const named = { volumeId: volume.id, volumeName: volume.name, replicaId: replica.id };
    if (disk === undefined) {
      outcome.strand();
      if (isVisible) outcome.nameStranded(named, (cures) => fleet.explain(volume, replicas, cures));
      continue;
    }
    fleet.book(disk.id, { sizeBytes: replica.sizeBytes, writtenBytes: volume.writtenBytes });
    replicas.push({ ...replica, nodeId: disk.nodeId, diskId: disk.id });
    if (isVisible) outcome.replace({ ...named, place: fleet.named(disk) });
  }
  return replicas;
}

/** Collects what becomes of each replica; lists stop at their bound, counts go on. */
class Outcome {
  private strandedInAll = 0;
  private strandedNamed = 0;
  private replacedNamed = 0;
  private firstStranded: PlacementExplanation | null = null;
  private readonly replaced: ReplacedReplica[] = [];
  private readonly stranded: StrandedReplica[] = [];

  replace(replica: ReplacedReplica): void {
    this.replacedNamed += 1;
    if (this.replaced.length < EXISTING_SHOWN_MAX) this.replaced.push(replica);
  }

  strand(): void {
    this.strandedInAll += 1;
  }

  nameStranded(
    replica: Omit<StrandedReplica, 'why'>,
    explain: (cures: 'searched' | 'left-out') => PlacementExplanation,
  ): void {
    this.strandedNamed += 1;
    if (this.stranded.length >= EXISTING_SHOWN_MAX) return;
    // One search for cures shows what is missing; the others would mostly repeat it.
    const explanation = explain(this.firstStranded === null ? 'searched' : 'left-out');
    this.firstStranded ??= explanation;
    this.stranded.push({ ...replica, why: explanation.sentence });
  }

  result() {
    return {
      replicasStranded: this.strandedInAll,
      replaced: { total: this.replacedNamed, shown: this.replaced },
      stranded: { total: this.strandedNamed, shown: this.stranded },
      firstStranded: this.firstStranded,
    };
  }
}
