/** The result of the work, or of `late` if it takes too long. The work itself continues; its end is ignored. */
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
