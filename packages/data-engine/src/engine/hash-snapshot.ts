/**
 * Snapshot check: hashes one snapshot on all current copies, and drops those whose content is corrupted, so that they
 * are rebuilt from the others.
 */
import { decideCorrupted, type HashedCopy } from '@holdfast/core/model/decide-corrupted.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { Time } from '../base/time.js';
import type { Copies } from './copies.js';
import type { ReplicaLink } from './replica-link.js';

/** Polling interval for a copy's progress, in milliseconds. */
const POLL_MS = 200;

export async function hashSnapshot(
  copies: Copies,
  epoch: number,
  snapshotId: string,
  force: boolean,
  time: Time,
): Promise<void> {
  const current = copies.withMode('RW');
  const hashed = await Promise.all(
    current.map((link) => hashOn(link, copies, epoch, snapshotId, force, time)),
  );
  const corrupted = decideCorrupted(hashed);
  for (const link of current) {
    if (!corrupted.includes(link.replicaId)) continue;
    copies.fail(
      link,
      new StorageFault('replica.corrupt', { publicMessage: `snapshot ${snapshotId} is damaged on its disk` }),
    );
  }
  await copies.membership.recordDurable();
}

async function hashOn(
  { replicaId, control }: ReplicaLink,
  copies: Copies,
  epoch: number,
  layerId: string,
  force: boolean,
  time: Time,
): Promise<HashedCopy> {
  for (;;) {
    copies.requireServing();
    const answer = await control.command('hash-layer', { epoch, layerId, force });
    const { state, checksum, silentlyCorrupted, message } = answer;
    if (state === 'failed') throw new StorageFault('snapshot.not_hashed', { publicMessage: message });
    if (state === 'done' && checksum !== null) return { replicaId, checksum, silentlyCorrupted };
    await time.sleep(POLL_MS);
  }
}
