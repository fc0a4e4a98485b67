/**
 * How many of a volume's copies a cure gives a place, by placing them one after the other, each beside those before it. A cure for the
 * first may do nothing for the second: a new disk on one node is a place for one copy.
 */
import { asId, type DiskId, type ReplicaId, type VolumeId } from '../../model/ids.js';
import { newReplica } from '../../model/replica.js';
import { decidePlacement } from '../placement/place-replica.js';
import { cycleOf, type PlacementQuestion } from './placement-question.js';

/** Copies that the volume wants and has no replica with a place for; at least the one that is asked about. */
export function missingCopies({ volume, replicas }: PlacementQuestion): number {
  return Math.max(1, volume.spec.numberOfReplicas - replicas.length);
}

/** @param changed the question with the cure's changes, in which at least one copy has a place */
export function curedCopies(changed: PlacementQuestion): number {
  const missing = missingCopies(changed);
  let question = changed;
  for (let cured = 0; cured < missing; cured += 1) {
    const decision = decidePlacement(cycleOf(question));
    if (decision.kind === 'none') return cured;
    question = withCopyOn(question, decision.diskId, cured);
  }
  return missing;
}

/** The question about the next copy, with one more on that disk. */
function withCopyOn(question: PlacementQuestion, diskId: DiskId, number: number): PlacementQuestion {
  const { volume, fleet, replicas } = question;
  const { sizeBytes } = volume.spec;
  const disks = fleet.disks.map((disk) =>
    disk.id !== diskId
      ? disk
      : {
          ...disk,
          storageScheduledBytes: disk.storageScheduledBytes + sizeBytes,
          storageAvailableBytes: Math.max(0, disk.storageAvailableBytes - volume.writtenBytes),
        },
  );
  const nodeId = disks.find(({ id }) => id === diskId)?.nodeId;
  if (nodeId === undefined) return question;
  const facts = {
    id: asId<ReplicaId>(`cured-${number}`),
    volumeId: asId<VolumeId>('cured'),
    sizeBytes,
    secret: '',
    createdAt: question.now,
  };
  const copy = newReplica(facts, { nodeId, diskId });
  return { ...question, replicas: [...replicas, copy], fleet: { ...fleet, disks } };
}
