/**
 * Background hashing of a volume's snapshots, once it is admitted: requests a hash of all of them when the periodic check is due, and
 * ends the admission when none of the worker's own requests is left.
 *
 * Admission is granted per cluster (`task-queue.ts`). It ends with the attachment, and pending requests wait for the next one.
 */

import type { Change, VolumePatch } from '../model/changes.js';
import type { HashRequest, Snapshot } from '../model/snapshot.js';
import type { VolumeView } from '../model/views.js';
import type { SnapshotDataIntegrity } from '../model/volume.js';
import { volumeEvent } from '../model/volume-facts.js';
import { effectiveValue } from '../policy/volume-settings.js';
import type { Step } from './step.js';

/** Longhorn's bound too. A copy that slow, or an engine that refuses all day, must not keep other volumes waiting. */
const ADMISSION_MS_MAX = 24 * 3600 * 1000;

/** The volume's own answer, or else its cluster's. */
export function integrityOf({ volume, fleet }: Pick<VolumeView, 'volume' | 'fleet'>): SnapshotDataIntegrity {
  return effectiveValue(volume.spec, fleet.settings, 'snapshotDataIntegrity');
}

export function automaticHash(view: Pick<VolumeView, 'volume' | 'fleet'>, now: Date): HashRequest {
  const force = integrityOf(view) === 'enabled';
  return { requestedAt: now, force, automatic: true, startedEpoch: undefined };
}

export function planIntegrity(view: VolumeView, now: Date): Step | undefined {
  const { volume, snapshots } = view;
  const { hashing } = volume;
  if (hashing === undefined) return undefined;
  if (volume.lifecycle.state !== 'attached')
    return commit(view, 'it is not attached any more', { hashing: undefined }, []);
  if (now.getTime() - hashing.admittedAt.getTime() > ADMISSION_MS_MAX) return planGivingUp(view, now);

  const isBegun = (volume.integrityCheckedAt?.getTime() ?? 0) >= hashing.admittedAt.getTime();
  if (hashing.isPass && !isBegun) {
    const patch = { integrityCheckedAt: hashing.admittedAt };
    return commit(view, 'its snapshots are to be checked', patch, requests(view, now));
  }
  if (snapshots.some(isAutomatic)) return undefined;
  return commit(view, 'its snapshots are hashed', { hashing: undefined }, []);
}

/** When the admission of a background hash is given up. */
export function hashingTimes({ volume: { hashing } }: VolumeView): Date[] {
  return hashing === undefined ? [] : [new Date(hashing.admittedAt.getTime() + ADMISSION_MS_MAX + 1)];
}

function requests(view: VolumeView, now: Date): Change[] {
  if (integrityOf(view) === 'disabled') return [];
  return view.snapshots
    .filter(({ origin, state, hashRequest }) => origin === 'user' && state === 'ready' && !hashRequest)
    .map(({ id }) => {
      const patch = { hashRequest: automaticHash(view, now), trouble: undefined };
      return { kind: 'snapshot.patch', snapshotId: id, patch };
    });
}

function planGivingUp(view: VolumeView, now: Date): Step {
  const left = view.snapshots.filter(isAutomatic);
  const message = `${left.length} snapshots of volume ${view.volume.name} could not be hashed within a day`;
  const event = volumeEvent(view, now, { type: 'SnapshotCheckFailed', message });
  return commit(view, message, { hashing: undefined }, [
    ...left.map(({ id }): Change => {
      return { kind: 'snapshot.patch', snapshotId: id, patch: { hashRequest: undefined } };
    }),
    ...(left.length === 0 ? [] : [{ kind: 'event' as const, event }]),
  ]);
}

function isAutomatic({ hashRequest }: Snapshot): boolean {
  return hashRequest?.automatic === true;
}

function commit({ volume }: VolumeView, why: string, patch: VolumePatch, further: readonly Change[]): Step {
  return { kind: 'commit', why, changes: [{ kind: 'volume.patch', volumeId: volume.id, patch }, ...further] };
}
