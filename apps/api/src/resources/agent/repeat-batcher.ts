import { StorageFault } from '@holdfast/core/model/faults.js';
import type { NodeId } from '@holdfast/core/model/ids.js';
import type { RepeatedHeartbeat, StoredRepeat } from '@holdfast/database/store/heartbeat-repeats.js';

/** Nodes of one transaction: it is a few milliseconds long. */
const BATCH_MAX = 500;
/** Maximum number of waiting agents: each has a node of its own, and a refused one retries. */
const WAITING_MAX = 10_000;

type Waiting = {
  readonly repeat: RepeatedHeartbeat;
  readonly resolve: (stored: StoredRepeat | undefined) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Batches unchanged heartbeats into one transaction. One transaction runs at a time: heartbeats that arrive meanwhile join the next one.
 */
export class RepeatBatcher {
  private waiting = new Map<NodeId, Waiting>();
  private timer: NodeJS.Timeout | undefined;
  private isRunning = false;

  /** @param windowMs longest wait for others; short compared with the silence after which an agent is queried */
  constructor(
    private readonly store: (repeats: readonly RepeatedHeartbeat[]) => Promise<Map<NodeId, StoredRepeat>>,
    private readonly windowMs: number,
  ) {}

  /**
   * @returns undefined: the full report is required
   * @throws StorageFault `store.unavailable`
   */
  add(repeat: RepeatedHeartbeat): Promise<StoredRepeat | undefined> {
    // The node's last heartbeat still waits, so its agent has given up on it.
    if (this.waiting.has(repeat.nodeId)) return Promise.resolve(undefined);
    if (this.waiting.size >= WAITING_MAX) throw tooMany();
    return new Promise((resolve, reject) => {
      this.waiting.set(repeat.nodeId, { repeat, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.isRunning || this.timer !== undefined || this.waiting.size === 0) return;
    this.timer = setTimeout(() => void this.run(), this.windowMs);
  }

  private async run(): Promise<void> {
    this.timer = undefined;
    this.isRunning = true;
    const batch = [...this.waiting.values()].slice(0, BATCH_MAX);
    for (const { repeat } of batch) this.waiting.delete(repeat.nodeId);
    try {
      const stored = await this.store(batch.map(({ repeat }) => repeat));
      for (const { repeat, resolve } of batch) resolve(stored.get(repeat.nodeId));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.isRunning = false;
      this.schedule();
    }
  }
}

function tooMany(): StorageFault {
  return new StorageFault('store.unavailable', {
    publicMessage: 'too many agents wait for the database',
    cures: ['wait: agents ask again'],
    retryAfterSeconds: 2,
  });
}
