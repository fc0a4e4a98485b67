import { SilenceError } from './agent-circuits.js';

/**
 * Time limit for a call: it ends within the limit, whatever the work does. The signal requests the work to stop, but is not trusted
 * to end it: a request that is still connecting ignores it.
 *
 * @throws SilenceError when the time is up
 */
export function withinLimit<T>(limitMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController();
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      const error = new SilenceError(`timeout: no complete answer within ${limitMs} ms`);
      reject(error);
      ending.abort(error);
    }, limitMs);
    work(ending.signal)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
