/**
 * Do a node's or disk's tags satisfy a volume's selector? Every selector has to be among the tags, spelled the same.
 *
 * An empty selector matches everything, or, where `allowEmptySelector` is false, only what has no tags: tagged nodes
 * and disks are then kept for the volumes that ask for them.
 */
export function tagsMatch(
  tags: readonly string[],
  selector: readonly string[],
  allowEmptySelector: boolean,
): boolean {
  if (selector.length === 0) return allowEmptySelector || tags.length === 0;
  return selector.every((wanted) => tags.includes(wanted));
}
