export type Closable = { close(): Promise<void> };

/**
 * Closes one after the other, all of them even where some fail: a lock or a file that stayed with the process could not be
 * taken by whoever opens the copy next.
 *
 * @throws the first failure, once nothing is open any more
 */
export async function closeAll(opened: Iterable<Closable>): Promise<void> {
  const failures: unknown[] = [];
  for (const one of opened) {
    await one.close().catch((error: unknown) => void failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}
