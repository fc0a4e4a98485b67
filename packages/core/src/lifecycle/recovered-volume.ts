/** Rows of a recovered volume: the copies' descriptions, and safe defaults for the rest. */
import type { Change } from '../model/changes.js';
import type { CopyDescription, VolumeDescription } from '../model/copy-description.js';
import { nextCronTime } from '../model/cron.js';
import { Bug } from '../model/faults.js';
import { sortedLabels } from '../model/labels.js';
import type { DataEngine, DiskType } from '../model/node.js';
import type { OrphanInContext } from '../model/orphan.js';
import type { FoundCopy, RecoveryPlan, RecoveryView } from '../model/recovery.js';
import type { RecurringSnapshot } from '../model/recurring-snapshot.js';
import { newReplica, type Replica } from '../model/replica.js';
import { newVolume, type Volume } from '../model/volume.js';
import { DETACHED } from '../model/volume-lifecycle.js';
import { resolveVolumeSpec } from '../policy/volume-spec.js';

/**
 * Changes that create the volume from its current copies, or add the missing members to an existing one; one commit stores all of
 * them.
 *
 * A recovered volume has an epoch above all at which its copies were opened, so that its first attach fences every engine of the lost
 * control plane. It is marked as restored: no engine starts before all members have answered.
 *
 * @param plan without an obstacle
 * @throws StorageFault `request.invalid` for a name or a size that no volume may have
 */
export function recoveryChanges(view: RecoveryView, plan: RecoveryPlan, now: Date): Change[] {
  const copies = currentCopies(view.copies, plan);
  const made: Change[] =
    view.known === undefined ? [{ kind: 'volume.create', volume: volumeOf(view, plan, copies, now) }] : [];
  const replicas = copies.map((copy) => replicaChange(view, copy, now));
  return [...made, ...replicas, { kind: 'event', event: recovered(view, plan, now) }];
}

/** The description of the copy that was opened last: it knows the newest name. */
export function newestDescription(copies: readonly OrphanInContext[]): CopyDescription | undefined {
  let newest: CopyDescription | undefined;
  for (const { orphan } of copies) {
    const { description } = orphan;
    if (description !== undefined && (newest === undefined || description.epoch > newest.epoch))
      newest = description;
  }
  return newest;
}

/** Orphans that the newest record names: the volume is made of them. */
export function currentCopies(
  copies: readonly OrphanInContext[],
  plan: Pick<RecoveryPlan, 'copies'>,
): OrphanInContext[] {
  const current = new Set(plan.copies.filter(isCurrent).map(({ replicaId }) => replicaId));
  return copies.filter(({ orphan }) => current.has(orphan.replicaId));
}

/** `v1` volumes are on folders, `v2` volumes on block disks. */
export function engineOf(diskType: DiskType): DataEngine {
  return diskType === 'block' ? 'v2' : 'v1';
}

function isCurrent({ verdict }: FoundCopy): boolean {
  return verdict === 'current';
}

/** @param used the current ones of its copies */
function volumeOf(
  { copies, fleet, place, volumeId }: RecoveryView,
  plan: RecoveryPlan,
  used: readonly OrphanInContext[],
  now: Date,
): Volume {
  const description = newestDescription(used);
  const { projectId, sizeBytes } = plan;
  if (description === undefined || projectId === undefined || sizeBytes === undefined) {
    throw new Bug('a recovery without a description has an obstacle');
  }
  const diskType = fleet.disks.find(({ id }) => id === used[0]?.orphan.diskId)?.type ?? 'filesystem';
  const { dataLocality, nodeSelector, diskSelector, topologyRequirement } = description.volume ?? {};
  const { labels, overrides, schedules = [] } = description.volume ?? {};
  const wanted = {
    ...overrides,
    sizeBytes,
    dataEngine: engineOf(diskType),
    numberOfReplicas: plan.numberOfReplicas,
    dataLocality,
    nodeSelector,
    diskSelector,
    topologyRequirement,
  };
  const { organizationId, clusterId } = place;
  const facts = { id: volumeId, organizationId, projectId, clusterId, name: plan.name, createdAt: now };
  const spec = resolveVolumeSpec(plan.name, wanted, fleet.settings);
  // Copies that are left out count too: they may have been opened later than those that are used.
  const epochs = copies.flatMap(({ orphan }) => [orphan.description?.epoch ?? 0, orphan.record?.epoch ?? 0]);
  return {
    ...newVolume({ ...facts, spec, fill: undefined, labels: labels && sortedLabels(labels) }),
    recurringSnapshots: schedulesFrom(schedules, now),
    lifecycle: DETACHED,
    epoch: Math.max(...epochs) + 1,
    record: plan.record,
    restoredAt: now,
    writtenBytes: Math.max(...used.map(({ orphan }) => orphan.writtenBytes)),
  };
}

/** Due from now on: times that have passed while the volume was lost are not made up for. */
function schedulesFrom(
  schedules: NonNullable<VolumeDescription['schedules']>,
  now: Date,
): RecurringSnapshot[] {
  return schedules.flatMap((schedule) => {
    const nextRunAt = nextCronTime(schedule.cron, now);
    return nextRunAt === undefined ? [] : [{ ...schedule, nextRunAt, lastRun: undefined }];
  });
}

/** Its data is on the disk already, so the booking has no limit: a disk that is too full shows it, and takes no further copies. */
function replicaChange({ volumeId, fleet }: RecoveryView, { orphan }: OrphanInContext, now: Date): Change {
  const { replicaId, nodeId, diskId, description, writtenBytes } = orphan;
  if (description === undefined) throw new Bug('a current copy has a description');
  const { sizeBytes, secret } = description;
  const replica: Replica = {
    ...newReplica({ id: replicaId, volumeId, sizeBytes, secret, createdAt: now }, { nodeId, diskId }),
    provisioned: true,
    healthyAt: now,
    lastHealthyAt: now,
    writtenBytes,
  };
  const { settingsVersion } = fleet;
  const booking = {
    diskId,
    sizeBytes,
    limitBytes: Number.MAX_SAFE_INTEGER,
    ifSettingsVersion: settingsVersion,
  };
  return { kind: 'replica.create', replica, booking };
}

function recovered({ place, volumeId, known }: RecoveryView, plan: RecoveryPlan, now: Date) {
  const { name, missing } = plan;
  const copies = plan.copies.filter(isCurrent);
  const count = copies.length === 1 ? '1 copy' : `${copies.length} copies`;
  const where = copies.map(({ nodeName, diskName }) => `${nodeName} (${diskName})`).join(', ');
  const what =
    known === undefined
      ? `was made again of ${count}`
      : `has ${count} more, of which the database did not know`;
  const waits = missing.length === 0 ? '' : `; it waits for ${missing.length} that were not found`;
  return {
    clusterId: place.clusterId,
    type: 'VolumeRecovered' as const,
    subject: { kind: 'volume' as const, id: volumeId },
    volumeId,
    message: `volume ${name} ${what}: ${where}${waits}`,
    at: now,
  };
}
