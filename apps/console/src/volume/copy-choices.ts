/** Copies of a volume that differ without a majority, grouped as a user chooses between them. */
import type { Volume } from '../api/types';

export type CopyChoice = {
  /** Copies that hold the same. */
  readonly replicaIds: readonly string[];
  readonly nodeIds: readonly (string | null)[];
  /** Null: only a snapshot of them was compared, so each is its own choice and the API says whether it can be taken alone. */
  readonly checksum: string | null;
  readonly writtenBytes: number | null;
};

type ComparedVolume = {
  readonly verification: Pick<NonNullable<Volume['verification']>, 'verdict' | 'replicas'> | null;
  readonly conditions: readonly Pick<Volume['conditions'][number], 'type' | 'status'>[];
  readonly replicas: readonly Pick<Volume['replicas'][number], 'id' | 'nodeId' | 'healthyAt' | 'failedAt'>[];
};

/** Is it open which of its copies are right? */
export function isChoiceOpen({ conditions }: Pick<ComparedVolume, 'conditions'>): boolean {
  return conditions.some(({ type, status }) => type === 'CopiesDiffer' && status === 'True');
}

/** The largest group first; copies that were not read to their end are in none. */
export function copyChoices({ verification, replicas }: ComparedVolume): CopyChoice[] {
  const full = replicas.filter(({ healthyAt, failedAt }) => healthyAt !== null && failedAt === null);
  const sums = verification?.verdict === 'tie' ? verification.replicas : undefined;
  const groups = new Map<string, CopyChoice>();
  for (const { id, nodeId } of full) {
    const read = sums?.find(({ replicaId }) => replicaId === id);
    const checksum = read?.checksum ?? null;
    if (sums !== undefined && checksum === null) continue;
    const key = checksum ?? id;
    const known = groups.get(key);
    groups.set(key, {
      replicaIds: [...(known?.replicaIds ?? []), id],
      nodeIds: [...(known?.nodeIds ?? []), nodeId],
      checksum,
      writtenBytes: read?.writtenBytes ?? null,
    });
  }
  return [...groups.values()].sort((a, b) => b.replicaIds.length - a.replicaIds.length);
}
