/**
 * Simulated data connection from an engine, or a rebuild's target, to a copy: requests and replies are each delivered
 * in order.
 */
import { NbdErrno } from '../../src/nbd/constants.js';
import type { DataLink } from '../../src/nbd/data-link.js';
import { errnoOf, NbdError } from '../../src/nbd/errors.js';
import {
  type Extent,
  type NbdExport,
  type NbdWrite,
  type Payload,
  type PlacedRead,
  tellWhenEnded,
  type WriteListener,
  type WriteOptions,
  type ZeroOptions,
} from '../../src/nbd/export.js';
import type { SimNet } from './sim-net.js';
import type { Life } from './world.js';

export type End = { readonly node: string; readonly life: Life };

const PING_BYTES = 4096;

type Request = { readonly sentAtMs: number; reject: (error: Error) => void };

export class SimLink implements DataLink {
  readonly readOnly: boolean;
  readonly blockSizeMinBytes = 1;
  readonly sizeBytes: number;
  private readonly pending = new Set<Request>();
  private readonly handlers: ((reason: Error) => void)[] = [];
  private closedBy: Error | undefined;
  private serverIsOpen = true;
  private excusedAtMs = 0;
  heardAtMs: number;
  /** Ends the connection from the copy's side. */
  readonly cut: () => void;
  /** Resolves when it has ended on the copy's side. */
  readonly ended: Promise<void>;

  constructor(
    private readonly net: SimNet,
    private readonly client: End,
    private readonly server: End,
    private readonly target: NbdExport,
  ) {
    this.sizeBytes = target.sizeBytes;
    this.readOnly = target.readOnly;
    this.heardAtMs = net.world.nowMs;
    let ended: () => void = () => undefined;
    this.ended = new Promise((resolve) => {
      ended = resolve;
    });
    const leave = () => {
      if (!this.serverIsOpen) return;
      this.serverIsOpen = false;
      ended();
      this.reply(() => this.end(new Error('the server closed the connection')));
    };
    this.cut = leave;
    // The kernel of a process that dies resets its connections, if it is still running.
    server.life.onDeath(leave);
    client.life.onDeath(() => this.send(leave));
  }

  get closed(): boolean {
    return this.closedBy !== undefined;
  }

  silentForMs(nowMs: number): number {
    let oldestMs = nowMs;
    for (const { sentAtMs } of this.pending)
      oldestMs = Math.min(oldestMs, Math.max(sentAtMs, this.excusedAtMs));
    return nowMs - oldestMs;
  }

  excuseSilence(): void {
    this.excusedAtMs = this.net.world.nowMs;
  }

  async ping(): Promise<void> {
    await this.blockStatus(0, PING_BYTES, 1);
  }

  onClose(handler: (reason: Error) => void): void {
    if (this.closedBy !== undefined) handler(this.closedBy);
    else this.handlers.push(handler);
  }

  read(offset: number, lengthBytes: number): Promise<Payload> {
    return this.request(
      async () => this.target.readNow?.(offset, lengthBytes) ?? this.target.read(offset, lengthBytes),
    );
  }

  async readEachInto(reads: readonly PlacedRead[]): Promise<void> {
    const ranges = reads.map(({ offset, buffer }) => ({ offset, lengthBytes: buffer.length }));
    const { target } = this;
    const each = () => Promise.all(ranges.map(({ offset, lengthBytes }) => target.read(offset, lengthBytes)));
    const pieces = await this.request(
      async () => (await target.readRanges?.(ranges)) ?? (await each()).flat(),
    );
    for (const [index, { buffer }] of reads.entries()) pieces[index]?.copy(buffer);
  }

  write(offset: number, payload: Payload, lengthBytes: number, options: WriteOptions): Promise<void> {
    const bytes = [Buffer.concat(payload)];
    return this.request(() => this.target.write(offset, bytes, lengthBytes, options));
  }

  beginWrite<Tag>(write: NbdWrite, listener: WriteListener<Tag>, tag: Tag): void {
    tellWhenEnded(this.write(write.offset, write.payload, write.lengthBytes, write), listener, tag);
  }

  flush(): Promise<void> {
    return this.request(() => this.target.flush());
  }

  trim(offset: number, lengthBytes: number, options: WriteOptions): Promise<void> {
    return this.request(() => this.target.trim(offset, lengthBytes, options));
  }

  writeZeroes(offset: number, lengthBytes: number, options: ZeroOptions): Promise<void> {
    return this.request(() => this.target.writeZeroes(offset, lengthBytes, options));
  }

  blockStatus(offset: number, lengthBytes: number, extentsMax: number): Promise<Extent[]> {
    return this.request(() => this.target.blockStatus(offset, lengthBytes, extentsMax));
  }

  close(): void {
    this.send(() => this.cut());
    this.end(new Error('the connection was closed'));
  }

  destroy(reason: Error): void {
    this.send(() => this.cut());
    this.end(reason);
  }

  private request<T>(serve: () => Promise<T>): Promise<T> {
    if (this.closedBy !== undefined) return Promise.reject(this.closedBy);
    return new Promise((resolve, reject) => {
      const request: Request = { sentAtMs: this.net.world.nowMs, reject };
      this.pending.add(request);
      const answer = (tell: () => void) =>
        this.reply(() => {
          if (!this.pending.delete(request)) return;
          this.heardAtMs = Math.max(this.heardAtMs, request.sentAtMs);
          tell();
        });
      this.send(() => {
        if (!this.serverIsOpen) return;
        this.server.life.later(0, () => {
          serve().then(
            (value) => answer(() => resolve(value)),
            (error: unknown) => answer(() => reject(asNbdError(error))),
          );
        });
      });
    });
  }

  private sending: (() => void)[] = [];
  private replying: (() => void)[] = [];

  /** In order: later messages wait for earlier ones. */
  private send(arrive: () => void): void {
    this.sending.push(arrive);
    if (this.sending.length === 1) this.pump(this.sending, this.client.node, this.server.node, () => true);
  }

  private reply(arrive: () => void): void {
    this.replying.push(() => void this.client.life.later(0, arrive));
    if (this.replying.length === 1)
      this.pump(this.replying, this.server.node, this.client.node, () => !this.closed);
  }

  private pump(queue: (() => void)[], from: string, to: string, isWanted: () => boolean): void {
    this.net.deliver(from, to, isWanted, () => {
      // Messages that were sent together arrive together.
      for (const arrive of queue.splice(0, queue.length)) arrive();
      if (queue.length > 0) this.pump(queue, from, to, isWanted);
    });
  }

  private end(reason: Error): void {
    if (this.closedBy !== undefined) return;
    this.closedBy = reason;
    const lost = [...this.pending];
    this.pending.clear();
    for (const handler of this.handlers) handler(reason);
    for (const { reject } of lost) reject(reason);
  }
}

/** Converts an error to what the client of an NBD connection sees. */
function asNbdError(error: unknown): NbdError {
  const errno = errnoOf(error);
  const message = error instanceof Error ? error.message : String(error);
  return new NbdError(errno, errno === NbdErrno.Io ? message : `error ${errno}: ${message}`);
}
