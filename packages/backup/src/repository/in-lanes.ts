/** Does work for each item, some at a time. Ends when all that was begun has ended, also where one fails. */
export async function inLanes<Item>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  let isFailed = false;
  const lane = async () => {
    while (next < items.length && !isFailed) {
      const item = items[next] as Item;
      next += 1;
      try {
        await work(item);
      } catch (error) {
        isFailed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(lanes, items.length) }, lane));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}
