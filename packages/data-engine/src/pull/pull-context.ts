/**
 * Shared state of one rebuild on the target's side: its sources, the bounds on work in flight, and the byte counts.
 */
import { MIB } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { NO_BYTES, type RebuildBytes } from '@holdfast/core/model/rebuild.js';
import type { Layer } from '../layers/layer.js';
import type { Payload } from '../nbd/export.js';
import type { BlockHash } from '../protocol/pull.js';
import { diskFault } from './pull-faults.js';
import type { PullSources } from './pull-sources.js';
import type { Throttle } from './throttle.js';

/** Windows in flight: 24 MiB, enough to keep source, network and disk busy together. */
const WINDOWS_IN_FLIGHT = 6;
/** Bytes after which a background flush starts while more data arrives. */
const FLUSH_BEHIND_BYTES = 64 * MIB;

export class PullContext {
  readonly bytes: RebuildBytes = { ...NO_BYTES };
  private readonly inFlight = new Set<Promise<void>>();
  private readonly failures: unknown[] = [];
  private unflushedBytes = 0;
  private flushing: Promise<void> | undefined;
  private flushError: StorageFault | undefined;

  constructor(
    readonly epoch: number,
    readonly blockHash: BlockHash,
    readonly sources: PullSources,
    readonly throttle: Throttle,
    private readonly cancelled: () => boolean,
  ) {}

  requireGoingOn = (): void => {
    if (!this.cancelled()) return;
    throw new StorageFault('rebuild.cancelled', { publicMessage: 'the rebuild was cancelled' });
  };

  /** Starts a piece of work as soon as there is room for it. Its failure is thrown by a later call. */
  async begin(work: () => Promise<void>): Promise<void> {
    this.requireGoingOn();
    while (this.inFlight.size >= (this.throttle.yields ? 1 : WINDOWS_IN_FLIGHT)) {
      await Promise.race(this.inFlight);
    }
    this.throwFailure();
    const sinceMs = this.throttle.nowMs();
    const running: Promise<void> = work()
      .then(() => this.throttle.rest(sinceMs))
      .catch((error: unknown) => void this.failures.push(error))
      .finally(() => this.inFlight.delete(running));
    this.inFlight.add(running);
  }

  /** Waits for all started work, even after a failure: nothing may touch the files afterwards. */
  async drain(): Promise<void> {
    if (this.failures.length > 0) this.sources.hangUp('the copying has failed');
    await Promise.all(this.inFlight);
    await this.flushing;
    this.throwFailure();
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
    await layer.flush().catch((error: unknown) => {
      throw diskFault(error);
    });
  }

  /** Starts writeback while data still arrives, instead of leaving it all to the end. */
  private flushBehind(layer: Layer, lengthBytes: number): void {
    this.unflushedBytes += lengthBytes;
    if (this.unflushedBytes < FLUSH_BEHIND_BYTES || this.flushing !== undefined) return;
    this.unflushedBytes = 0;
    this.flushing = layer
      .flush()
      .catch((error: unknown) => {
        this.flushError = diskFault(error);
      })
      .finally(() => {
        this.flushing = undefined;
      });
  }

  private throwFailure(): void {
    if (this.failures.length > 0) throw this.failures[0];
  }
}
