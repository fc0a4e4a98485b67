import type { WakeUp } from './queue.js';

/**
 * Transactional outbox: the wake-ups that commits have written. They are taken out only when `handOver` has succeeded,
 * so a relay that dies in between leaves them for the next one: each is handed over at least once.
 */
export interface Outbox {
  /** Hands over the oldest ones, at most `limit`, and returns how many there were. Several relays share the work. */
  drain(limit: number, handOver: (wakeUps: readonly WakeUp[]) => Promise<void>): Promise<number>;
  /** Calls `listener` soon after something was written. May miss some: a relay also polls now and then. */
  listen(listener: () => void): Promise<{ close(): Promise<void> }>;
}
