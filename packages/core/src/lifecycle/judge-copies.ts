/**
 * Judgement of compared copies: which ones are damaged, by the checksums of their content.
 *
 * A copy is damaged only if more than half of all current copies hold another content, and the same one. Copies that were not read
 * count too, because they may agree with the odd one. So a majority is never failed, and never the last copy.
 */

import type { CopyRecord } from '../model/copy-record.js';
import type { ReplicaId } from '../model/ids.js';
import type { VolumeView } from '../model/views.js';
import { isRestored } from '../model/volume.js';
import { currentCopies } from './decide-start.js';

export type SummedCopy<Id extends string = string> = { readonly replicaId: Id; readonly checksum: string };

export type CopiesVerdict<Id extends string = string> =
  | { readonly kind: 'equal' }
  | { readonly kind: 'damaged'; readonly damaged: readonly Id[] }
  /** They differ, and no majority says which are right: a person decides. */
  | { readonly kind: 'tie' };

/** @param currentCount all copies that count as current, read or not */
export function judgeSums<Id extends string>(
  copies: readonly SummedCopy<Id>[],
  currentCount: number,
): CopiesVerdict<Id> {
  const counts = new Map<string, number>();
  for (const { checksum } of copies) counts.set(checksum, (counts.get(checksum) ?? 0) + 1);
  if (counts.size < 2) return { kind: 'equal' };
  const all = Math.max(currentCount, copies.length);
  const right = [...counts].find(([, count]) => count * 2 > all)?.[0];
  if (right === undefined) return { kind: 'tie' };
  const damaged = copies.filter(({ checksum }) => checksum !== right).map(({ replicaId }) => replicaId);
  return { kind: 'damaged', damaged };
}

/** State reported by a copy that was read. Agents of older versions report neither record nor marks. */
export type ReadCopy = SummedCopy<ReplicaId> & {
  readonly record?: CopyRecord | null | undefined;
  /** False: writes were in flight when it stopped, so it may differ lawfully until the next attach. */
  readonly clean?: boolean | undefined;
};

/** Copies that an attach would believe, by the highest record that is known: all that a person may choose from. */
export type BelievedCopies = { readonly record: CopyRecord; readonly replicaIds: readonly ReplicaId[] };

export type Judgement = {
  readonly verdict: CopiesVerdict<ReplicaId> | { readonly kind: 'unjudged'; readonly why: string };
  /** `undefined`: it is not known which copies are current, or they may differ lawfully. */
  readonly believed: BelievedCopies | undefined;
};

/**
 * Judges copies of a detached volume. Only those that an attach would believe are compared: the others are behind and may agree
 * with each other. Where one of them may lawfully differ, nothing is judged; the next attach makes them equal.
 */
export function judgeRead(
  view: Pick<VolumeView, 'volume' | 'replicas'>,
  read: readonly ReadCopy[],
): Judgement {
  const believed = believedOf(view, read);
  if (new Set(read.map(({ checksum }) => checksum)).size < 2)
    return { verdict: { kind: 'equal' }, believed: typeof believed === 'string' ? undefined : believed };
  if (typeof believed === 'string')
    return { verdict: { kind: 'unjudged', why: believed }, believed: undefined };
  const current = read.filter(({ replicaId }) => believed.replicaIds.includes(replicaId));
  return { verdict: judgeSums(current, believed.record.members.length), believed };
}

/** Or why none can be named. */
function believedOf(
  view: Pick<VolumeView, 'volume' | 'replicas'>,
  read: readonly ReadCopy[],
): BelievedCopies | string {
  if (isRestored(view.volume)) return 'the database was restored from a backup: attach the volume first';
  const found = new Map<ReplicaId, CopyRecord>();
  for (const { replicaId, record } of read) if (record) found.set(replicaId, record);
  const decision = currentCopies(view, found);
  if (decision.kind === 'wait') return 'it is not known which copies are current: attach the volume first';
  const isUnclean = read.some(
    ({ replicaId, clean }) => decision.current.includes(replicaId) && clean !== true,
  );
  if (isUnclean)
    return 'writes were in flight when it stopped: attach it, which makes them equal, and verify again';
  return { record: decision.record, replicaIds: decision.current };
}
