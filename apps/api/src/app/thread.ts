/**
 * Thread of the pool: runs one job after the other. A refusal is returned, not thrown, since an error that crosses threads
 * loses its class.
 */
import { isFault } from '@holdfast/core/model/faults.js';
import type { ThreadAnswer, ThreadTask } from '../resources/threads/thread-pool.js';
import { JOBS } from './thread-jobs.js';

export default function run({ name, input }: ThreadTask): ThreadAnswer {
  // The pool's `run` has checked the input against the name; the type here is a union.
  const job = JOBS[name] as (...input: readonly unknown[]) => unknown;
  try {
    return { kind: 'done', output: job(...input) };
  } catch (error) {
    if (!isFault(error)) throw error;
    const { cause: _cause, ...details } = error.details;
    return { kind: 'refused', code: error.code, details };
  }
}
