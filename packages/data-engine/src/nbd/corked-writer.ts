import type { Socket } from 'node:net';

/**
 * Gathers all that is sent during one turn of the event loop into one system call.
 *
 * The disk and the network complete many requests in one turn; a call for each reply would cost more than the
 * replies themselves.
 */
export class CorkedWriter {
  private corked = false;

  constructor(private readonly socket: Socket) {}

  send(...pieces: readonly Buffer[]): void {
    if (this.socket.destroyed || this.socket.writableEnded) return;
    if (!this.corked) {
      this.corked = true;
      this.socket.cork();
      setImmediate(() => {
        this.corked = false;
        this.socket.uncork();
      });
    }
    for (const piece of pieces) if (piece.length > 0) this.socket.write(piece);
  }

  get queuedBytes(): number {
    return this.socket.writableLength;
  }
}
