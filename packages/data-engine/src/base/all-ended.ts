/**
 * Waits until all have ended before it throws what the first of them in order has thrown: for those that share memory, which has
 * other users then.
 */
export async function allEnded(works: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(works);
  await Promise.all(works);
}
