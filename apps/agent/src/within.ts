/**
 * The answer of the work, or what `late` makes when there is none in time. The work itself goes on; its end is ignored.
 */
export async function within<T>(limitMs: number, work: Promise<T>, late: () => T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<T>((resolve, reject) => {
    timer = setTimeout(() => {
      Promise.resolve().then(late).then(resolve, reject);
    }, limitMs);
  });
  // After the limit nothing else handles a failure of the work.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
