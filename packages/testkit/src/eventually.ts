import { setTimeout as sleep } from 'node:timers/promises';

/** Least time between two questions. */
const POLL_MS = 100;
/**
 * A check that starts a process is repeated less often: at this multiple of its duration. Otherwise checking would be most of a
 * machine's work.
 */
const REST = 2;
/**
 * Ends a wait for an event that never comes. Far above the duration of any event on a machine that other work keeps busy, and below
 * Jest's own limit, so that the message names the event.
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
