/**
 * Clock and timers of engines, copies and rebuilds. Injected, so that a simulation can replace them and run hours of
 * a volume's life within a second, in the same order for the same seed.
 */
export interface Time {
  /** Monotonic clock in milliseconds: only differences of it mean anything. */
  nowMs(): number;
  /** Wall-clock time, for display only. */
  date(): Date;
  sleep(ms: number): Promise<void>;
  /** Calls once after the given time. @returns a function that cancels the call */
  after(ms: number, call: () => void): () => void;
}

export const SYSTEM_TIME: Time = {
  nowMs: () => performance.now(),
  date: () => new Date(),
  sleep: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Resolves when the work has ended, or when the limit has passed; the work then continues. @throws what the work throws before that
 */
export async function within(limitMs: number, work: Promise<unknown>, time: Time): Promise<void> {
  let cancel: () => void = () => undefined;
  const tooLate = new Promise<void>((resolve) => {
    cancel = time.after(limitMs, resolve);
  });
  await Promise.race([work, tooLate]).finally(cancel);
}
