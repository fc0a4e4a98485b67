/**
 * Verdict on a command that some copies failed: which of them it costs, and whether it is refused as a whole (docs/design/write-path.md).
 *
 * A copy is dropped only where it then differs from others. What no copy has done, or what can be undone on those that have, costs none.
 */
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { systemCode } from '../base/system-error.js';
import { type Failures, isNoSpace } from './changes.js';
import type { ReplicaLink } from './replica-link.js';

type Judged = Pick<ReplicaLink, 'mode' | 'replicaId' | 'address'>;

export type Verdict<Link extends Judged = ReplicaLink> = {
  /** Copies that have to be dropped. */
  readonly costs: readonly Link[];
  /** Current copies for which the command is refused, and taken back on the others; empty if it is done. */
  readonly refusedBy: readonly Link[];
};

/** @param canUndo the command can be taken back on copies that have done it */
export function judgeCommand<Link extends Judged>(
  targets: readonly Link[],
  failures: ReadonlyMap<Link, unknown>,
  canUndo: boolean,
): Verdict<Link> {
  const current = targets.filter((link) => link.mode === 'RW' && !isGone(failures.get(link)));
  const failed = current.filter((link) => failures.has(link));
  const full = failed.filter((link) => isTooLarge(failures.get(link)));
  const isOfAll = failed.length === current.length;
  const refusedBy = isOfAll || (canUndo && full.length > 0) ? failed : [];
  // A copy that is being rebuilt costs nothing either: it is rolled back too.
  const costs = targets.filter(
    (link) => failures.has(link) && (refusedBy.length === 0 || isGone(failures.get(link))),
  );
  return { costs, refusedBy };
}

/** The fault that tells a user why a command was refused: the copies whose disk has no room, or the first copy's reason. */
export function refusalOf<Link extends Judged>(
  refusedBy: readonly Link[],
  failures: ReadonlyMap<Link, unknown>,
): unknown {
  const full = refusedBy.filter((link) => isNoSpace(failures.get(link)));
  if (full.length > 0) {
    return namedFault(
      'disk.no_space',
      'the disk is full of',
      full,
      'free space on that disk, or move the copy to another one',
    );
  }
  const small = refusedBy.filter((link) => isTooLarge(failures.get(link)));
  if (small.length > 0) {
    const what = 'the file system can not hold so large a file, under';
    return namedFault(
      'disk.file_too_large',
      what,
      small,
      'move the copy to a disk whose file system holds larger files',
    );
  }
  const [first] = refusedBy;
  return first && failures.get(first);
}

function namedFault(
  code: 'disk.no_space' | 'disk.file_too_large',
  what: string,
  links: readonly Judged[],
  cure: string,
): StorageFault {
  const copies = links.map(({ replicaId, address }) => `copy ${replicaId} on node ${address.nodeId}`);
  return new StorageFault(code, {
    publicMessage: `${what} ${copies.join(', ')}`,
    cures: [cure],
    context: { replicaIds: links.map(({ replicaId }) => replicaId).join() },
  });
}

/** True for a refusal for want of space, or of a size that the file system has no files of: nothing was done. */
function isTooLarge(error: unknown): boolean {
  return isNoSpace(error) || isFault(error, 'disk.file_too_large') || systemCode(error) === 'EFBIG';
}

/** True if the error ends the copy or the engine, whichever command met it. */
function isGone(error: unknown): boolean {
  return (
    isFault(error, 'replica.corrupt') ||
    isFault(error, 'replica.not_found') ||
    isFault(error, 'engine.stale_epoch')
  );
}

/** Asks all copies at once. Resolves when each has answered, with the errors of those that failed. */
export async function failuresOfCommand(
  targets: readonly ReplicaLink[],
  ask: (copy: ReplicaLink) => Promise<unknown>,
): Promise<Failures> {
  const failures = new Map<ReplicaLink, unknown>();
  await Promise.all(
    targets.map((copy) => ask(copy).catch((error: unknown) => void failures.set(copy, error))),
  );
  return failures;
}
