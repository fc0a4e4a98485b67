/**
 * Which calls to a disk the event loop makes itself, instead of leaving them to a thread.
 *
 * Waking a thread and being woken by it takes about half as long as a fast disk needs for 4 KiB. A request that is alone pays
 * for both with its latency, and gains nothing by them: no other one could be served meanwhile. So the event loop waits for the
 * disk itself while the disk answers at once, and while no thread of this process works on anything.
 *
 * A disk that was slow once goes back to threads, for so long that waiting for slow calls takes a twentieth of the time at most.
 */
import { KIB } from '@holdfast/core/model/bytes.js';
import { SYSTEM_TIME, type Time } from '../base/time.js';

/** From here on a call takes so long that a thread's share of it no longer matters. */
const FAST_MS_MAX = 1;
/**
 * From here on a copy into memory has waited for the disk. On a busy machine the processor is often given to another thread
 * for some milliseconds, which says nothing about a disk.
 */
const FAST_COPY_MS_MAX = 8;
/** Calls in a row that threads had back so soon before the event loop waits for one. */
const FAST_CALLS_MIN = 4;
/** Pause after a slow call, as a multiple of what the call took. */
const PAUSE_PER_CALL = 20;
/** Longer transfers take longer than a thread's wake-up on any disk. */
const TRANSFER_BYTES_MAX = 32 * KIB;
/** Longer copies into memory do. */
const COPY_BYTES_MAX = 128 * KIB;

export class DiskPace {
  /** Calls that threads are working on. */
  private threaded = 0;
  private fastCalls = 0;
  private pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** Work that this disk must not delay. */
  private independent = 0;

  constructor(private readonly time: Pick<Time, 'nowMs'> = SYSTEM_TIME) {}

  /** May the event loop wait for a transfer of so many bytes? */
  mayWait(lengthBytes: number): boolean {
    return (
      this.threaded === 0 &&
      lengthBytes <= TRANSFER_BYTES_MAX &&
      this.fastCalls >= FAST_CALLS_MIN &&
      this.mayCopy(lengthBytes)
    );
  }

  /**
   * May the event loop copy so many bytes into the page cache? Unlike a transfer, that does not wait for what threads do with the
   * disk, except where the file system does; then it was slow. So nothing has to be known of the disk first.
   */
  mayCopy(lengthBytes: number): boolean {
    return this.independent === 0 && lengthBytes <= COPY_BYTES_MAX && this.time.nowMs() >= this.pausedUntilMs;
  }

  /**
   * Registers work of this process that continues without the disk, such as an engine with copies on other nodes. Meanwhile the event
   * loop waits for no call to the disk, which may hang.
   *
   * @returns to be called once, when that work has ended
   */
  beginIndependent(): () => void {
    this.independent += 1;
    return () => {
      this.independent -= 1;
    };
  }

  /** Makes a call on the event loop that waits for the disk. The caller has asked `mayWait`. */
  wait<T>(call: () => T): T {
    return this.measured(call, FAST_MS_MAX);
  }

  /** Makes a copy on the event loop. The caller has asked `mayCopy`. */
  copy<T>(call: () => T): T {
    return this.measured(call, FAST_COPY_MS_MAX);
  }

  private measured<T>(call: () => T, fastMsMax: number): T {
    const fromMs = this.time.nowMs();
    try {
      return call();
    } finally {
      const nowMs = this.time.nowMs();
      if (nowMs - fromMs > fastMsMax) {
        this.fastCalls = 0;
        this.pausedUntilMs = nowMs + PAUSE_PER_CALL * (nowMs - fromMs);
      }
    }
  }

  /**
   * Notes that a thread begins a call.
   *
   * @param lengthBytes of a transfer; 0 for another call, such as a sync or a copy, which says nothing about the next transfer
   * @returns to be called once, when the call has ended
   */
  beginThreaded(lengthBytes = 0): () => void {
    const isMeasured = this.threaded === 0 && lengthBytes > 0 && lengthBytes <= TRANSFER_BYTES_MAX;
    const fromMs = this.time.nowMs();
    this.threaded += 1;
    return () => {
      this.threaded -= 1;
      // One that shared the disk with others says nothing about a call alone.
      if (isMeasured) this.fastCalls = this.time.nowMs() - fromMs <= FAST_MS_MAX ? this.fastCalls + 1 : 0;
    };
  }
}

/** Disk pace of this process. One is enough: a process holds copies of one disk only. */
export const DISK_PACE = new DiskPace();
