import type { Socket } from 'node:net';
import { KIB } from '@holdfast/core/model/bytes.js';

/** Bytes that are sent without waiting for more: from here on the system call costs little beside the bytes. */
const HELD_BYTES_MAX = 64 * KIB;
/** Maximum delay of a message. */
const HELD_MAX_MS = 1;

/**
 * Write coalescing: gathers all messages of one turn of the event loop into one system call.
 *
 * The disk and the network complete many requests in one turn; a call for each reply would cost more than the replies
 * themselves.
 */
export class CorkedWriter {
  private messages = 0;
  private bytes = 0;
  private corked = false;
  private scheduled = false;
  private deadline: NodeJS.Timeout | undefined;

  /**
   * `expected` returns how many more messages are sure to follow soon. While they far outnumber those gathered, these
   * wait a moment longer.
   */
  constructor(
    private readonly socket: Socket,
    private readonly expected: () => number = () => 0,
  ) {}

  /** `sent` is called when the pieces are no longer used: the kernel has them, or the connection is closed. */
  send(pieces: readonly Buffer[], sent?: () => void): void {
    if (!this.gather(pieces, sent)) return;
    if (!this.scheduled) setImmediate(this.endTurn);
    this.scheduled = true;
  }

  /** Sends a message together with those gathered before it: no other follows in this turn, whose end costs a system call. */
  sendNow(pieces: readonly Buffer[], sent?: () => void): void {
    if (this.gather(pieces, sent)) this.flush();
  }

  /** @returns false where nothing is sent any more */
  private gather(pieces: readonly Buffer[], sent?: () => void): boolean {
    if (this.socket.destroyed || this.socket.writableEnded) {
      sent?.();
      return false;
    }
    if (!this.corked) this.socket.cork();
    this.corked = true;
    this.messages += 1;
    let left = pieces.length;
    for (const piece of pieces) {
      left -= 1;
      this.bytes += piece.length;
      this.socket.write(piece, left === 0 ? sent : undefined);
    }
    return true;
  }

  get queuedBytes(): number {
    return this.socket.writableLength;
  }

  private readonly endTurn = (): void => {
    this.scheduled = false;
    if (!this.corked) return;
    // A quarter of what is in flight: at depth 4 and below nothing waits, at depth 32 eight replies share a call.
    if (this.bytes >= HELD_BYTES_MAX || this.messages * 4 >= this.expected()) this.flush();
    else this.deadline ??= setTimeout(this.flush, HELD_MAX_MS);
  };

  private readonly flush = (): void => {
    clearTimeout(this.deadline);
    this.deadline = undefined;
    this.corked = false;
    this.messages = 0;
    this.bytes = 0;
    this.socket.uncork();
  };
}
