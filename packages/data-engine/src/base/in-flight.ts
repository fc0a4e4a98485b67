/**
 * Works through items in their order, up to `atOnce` of them at any time. None begins once one has failed, and the first failure
 * is thrown when all that have begun have ended: what they lent is given back by then.
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
