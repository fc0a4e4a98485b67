/** What one copy found when it hashed a snapshot. */
export type HashedCopy = {
  replicaId: string;
  checksum: string;
  /** It had another checksum before, and its files say that nobody has changed them since. */
  silentlyCorrupted: boolean;
};

/**
 * Which copies hold something else than they should: those that differ from more than half of all. Where no more than
 * half agree, those that know by themselves that their disk has changed what they held.
 *
 * Never all: a copy is repaired by being rebuilt from another one, and the last one that may be good is not touched.
 */
export function decideCorrupted(copies: readonly HashedCopy[]): string[] {
  const counts = new Map<string, number>();
  for (const { checksum } of copies) counts.set(checksum, (counts.get(checksum) ?? 0) + 1);
  const majority = [...counts].find(([, count]) => count * 2 > copies.length)?.[0];
  const isCorrupted = (copy: HashedCopy) =>
    majority === undefined ? copy.silentlyCorrupted : copy.checksum !== majority;
  const corrupted = copies.filter(isCorrupted);
  return corrupted.length === copies.length ? [] : corrupted.map(({ replicaId }) => replicaId);
}
