export type Closable = { close(): Promise<void> };

/**
 * Closes all of the given resources in turn, even if some fail: a leaked lock or file would keep the copy from being
 * opened again.
 *
 * @throws the first failure, after everything is closed
 */
export async function closeAll(opened: Iterable<Closable>): Promise<void> {
  const failures: unknown[] = [];
  for (const one of opened) {
    await one.close().catch((error: unknown) => void failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}
