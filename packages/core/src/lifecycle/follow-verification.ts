/**
 * Changes that follow from a finished verification: copies that a majority contradicts are failed before any engine reads them.
 *
 * One commit raises the epoch and records the others as the only members, as a salvage does: no copy can hold a record of the new
 * epoch yet, so the failed ones are stale wherever they turn up. If the process dies before it, the next run concludes the same from
 * the same copies; an attach in between has another epoch, and voids the verification.
 */
import type { Change } from '../model/changes.js';
import { type CopyRecord, copyRecord } from '../model/copy-record.js';
import { Bug } from '../model/faults.js';
import type { ReplicaId } from '../model/ids.js';
import { isHealthy, REBUILD_RETRIES_MAX, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import type { VolumeVerification } from '../model/volume.js';
import { nodeName, volumeEvent } from '../model/volume-facts.js';
import type { CopyAnswer } from './conclude-verification.js';
import { type Judgement, judgeRead } from './judge-copies.js';

/** Reason of a copy that a comparison has found to be damaged, or that a person has decided against. */
export const COPY_DAMAGED = 'CopyDamaged';

export function verificationFollowed(
  view: VolumeView,
  done: VolumeVerification,
  answers: readonly { readonly replica: Replica; readonly answer: CopyAnswer }[],
  now: Date,
): Change[] {
  const { id: volumeId } = view.volume;
  if (done.state !== 'done') return [{ kind: 'volume.patch', volumeId, patch: { verification: done } }];
  const read = answers.flatMap(({ replica, answer }) =>
    typeof answer === 'string' || 'error' in answer ? [] : [{ ...answer, replicaId: replica.id }],
  );
  const { verdict, believed } = judgeRead(view, read);
  const message = [done.message, ...told(verdict, done)].join(': ');
  const verification = { ...done, verdict: verdict.kind, believed, message };
  const noted: Change = { kind: 'volume.patch', volumeId, patch: { verification } };
  if (verdict.kind !== 'damaged' || believed === undefined) return [noted];
  const { record } = believed;
  const failed = verdict.damaged;
  const why = 'it holds other data than most copies of the volume';
  return [noted, ...copiesFailed(view, { record, failed, why }, now)];
}

function told(verdict: Judgement['verdict'], { equal }: VolumeVerification): string[] {
  switch (verdict.kind) {
    case 'equal':
      return equal === false ? ['those that differ are behind, and are rebuilt by the next attach'] : [];
    case 'damaged':
      return [`${copies(verdict.damaged.length)} failed, to be rebuilt before it is read from`];
    case 'tie':
      return ['no majority says which are right'];
    case 'unjudged':
      return [`nothing is concluded from it, because ${verdict.why}`];
  }
}

function copies(count: number): string {
  return count === 1 ? '1 copy is' : `${count} copies are`;
}

export type FailedCopies = {
  /** The highest record that is known of the volume: of its members, those that are not failed stay. */
  readonly record: CopyRecord;
  readonly failed: readonly ReplicaId[];
  readonly why: string;
};

/**
 * Fails copies of a detached volume, so that the next attach goes on without them. They are given up at once: their checksums may
 * describe damaged layers as unchanged, so another copy is built from the first byte on.
 */
export function copiesFailed(view: VolumeView, { record, failed, why }: FailedCopies, now: Date): Change[] {
  const { volume, fleet } = view;
  const epoch = volume.epoch + 1;
  const staying = record.members.filter((id) => !failed.includes(id));
  const next = copyRecord(epoch, 0, staying, record.durable);
  const failure = { reason: COPY_DAMAGED, message: why };
  const patch = { failedAt: now, lastFailedAt: now, failure, rebuildRetryCount: REBUILD_RETRIES_MAX };
  return [
    { kind: 'volume.patch', volumeId: volume.id, patch: { epoch, record: next } },
    ...view.replicas
      .filter(({ id }) => failed.includes(id))
      .flatMap(({ id, nodeId }): Change[] => {
        const message = `the replica on ${nodeName(fleet, nodeId)} failed: ${why}`;
        const news = { type: 'ReplicaFailed', message, subject: { kind: 'replica', id } } as const;
        return [
          { kind: 'replica.patch', replicaId: id, patch },
          { kind: 'event', event: volumeEvent(view, now, news) },
        ];
      }),
  ];
}

/** Changes that go on with copies that a person has named, as `decideChoice` allows it. */
export function choiceFollowed(view: VolumeView, named: readonly ReplicaId[], now: Date): Change[] {
  const { volume, replicas } = view;
  const record = volume.verification?.believed?.record;
  if (record === undefined) throw new Bug(`volume ${volume.id} has no verification to choose by`);
  const failed = replicas.filter((replica) => isHealthy(replica) && !named.includes(replica.id));
  const ids = [...record.members.filter((id) => !named.includes(id)), ...failed.map(({ id }) => id)];
  const why = 'a user has decided for copies that hold other data';
  const message = `volume ${volume.name} goes on with ${named.length} of ${replicas.length} copies, as a user has decided`;
  return [
    ...copiesFailed(view, { record, failed: ids, why }, now),
    { kind: 'event', event: volumeEvent(view, now, { type: 'CopiesAccepted', message }) },
  ];
}
