/**
 * Bounded waits for agents and engines. These are the only timers of this package: they run in real time, and never
 * decide anything but whether to go on without an answer.
 */

/** The answer, or `undefined` when there is none in time. The work continues; its outcome is then ignored. */
export async function withTimeout<T>(limitMs: number, work: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeUp = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  // After the timeout nothing else handles a failure.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

export type Enough<T> = {
  /** True if the present answers suffice. Evaluated with each new one. */
  isEnough: (answers: readonly (T | undefined)[]) => boolean;
  /** How much longer the rest is waited for after that. */
  patienceMs: number;
};

/** All answers, in order; once they are enough, without those that take too long (`undefined`). The first failure ends it. */
export function collectWithin<T>(
  asked: readonly Promise<T>[],
  { isEnough, patienceMs }: Enough<T>,
): Promise<(T | undefined)[]> {
  const answers: (T | undefined)[] = asked.map(() => undefined);
  let waiting = asked.length;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const inTime = new Promise<(T | undefined)[]>((resolve, reject) => {
    if (waiting === 0) resolve(answers);
    asked.forEach((promise, index) => {
      promise.then((answer) => {
        answers[index] = answer;
        waiting -= 1;
        if (waiting === 0) resolve(answers);
        else if (timer === undefined && isEnough(answers))
          timer = setTimeout(() => resolve([...answers]), patienceMs);
      }, reject);
    });
  });
  return inTime.finally(() => clearTimeout(timer));
}
