/**
 * Works through items in order, up to `atOnce` at any time. After a failure no further item begins; the failure is thrown once all
 * that have begun have ended, because buffers that they borrowed are returned by then.
 */
export async function inFlight<Item>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const walk = async () => {
    for (let next = rest.next(); !next.done && failures.length === 0; next = rest.next()) {
      await work(next.value).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, walk));
  if (failures.length > 0) throw failures[0];
}
