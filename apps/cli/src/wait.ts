import { setTimeout as sleep } from 'node:timers/promises';
import { CliError, EXIT } from './exit-codes.js';

const POLL_MS = 300;

/** Polls until the answer meets the condition. Ends with exit code 8 when it takes too long. */
export async function waitFor<T>(
  ask: () => Promise<T>,
  isDone: (answer: T) => boolean,
  timeoutMs: number,
  what: string,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (isDone(answer)) return answer;
    if (Date.now() >= deadline)
      throw new CliError(EXIT.timedOut, `${what} took longer than ${timeoutMs / 1000} s`);
    await sleep(POLL_MS);
  }
}
