/** An action over many volumes: tried first, then done, a few at a time, with a result for each. */

import type { BulkResult } from '../api/bulk-calls';

export type BulkItem = { readonly id: string; readonly name: string };

/** Leaves room for a user's other work: the API bounds the concurrent requests of one organization. */
const AT_ONCE_MAX = 6;

/**
 * Runs the work for each item, in their order, so many at a time; a refusal of one holds no other.
 *
 * @param onResult called as each ends
 */
export async function runEach(
  items: readonly BulkItem[],
  work: (item: BulkItem) => Promise<BulkResult>,
  onResult: (id: string, result: BulkResult) => void,
): Promise<void> {
  const waiting = [...items];
  const run = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift())
      onResult(item.id, await work(item));
  };
  await Promise.all(Array.from({ length: AT_ONCE_MAX }, run));
}

/** `3 of 5 can be deleted`. */
export function summaryOf(results: readonly BulkResult[], words: string): string {
  const ok = results.filter(({ kind }) => kind === 'ok').length;
  return `${ok} of ${results.length} ${words}`;
}
