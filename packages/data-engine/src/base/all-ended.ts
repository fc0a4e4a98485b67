/**
 * Waits until all have ended before it throws what the first of them in order has thrown: for those that share memory, which has
 * other users then.
 */
export async function allEnded<Result>(works: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(works);
  return Promise.all(works);
}
