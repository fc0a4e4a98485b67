/**
 * The clock and the timers that engines, copies and rebuilds go by. They are passed in, so that a simulation can make
 * them its own and have hours of a volume's life happen within a second, in the same order for the same seed.
 */
export interface Time {
  /** A clock that never goes back and that people do not set: only differences of it mean anything. */
  nowMs(): number;
  /** The date, for what people read. */
  date(): Date;
  sleep(ms: number): Promise<void>;
  /** Calls once when so much time has passed. @returns what takes that back */
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
