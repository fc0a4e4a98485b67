/**
 * Shared state of one rebuild on the target's side: its sources, the bounds on work in flight, and the byte counts.
 */
import { KIB, PART_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { NO_BYTES, type RebuildBytes } from '@holdfast/core/model/rebuild.js';
import type { Layer } from '../layers/layer.js';
import type { Payload } from '../nbd/export.js';
import type { BlockHash } from '../protocol/pull.js';
import { diskFault } from './pull-faults.js';
import type { PullSources } from './pull-sources.js';
import type { Throttle } from './throttle.js';

/** Counters of windows. */
type Kind = 'copied' | 'copied-small' | 'verified' | 'verified-small';

/** Windows of a kind that are under way at once. */
const AT_ONCE: Record<Kind, number> = {
  /** 24 MiB, enough to keep source, network and disk busy together. */
  copied: 6,
  /** In addition: a window of a few blocks takes little of these resources, but as long for each of its steps. */
  'copied-small': 16,
  /** One is read back while another is hashed. */
  verified: 2,
  'verified-small': 8,
};
/** Most bytes of a small window: 6 MiB in all. */
const SMALL_BYTES_MAX = 256 * KIB;
/**
 * Bytes of a layer after which a background flush starts while more data arrives: twice the part that is verified and flushed anyway.
 * Each flush delays the writes beside it by the file system's journal.
 */
const FLUSH_BEHIND_BYTES = 2 * PART_BYTES;

export class PullContext {
  readonly bytes: RebuildBytes = { ...NO_BYTES };
  private readonly underWay: Record<Kind, Set<Promise<void>>> = {
    copied: new Set(),
    'copied-small': new Set(),
    verified: new Set(),
    'verified-small': new Set(),
  };
  /** Verifications that follow the copying, each of one lane of a layer. */
  private readonly followers: Promise<void>[] = [];
  private readonly failures: unknown[] = [];
  private readonly unflushedBytes = new Map<Layer, number>();
  private flushing: Promise<void> | undefined;
  private flushError: StorageFault | undefined;

  constructor(
    readonly epoch: number,
    readonly blockHash: BlockHash,
    readonly sources: PullSources,
    readonly throttle: Throttle,
    private readonly cancelled: () => boolean,
  ) {}

  /** Throws a failure that has already happened, so that nothing else begins or waits. */
  requireGoingOn = (): void => {
    if (this.failures.length > 0) throw this.failures[0];
    if (!this.cancelled()) return;
    throw new StorageFault('rebuild.cancelled', { publicMessage: 'the rebuild was cancelled' });
  };

  /** Ends the attempt: of several failures the first one counts. */
  fail = (error: unknown): void => {
    this.failures.push(error);
    this.sources.hangUp('the copying has failed');
  };

  /** Lanes side by side: when one fails the others are ended, and waited for. */
  async together(lanes: readonly Promise<void>[]): Promise<void> {
    await Promise.all(lanes.map((lane) => lane.catch(this.fail)));
    this.requireGoingOn();
  }

  /** Counts bytes that were compared by hash, which also verifies them. */
  noteCompared(lengthBytes: number): void {
    this.bytes.compared += lengthBytes;
    this.bytes.verified += lengthBytes;
  }

  /**
   * Starts to copy a window as soon as there is room for it. Its failure is thrown by a later call.
   *
   * @param lengthBytes that are copied of it
   */
  copy(work: () => Promise<void>, lengthBytes = WINDOW_BYTES): Promise<void> {
    return this.begin(isSmall(lengthBytes) ? 'copied-small' : 'copied', work);
  }

  /**
   * Starts to verify a window as soon as there is room for it.
   *
   * @param lengthBytes that are read back of it
   */
  verify(work: () => Promise<void>, lengthBytes: number): Promise<void> {
    return this.begin(isSmall(lengthBytes) ? 'verified-small' : 'verified', work);
  }

  /** Resolves when all copying that has begun so far has ended, well or not. */
  copiesBegun = (): Promise<unknown> =>
    Promise.all([...this.underWay.copied, ...this.underWay['copied-small']]);

  /** Has a verification go on beside the copying. */
  follow(verification: Promise<void>): void {
    this.followers.push(verification.catch(this.fail));
  }

  /** Waits for all that was started, even after a failure: nothing may touch the files afterwards. */
  async drain(): Promise<void> {
    await Promise.all(this.followers);
    await Promise.all(this.allUnderWay());
    await this.flushing;
    this.requireGoingOn();
  }

  private async begin(kind: Kind, work: () => Promise<void>) {
    this.requireGoingOn();
    const running = this.underWay[kind];
    while (!this.hasRoom(kind)) await Promise.race(this.allUnderWay());
    this.requireGoingOn();
    const sinceMs = this.throttle.nowMs();
    const one: Promise<void> = work()
      .then(() => this.throttle.rest(sinceMs))
      .catch(this.fail)
      .finally(() => running.delete(one));
    running.add(one);
  }

  /** While users are active only one window is in flight, copied or verified in turn; the rests are for users. */
  private hasRoom(kind: Kind): boolean {
    if (this.throttle.yields) return this.allUnderWay().length === 0;
    return this.underWay[kind].size < AT_ONCE[kind];
  }

  private allUnderWay(): Promise<void>[] {
    return Object.values(this.underWay).flatMap((running) => [...running]);
  }

  async write(layer: Layer, payload: Payload, offset: number, lengthBytes: number): Promise<void> {
    this.requireGoingOn();
    await layer.write(payload, offset, lengthBytes).catch((error: unknown) => {
      throw diskFault(error);
    });
    this.bytes.written += lengthBytes;
    this.flushBehind(layer, lengthBytes);
  }

  async flush(layer: Layer): Promise<void> {
    await this.flushing;
    if (this.flushError !== undefined) throw this.flushError;
    this.unflushedBytes.delete(layer);
    await layer.flush().catch((error: unknown) => {
      throw diskFault(error);
    });
  }

  /** Starts writeback while data still arrives, instead of leaving it all to the end. */
  private flushBehind(layer: Layer, lengthBytes: number): void {
    const unflushedBytes = (this.unflushedBytes.get(layer) ?? 0) + lengthBytes;
    this.unflushedBytes.set(layer, unflushedBytes);
    if (unflushedBytes < FLUSH_BEHIND_BYTES || this.flushing !== undefined) return;
    this.unflushedBytes.delete(layer);
    this.flushing = layer
      .flush()
      .catch((error: unknown) => {
        this.flushError = diskFault(error);
      })
      .finally(() => {
        this.flushing = undefined;
      });
  }
}

function isSmall(lengthBytes: number): boolean {
  return lengthBytes <= SMALL_BYTES_MAX;
}
