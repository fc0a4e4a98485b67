import { setTimeout as sleep } from 'node:timers/promises';

/** Least time between two questions. */
const POLL_MS = 100;
/** A question that starts a process is asked less often: at this many times what it took. Else asking is most of a machine's work. */
const REST = 2;
/**
 * Ends a wait for an event that never comes. Far above what any event takes on a machine that other work keeps busy, and below Jest's own
 * limit, so that the message says what was waited for.
 */
const LIMIT_MS = 300_000;

/** Asks until the answer passes, and returns it. Fails with the last answer, so that a story that got stuck says where. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T> | T,
  passes: (answer: T) => boolean,
): Promise<T> {
  const deadline = Date.now() + LIMIT_MS;
  let askedAt = Date.now();
  let answer = await ask();
  while (!passes(answer)) {
    if (Date.now() > deadline) {
      throw new Error(
        `not within ${LIMIT_MS / 1000} s: ${what}. Last: ${JSON.stringify(answer, null, 1)?.slice(0, 4_000)}`,
      );
    }
    await sleep(Math.max(POLL_MS, REST * (Date.now() - askedAt)));
    askedAt = Date.now();
    answer = await ask();
  }
  return answer;
}
