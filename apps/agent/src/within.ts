/** The answer, or what `late` makes when there is none in time. The work goes on; its end is then not looked at. */
export async function within<T>(limitMs: number, work: Promise<T>, late: () => T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<T>((resolve, reject) => {
    timer = setTimeout(() => {
      Promise.resolve().then(late).then(resolve, reject);
    }, limitMs);
  });
  // Once the time is up nothing else looks at a failure.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
