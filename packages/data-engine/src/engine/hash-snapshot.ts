/**
 * Snapshot check: hashes one snapshot on all current copies, and drops those whose content is corrupted, so that they
 * are rebuilt from the others.
 */
import { decideCorrupted, decideUnproven, type HashedCopy } from '@holdfast/core/model/decide-corrupted.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { allEnded } from '../base/all-ended.js';
import type { Time } from '../base/time.js';
import { chainUpTo, isPurgeable, type LayerFacts } from '../protocol/layers.js';
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
  // A copy that has failed to hash says so once: one that is not waited for would end the next hashing.
  const hashed = await allEnded(current.map((link) => hashOn(link, copies, epoch, snapshotId, force, time)));
  const corrupted = decideCorrupted(hashed);
  if (failCopies(copies, current, corrupted, `snapshot ${snapshotId} is damaged on its disk`))
    await copies.membership.recordDurable();
}

/**
 * Has each copy prove the layers that a revert is about to read from, before it does. A layer whose checksum was recorded, and whose
 * files have changed since by time or size on some copy, is hashed there; what no copy has changed costs nothing. A copy that does
 * not have what the others prove is dropped, and rebuilt.
 *
 * Deleted layers, and those that rebuilds left behind, are merged by each copy in its own time, and are not compared.
 */
export async function proveLayers(
  copies: Copies,
  epoch: number,
  snapshotId: string,
  time: Time,
): Promise<void> {
  const current = copies.withMode('RW');
  if (current.length < 2) return;
  const chains = await Promise.all(
    current.map(({ control }) => control.command('chain', { epoch }).catch(() => undefined)),
  );
  const layers = chains.find((chain) => chain !== undefined)?.layers ?? [];
  for (const layer of chainUpTo(layers, snapshotId)) {
    const own = chains.map((chain) => chain?.layers.find(({ id }) => id === layer.id));
    const isDoubted = own.some((one) => one?.isChanged === true) || areUnlike(own);
    if (isPurgeable(layer) || !isDoubted) continue;
    // A copy that has failed to hash says so once: one that is not waited for would end the next hashing.
    const hashed = await allEnded(
      copies.withMode('RW').map((link) => hashOn(link, copies, epoch, layer.id, false, time)),
    );
    const message = `it can not prove snapshot ${layer.id}, which the volume is reverted to`;
    if (failCopies(copies, current, decideUnproven(hashed), message)) await copies.membership.recordDurable();
  }
}

function areUnlike(own: readonly (LayerFacts | undefined)[]): boolean {
  return new Set(own.flatMap((one) => one?.checksum ?? [])).size > 1;
}

/** Only beside a copy that is not among them: others may have failed while layers were hashed. @returns whether any was failed */
function failCopies(
  copies: Copies,
  current: readonly ReplicaLink[],
  damaged: readonly string[],
  message: string,
): boolean {
  const isLeft = copies.withMode('RW').some(({ replicaId }) => !damaged.includes(replicaId));
  if (damaged.length === 0 || !isLeft) return false;
  for (const link of current) {
    if (damaged.includes(link.replicaId))
      copies.fail(link, new StorageFault('replica.corrupt', { publicMessage: message }));
  }
  return true;
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
    const { state, checksum, silentlyCorrupted, recorded, message } = answer;
    if (state === 'failed') throw new StorageFault('snapshot.not_hashed', { publicMessage: message });
    if (state === 'done' && checksum !== null) return { replicaId, checksum, silentlyCorrupted, recorded };
    await time.sleep(POLL_MS);
  }
}
