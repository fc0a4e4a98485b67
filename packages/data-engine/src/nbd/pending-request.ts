/** Pending requests of a client: the received part of each reply, and the receiver of its end. */
import type { NbdError } from './errors.js';
import type { Extent, WriteListener } from './export.js';
import type { ReadAssembly } from './read-assembly.js';

export abstract class PendingRequest {
  /** When a byte of this request's own reply last arrived. */
  movedAtMs: number;
  extents: Extent[] | undefined;
  error: NbdError | undefined;

  constructor(
    readonly sentAtMs: number,
    readonly read: ReadAssembly | undefined,
  ) {
    this.movedAtMs = sentAtMs;
  }

  /** Completes the request with the whole reply. @throws ProtocolError if it is not valid; nothing is completed then */
  abstract answered(): void;

  /** Tells that no reply comes. */
  abstract failed(reason: Error): void;
}

/** Pending request with a promise. */
export class PendingCall<Result> extends PendingRequest {
  /** @param result the caller's value, taken from the whole reply */
  constructor(
    sentAtMs: number,
    read: ReadAssembly | undefined,
    private readonly result: (reply: PendingRequest) => Result,
    private readonly resolve: (result: Result) => void,
    private readonly reject: (error: Error) => void,
  ) {
    super(sentAtMs, read);
  }

  answered(): void {
    if (this.error !== undefined) this.reject(this.error);
    else this.resolve(this.result(this));
  }

  failed(reason: Error): void {
    this.reject(reason);
  }
}

/**
 * Pending request with a listener: a write, or one of several reads that are awaited together.
 *
 * It drops the listener at its end. V8 replaces the table of a `Map` every few entries, and a replaced table refers to its content
 * and to the next one. Once such a table is among the old objects, a young collection keeps everything reachable from it alive: the
 * payloads of half of all writes would wait for a full collection.
 */
export class PendingTold<Tag> extends PendingRequest {
  private listener: WriteListener<Tag> | undefined;
  private tag: Tag | undefined;

  constructor(sentAtMs: number, listener: WriteListener<Tag>, tag: Tag, read?: ReadAssembly) {
    super(sentAtMs, read);
    this.listener = listener;
    this.tag = tag;
  }

  answered(): void {
    if (this.error === undefined) this.read?.requireWhole();
    this.tell(this.error);
  }

  failed(reason: Error): void {
    this.tell(reason);
  }

  private tell(failure: unknown): void {
    const { listener, tag } = this;
    this.listener = undefined;
    this.tag = undefined;
    // The cast: it is removed with the listener only.
    listener?.written(tag as Tag, failure);
  }
}
