import { setTimeout as sleep } from 'node:timers/promises';
import { patient } from './slowness.js';

/** Least time between two questions. */
const POLL_MS = 100;
/** A question that starts a process is asked less often: at this many times what it took. Else asking is most of a machine's work. */
const REST = 2;

/**
 * Asks until the answer passes, and returns it. Fails with the last answer, so that a story that got stuck says where.
 *
 * @param timeoutMs for how long, on a machine that does nothing else
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T> | T,
  passes: (answer: T) => boolean,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + patient(timeoutMs);
  let askedAt = Date.now();
  let answer = await ask();
  while (!passes(answer)) {
    if (Date.now() > deadline) {
      throw new Error(
        `not within ${patient(timeoutMs) / 1000} s: ${what}. Last: ${JSON.stringify(answer, null, 1)?.slice(0, 4_000)}`,
      );
    }
    await sleep(Math.max(POLL_MS, REST * (Date.now() - askedAt)));
    askedAt = Date.now();
    answer = await ask();
  }
  return answer;
}
