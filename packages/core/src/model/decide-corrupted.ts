/** Result of hashing a snapshot on one copy. */
export type HashedCopy<Id extends string = string> = {
  replicaId: Id;
  checksum: string;
  /** True if it had another checksum before, although its files were not changed since. */
  silentlyCorrupted: boolean;
  /** The checksum that was recorded before; null or absent where there was none. */
  recorded?: string | null | undefined;
};

/**
 * Decides which copies are corrupted: those that differ from a majority of all. Without a majority, those that report
 * silent corruption by their own disk.
 *
 * Never all: a corrupted copy is rebuilt from another one, and the last copy that may be good is kept.
 */
export function decideCorrupted<Id extends string>(copies: readonly HashedCopy<Id>[]): Id[] {
  const counts = new Map<string, number>();
  for (const { checksum } of copies) counts.set(checksum, (counts.get(checksum) ?? 0) + 1);
  const majority = [...counts].find(([, count]) => count * 2 > copies.length)?.[0];
  const isCorrupted = (copy: HashedCopy<Id>) =>
    majority === undefined ? copy.silentlyCorrupted : copy.checksum !== majority;
  const corrupted = copies.filter(isCorrupted);
  return corrupted.length === copies.length ? [] : corrupted.map(({ replicaId }) => replicaId);
}

/**
 * Decides which copies can't prove a layer: those that differ from a majority of all. Without a majority, those whose content differs
 * from their own recorded checksum, while another copy's does not. Never all, and none if no copy has a proof.
 */
export function decideUnproven<Id extends string>(copies: readonly HashedCopy<Id>[]): Id[] {
  const corrupted = decideCorrupted(copies);
  if (corrupted.length > 0 || new Set(copies.map(({ checksum }) => checksum)).size < 2) return corrupted;
  const proven = new Set(copies.filter(isProven).map(({ checksum }) => checksum));
  // Two that both prove another content: neither is known to be wrong.
  if (proven.size !== 1) return [];
  return copies
    .filter((copy) => !proven.has(copy.checksum) && copy.recorded != null && !isProven(copy))
    .map(({ replicaId }) => replicaId);
}

function isProven({ checksum, recorded }: HashedCopy): boolean {
  return checksum === recorded;
}
