/**
 * Data connection from an engine to a copy in the same process: requests are calls, with no socket in between.
 *
 * To the engine it behaves as an NBD connection does: a copy's errors are answers with an NBD error number, a request that hangs
 * counts as silence, and closing fails what is in flight. To the copy the connection lasts until all requests have ended.
 */
import { BLOCK_BYTES, MIB } from '@holdfast/core/model/bytes.js';
import { allEnded } from '../base/all-ended.js';
import type { Time } from '../base/time.js';
import { NbdErrno } from '../nbd/constants.js';
import type { DataLink } from '../nbd/data-link.js';
import { errnoOf, NbdError } from '../nbd/errors.js';
import {
  type Extent,
  moveInto,
  type NbdExport,
  type NbdWrite,
  type Payload,
  type PlacedRead,
  tellWhenEnded,
  type WriteListener,
  type WriteOptions,
  type ZeroOptions,
} from '../nbd/export.js';

/** Longer trims and zeroes are split, so that one never occupies the copy for long. As over NBD. */
const RANGE_BYTES_MAX = 1024 * MIB;
/** Extents in one answer; the engine asks again for the rest. As over NBD. */
const EXTENTS_MAX = 4096;

type Pending = { readonly sentAtMs: number; readonly reject: (error: Error) => void };

/** A write in progress. Its listener is called once, and dropped for the same reason as that of a `PendingTold`. */
class LocalWrite implements Pending {
  constructor(
    readonly sentAtMs: number,
    private listener: WriteListener<unknown> | undefined,
    private tag: unknown,
  ) {}

  tell(failure: unknown): void {
    const { listener, tag } = this;
    this.listener = undefined;
    this.tag = undefined;
    listener?.written(tag, failure);
  }

  reject(error: Error): void {
    this.tell(error);
  }
}

export class LocalLink implements DataLink {
  readonly isHere = true;
  readonly readOnly = false;
  readonly blockSizeMinBytes = 1;
  /** Resolves when the connection is closed and the copy works on none of its requests any more. */
  readonly ended: Promise<void>;
  heardAtMs: number;
  private readonly pending = new Set<Pending>();
  private readonly closeHandlers: ((reason: Error) => void)[] = [];
  private closedBy: Error | undefined;
  /** Requests that the copy works on, those of a closed connection included. */
  private running = 0;
  private end: () => void = () => undefined;
  private answeredAtMs: number;
  private excusedAtMs = 0;

  constructor(
    private readonly target: NbdExport,
    private readonly time: Pick<Time, 'nowMs'>,
  ) {
    this.heardAtMs = time.nowMs();
    this.answeredAtMs = this.heardAtMs;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  get sizeBytes(): number {
    return this.target.sizeBytes;
  }

  get closed(): boolean {
    return this.closedBy !== undefined;
  }

  async ping(): Promise<void> {
    await this.blockStatus(0, Math.min(BLOCK_BYTES, this.sizeBytes), 1);
  }

  silentForMs(nowMs: number): number {
    const oldest: Pending | undefined = this.pending.values().next().value;
    if (oldest === undefined) return 0;
    const sinceMs = Math.max(oldest.sentAtMs, this.excusedAtMs);
    return Math.max(0, nowMs - Math.max(sinceMs, this.answeredAtMs), this.heardAtMs - sinceMs);
  }

  excuseSilence(): void {
    this.excusedAtMs = this.time.nowMs();
  }

  onClose(handler: (reason: Error) => void): void {
    if (this.closedBy !== undefined) handler(this.closedBy);
    else this.closeHandlers.push(handler);
  }

  close(): void {
    this.destroy(new Error('the connection was closed'));
  }

  destroy(reason: Error): void {
    if (this.closedBy !== undefined) return;
    this.closedBy = reason;
    const failed = [...this.pending];
    this.pending.clear();
    if (this.running === 0) this.end();
    for (const handler of this.closeHandlers) handler(reason);
    for (const pending of failed) pending.reject(reason);
  }

  read(offset: number, lengthBytes: number): Promise<Payload> {
    if (this.isPastEnd(offset, lengthBytes)) return pastEnd(NbdErrno.Invalid);
    return this.request(() => this.target.read(offset, lengthBytes));
  }

  async readEachInto(reads: readonly PlacedRead[]): Promise<void> {
    await allEnded(
      reads.map(async ({ offset, buffer }) => moveInto(buffer, await this.read(offset, buffer.length))),
    );
  }

  readNow(offset: number, lengthBytes: number, alone?: boolean): Payload | undefined {
    if (this.closedBy !== undefined || this.isPastEnd(offset, lengthBytes)) return undefined;
    const sentAtMs = this.time.nowMs();
    let payload: Payload | undefined;
    try {
      payload = this.target.readNow?.(offset, lengthBytes, alone);
    } catch {
      // Told by the read that follows.
      return undefined;
    }
    if (payload !== undefined) this.heard(sentAtMs);
    return payload;
  }

  write(offset: number, payload: Payload, lengthBytes: number, options: WriteOptions): Promise<void> {
    if (this.isPastEnd(offset, lengthBytes)) return pastEnd(NbdErrno.NoSpace);
    return this.request(() => this.target.write(offset, payload, lengthBytes, options));
  }

  beginWrite<Tag>(write: NbdWrite, listener: WriteListener<Tag>, tag: Tag): void {
    if (this.isWrittenNow(write)) listener.written(tag, undefined);
    else if (this.target.beginWrite === undefined || this.isRefused(write))
      tellWhenEnded(this.write(write.offset, write.payload, write.lengthBytes, write), listener, tag);
    else {
      // The cast: the tag only goes back to the listener that it came with.
      const pending = new LocalWrite(this.time.nowMs(), listener as WriteListener<unknown>, tag);
      this.pending.add(pending);
      this.running += 1;
      this.target.beginWrite(write, this.targetListener, pending);
    }
  }

  private readonly targetListener: WriteListener<LocalWrite> = {
    written: (pending, failure) => {
      const isWaitedFor = this.pending.has(pending);
      this.answered(pending);
      if (isWaitedFor) pending.tell(failure === undefined ? undefined : asAnswer(failure));
    },
  };

  private isRefused({ offset, lengthBytes }: NbdWrite): boolean {
    return this.closedBy !== undefined || this.isPastEnd(offset, lengthBytes);
  }

  private isWrittenNow(write: NbdWrite): boolean {
    const { offset, lengthBytes, payload, fua } = write;
    if (fua || this.isRefused(write)) return false;
    const sentAtMs = this.time.nowMs();
    try {
      if (this.target.writeNow?.(offset, payload, lengthBytes) !== true) return false;
    } catch {
      // Told by the write that follows.
      return false;
    }
    this.heard(sentAtMs);
    return true;
  }

  flush(): Promise<void> {
    return this.request(() => this.target.flush());
  }

  trim(offset: number, lengthBytes: number, options: WriteOptions): Promise<void> {
    return this.inRanges(offset, lengthBytes, (at, length) => this.target.trim(at, length, options));
  }

  writeZeroes(offset: number, lengthBytes: number, options: ZeroOptions): Promise<void> {
    return this.inRanges(offset, lengthBytes, (at, length) => this.target.writeZeroes(at, length, options));
  }

  blockStatus(offset: number, lengthBytes: number, extentsMax: number): Promise<Extent[]> {
    if (this.isPastEnd(offset, lengthBytes)) return pastEnd(NbdErrno.Invalid);
    const asked = Math.min(lengthBytes, RANGE_BYTES_MAX);
    return this.request(() => this.target.blockStatus(offset, asked, Math.min(extentsMax, EXTENTS_MAX)));
  }

  private async inRanges(
    offset: number,
    lengthBytes: number,
    work: (offset: number, lengthBytes: number) => Promise<void>,
  ): Promise<void> {
    if (this.isPastEnd(offset, lengthBytes)) return pastEnd(NbdErrno.NoSpace);
    for (let done = 0; done < lengthBytes; done += RANGE_BYTES_MAX) {
      const asked = Math.min(RANGE_BYTES_MAX, lengthBytes - done);
      await this.request(() => work(offset + done, asked));
    }
  }

  private request<T>(work: () => Promise<T>): Promise<T> {
    if (this.closedBy !== undefined) return Promise.reject(this.closedBy);
    return new Promise((resolve, reject) => {
      const pending: Pending = { sentAtMs: this.time.nowMs(), reject };
      this.pending.add(pending);
      this.running += 1;
      work().then(
        (answer) => {
          this.answered(pending);
          resolve(answer);
        },
        (error: unknown) => {
          this.answered(pending);
          reject(asAnswer(error));
        },
      );
    });
  }

  private answered(pending: Pending): void {
    this.running -= 1;
    if (this.closedBy === undefined) {
      this.pending.delete(pending);
      this.heard(pending.sentAtMs);
    } else if (this.running === 0) this.end();
  }

  private heard(sentAtMs: number): void {
    this.answeredAtMs = this.time.nowMs();
    if (sentAtMs > this.heardAtMs) this.heardAtMs = sentAtMs;
  }

  private isPastEnd(offset: number, lengthBytes: number): boolean {
    return offset + lengthBytes > this.target.sizeBytes;
  }
}

/** The error as it would come over NBD. */
function asAnswer(error: unknown): NbdError {
  if (error instanceof NbdError) return error;
  return new NbdError(errnoOf(error), error instanceof Error ? error.message : 'failed');
}

function pastEnd(errno: number): Promise<never> {
  return Promise.reject(new NbdError(errno, 'past the end of the device'));
}
