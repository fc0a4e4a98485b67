/**
 * One file of a replica, read and written at offsets, through the page cache or with direct I/O.
 *
 * A direct file is written past the page cache, and read past it by callers that need what the disk really holds.
 * Reads of users go through the page cache, so that repeated ones are served from memory, and so do small writes where the
 * owner of the file allows it: the next sync writes many of them at once. The kernel keeps both views consistent.
 *
 * Direct I/O needs whole blocks in aligned memory. Aligned buffers go to the kernel as they are; others are copied
 * once into aligned ones, as the page cache would have done.
 */
import fs from 'node:fs';
import path from 'node:path';
import { KIB, MIB } from '@holdfast/core/model/bytes.js';
import { SharedFlush } from '../base/shared-flush.js';
import { systemCode } from '../base/system-error.js';
import { SYSTEM_TIME, type Time } from '../base/time.js';
import { type Payload, payloadLength } from '../nbd/export.js';
import {
  ALIGNMENT_BYTES,
  alignedBytes,
  isAlignedBuffer,
  LEASE_BYTES_MAX,
  leaseAligned,
  leaseCopies,
} from './aligned-buffers.js';
import { CachedFile } from './cached-file.js';
import { DISK_PACE, type DiskPace } from './disk-pace.js';
import type { CopyFile } from './disk-store.js';
import {
  beginWriting,
  closeFile,
  openFile,
  readFully,
  resizeFile,
  statFile,
  syncFile,
  type WriteEnd,
  writeFully,
} from './file-calls.js';
import { forgetCached } from './page-cache.js';
import { punchHole, reserveSpace } from './punch-hole.js';
import { ALLOWANCE_OF_PROCESS, type DiskAllowance, WriteBackBudget } from './write-back-budget.js';

/** Shared zeros, written where holes can't be punched. */
const ZEROS = alignedBytes(MIB);

/**
 * Longest write through the page cache, as long as the kernel's own requests are. The event loop copies the shorter ones itself
 * (`disk-pace.ts`). Longer ones are a rebuild's windows, which are read back from the disk at once.
 */
const CACHED_WRITE_BYTES_MAX = MIB;

/**
 * In a file that is read past the page cache, a gap is a hole as a rule: the kernel clears its memory. That takes about as long for
 * 512 KiB as another call by a thread. Through the page cache, it would make pages for it first.
 */
const GAP_BYTES_MAX = 512 * KIB;

/** Observed speed of a process's one disk, and the clock that measures it. */
export type KnownDisk = {
  readonly pace: DiskPace;
  readonly allowance: DiskAllowance;
  readonly time: Pick<Time, 'nowMs'>;
};

const DISK_OF_PROCESS: KnownDisk = { pace: DISK_PACE, allowance: ALLOWANCE_OF_PROCESS, time: SYSTEM_TIME };

export type BlockFileOptions = {
  /** Uses direct I/O. The caller has probed that the file system supports it (`direct-io.ts`). */
  direct: boolean;
  /** Small writes of a direct file go through the page cache. */
  cachesSmallWrites?: boolean;
  /** Preallocates the file's whole length, so that no later write finds the disk full. */
  reserved?: boolean;
  /** Called once, when a sync of the file has failed, whichever caller requested it. */
  onLost?: (failure: Error) => void;
  /** Left out: the disk of this process. */
  disk?: KnownDisk;
};
const { O_CREAT, O_DIRECT, O_EXCL, O_RDWR } = fs.constants;
const BUFFERED: BlockFileOptions = { direct: false, reserved: false };

export class BlockFile implements CopyFile {
  /**
   * Calls that the kernel has not answered. Closing before they end could hand their descriptor number to another
   * file.
   */
  private running = 0;
  private closing: (() => void) | undefined;
  private closed = false;
  /**
   * A process that has died may have been the only one to hear of a failed sync: the kernel then keeps bytes that the disk lacks, takes them
   * for written, and reports a success to later openings. So they are dropped after the first sync of each opening.
   */
  private mayShowLostBytes = false;
  /** The same file through the page cache, for reads of users; opened at the first such read. */
  private cached: CachedFile | undefined;
  private openingCached: Promise<CachedFile> | undefined;
  /** Every sync of the file: the kernel reports an error to one of two that run at once, and the other would succeed. */
  private readonly syncs = new SharedFlush(() => this.syncOnce());
  private readonly writeBack: WriteBackBudget;
  private readonly disk: KnownDisk;
  private readonly direct: boolean;
  private readonly cachesSmallWrites: boolean;
  private readonly reserved: boolean;
  private readonly onLost: (failure: Error) => void;

  private constructor(
    private readonly fd: number,
    readonly path: string,
    options: BlockFileOptions,
  ) {
    const { direct, cachesSmallWrites = false, reserved = false, onLost = nothing } = options;
    this.direct = direct;
    this.cachesSmallWrites = cachesSmallWrites;
    this.reserved = reserved;
    this.onLost = onLost;
    this.disk = options.disk ?? DISK_OF_PROCESS;
    this.writeBack = new WriteBackBudget(this.disk.allowance);
  }

  static async open(file: string, options = BUFFERED): Promise<BlockFile> {
    const flags = O_RDWR | (options.direct ? O_DIRECT : 0);
    const opened = new BlockFile(await openFile(file, flags), file, options);
    opened.mayShowLostBytes = true;
    return opened;
  }

  /** Creates the file with its full length, sparse unless it is `reserved`. Fails if it exists. */
  static async create(at: string, sizeBytes: number, options = BUFFERED): Promise<BlockFile> {
    const flags = O_RDWR | O_CREAT | O_EXCL | (options.direct ? O_DIRECT : 0);
    const file = new BlockFile(await openFile(at, flags), at, options);
    try {
      await file.resize(sizeBytes);
    } catch (error) {
      await file.close();
      throw error;
    }
    return file;
  }

  get gapBytesMax(): number {
    return this.direct ? GAP_BYTES_MAX : 0;
  }

  /** Fills the whole buffer; bytes past the end of the file read as zeros. */
  readInto(buffer: Buffer, position: number): Promise<void> {
    return this.use(() => {
      if (!this.direct) return readFully(this.fd, buffer, position, 1);
      const asItIs = isAlignedBuffer(buffer) && position % ALIGNMENT_BYTES === 0;
      return asItIs ? this.readBlocks(buffer, position) : this.readCopied(buffer, position);
    });
  }

  async readStored(buffer: Buffer, position: number): Promise<void> {
    const stored = this.direct ? undefined : await this.openStored();
    if (stored === undefined) return this.readInto(buffer, position);
    try {
      await stored.readInto(buffer, position);
    } catch (error) {
      // Some file systems accept the flag and refuse the transfer: for these, disk and cache can't be told apart.
      if (systemCode(error) !== 'EINVAL') throw error;
      await this.readInto(buffer, position);
    } finally {
      await stored.close();
    }
  }

  readCached(buffer: Buffer, position: number): Promise<void> {
    return this.use(async () => {
      const cached = this.cached ?? (await this.openCached());
      await cached.read(buffer, position);
    }, buffer.length);
  }

  readCachedNow(buffer: Buffer, position: number, isAlone = false): boolean {
    const { cached } = this;
    if (this.closed || cached === undefined) return false;
    if (cached.readNow(buffer, position)) return true;
    return (
      isAlone &&
      this.disk.pace.mayWait(buffer.length) &&
      this.disk.pace.wait(() => cached.readWaiting(buffer, position))
    );
  }

  /** Writes a payload; to a direct file, whole blocks only. */
  write(payload: Payload, position: number, isAlone = false): Promise<void> {
    return new Promise((resolve, reject) => {
      this.beginWrite(payload, position, isAlone, (failure) =>
        failure === undefined ? resolve() : reject(failure),
      );
    });
  }

  beginWrite(payload: Payload, position: number, isAlone: boolean, ended: WriteEnd): void {
    let isWritten: boolean;
    try {
      if (this.closed) throw this.isClosed();
      isWritten = this.writeNow(payload, position);
    } catch (error) {
      ended(error);
      return;
    }
    if (isWritten) ended(undefined);
    else this.writeLater(payload, position, isAlone, ended);
  }

  /** By a thread, or past the page cache. */
  private writeLater(payload: Payload, position: number, isAlone: boolean, ended: WriteEnd): void {
    const lengthBytes = payloadLength(payload);
    if (this.cachesSmallWrites && lengthBytes <= CACHED_WRITE_BYTES_MAX) {
      const { cached } = this;
      // Until the other descriptor is open, writes go to the disk. Where it can't be opened, reads say so.
      if (cached === undefined) this.use(() => this.openCached()).catch(nothing);
      else if (this.writeBack.take(lengthBytes)) {
        const threadEnded = this.begin();
        cached.beginWrite(payload, position, (failure) => {
          threadEnded();
          ended(failure);
        });
        this.syncIfWanted();
        return;
      }
    }
    this.beginDirectWrite(payload, position, isAlone, ended);
  }

  /** Writes past the page cache, where the file is a direct one. */
  private beginDirectWrite(payload: Payload, position: number, isAlone: boolean, ended: WriteEnd): void {
    const asItIs = !this.direct || payload.every(isAlignedBuffer);
    const leases = asItIs ? undefined : leaseCopies(payload);
    const pieces = leases?.map(({ buffer }) => buffer) ?? payload;
    const release = () => {
      for (const lease of leases ?? []) lease.release();
    };
    let isWritten: boolean;
    try {
      isWritten = isAlone && this.direct && pieces.length === 1 && this.isWrittenWaiting(pieces, position);
    } catch (error) {
      release();
      ended(error);
      return;
    }
    if (isWritten) {
      release();
      ended(undefined);
      return;
    }
    const threadEnded = this.begin(payloadLength(payload));
    beginWriting(this.fd, pieces, position, (failure) => {
      release();
      threadEnded();
      ended(failure);
    });
  }

  /** Writes on the event loop; false if a thread has to, because the disk is slow or took only a part. */
  private isWrittenWaiting([piece]: Payload, position: number): boolean {
    if (piece === undefined || !this.disk.pace.mayWait(piece.length)) return false;
    const count = this.disk.pace.wait(() => fs.writeSync(this.fd, piece, 0, piece.length, position));
    return count === piece.length;
  }

  /** Copies a small write into the page cache on the event loop, while the disk's last calls were fast. */
  writeNow(payload: Payload, position: number): boolean {
    const { cached } = this;
    const lengthBytes = payloadLength(payload);
    if (
      this.closed ||
      cached === undefined ||
      !this.cachesSmallWrites ||
      lengthBytes > CACHED_WRITE_BYTES_MAX
    )
      return false;
    if (!this.disk.pace.mayCopy(lengthBytes) || !this.writeBack.take(lengthBytes)) return false;
    const isWhole = this.disk.pace.copy(() => cached.writeNow(payload, position));
    this.syncIfWanted();
    return isWhole;
  }

  private syncIfWanted(): void {
    // A failure ends the copy (`onLost`), and each later sync fails with it.
    if (this.writeBack.wantsSync) this.syncData().catch(nothing);
  }

  /** Zeroes a range; frees its space if `mayPunch` is set and the file system supports it. */
  zero(position: number, lengthBytes: number, mayPunch: boolean): Promise<void> {
    return this.use(async () => {
      if (mayPunch && (await punchHole(this.fd, position, lengthBytes))) return;
      for (let done = 0; done < lengthBytes; done += ZEROS.length) {
        const part = ZEROS.subarray(0, Math.min(ZEROS.length, lengthBytes - done));
        await writeFully(this.fd, [part], position + done);
      }
    });
  }

  forget(position: number, lengthBytes: number): Promise<void> {
    return this.zero(position, lengthBytes, true);
  }

  /** Changes the file's length; added bytes read as zeros. */
  resize(sizeBytes: number): Promise<void> {
    return this.use(async () => {
      const before = this.reserved ? Number((await statFile(this.fd)).size) : sizeBytes;
      await resizeFile(this.fd, sizeBytes);
      if (sizeBytes <= before) return;
      try {
        await reserveSpace(this.fd, before, sizeBytes - before);
      } catch (error) {
        // Gives back what was reserved of it: the next try must not take the longer file for a reserved one.
        await resizeFile(this.fd, before).catch(nothing);
        throw error;
      }
    });
  }

  /**
   * Makes data, and the metadata needed to read it back, durable (fdatasync).
   *
   * After one failure every later call fails: the kernel reports a write error once, and drops what it could not
   * write. Only a reopened file, read from the disk, is trustworthy again.
   */
  syncData(): Promise<void> {
    return this.use(() => this.syncs.run());
  }

  private async syncOnce(): Promise<void> {
    const ended = this.writeBack.beginSync();
    const { time } = this.disk;
    const fromMs = time.nowMs();
    try {
      await syncFile(this.fd);
      if (this.mayShowLostBytes) await forgetCached(this.fd);
      this.mayShowLostBytes = false;
      ended(true, time.nowMs() - fromMs);
    } catch (error) {
      ended(false, 0);
      const failure = lost(error, this.path);
      this.onLost(failure);
      await forgetCached(this.fd);
      throw failure;
    }
  }

  async sizeBytes(): Promise<number> {
    return Number((await this.use(() => statFile(this.fd))).size);
  }

  /** Change time in nanoseconds: two changes may follow each other within a millisecond. */
  async changeTime(): Promise<string> {
    return String((await this.use(() => statFile(this.fd))).ctimeNs);
  }

  get name(): string {
    return path.basename(this.path);
  }

  /** Waits for running calls; later ones fail. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    if (this.running > 0) {
      await new Promise<void>((resolve) => {
        this.closing = resolve;
      });
    }
    await closeFile(this.fd);
    await this.cached?.close();
  }

  private async openCached(): Promise<CachedFile> {
    // Concurrent callers share one opening: a second descriptor would never be closed.
    this.openingCached ??= CachedFile.open(this.path);
    try {
      this.cached = await this.openingCached;
      return this.cached;
    } catch (error) {
      this.openingCached = undefined;
      throw error;
    }
  }

  /** The same file opened for direct reads; `undefined` if the file system does not support them. */
  private async openStored(): Promise<BlockFile | undefined> {
    if (O_DIRECT === undefined) return undefined;
    try {
      const fd = await openFile(this.path, fs.constants.O_RDONLY | O_DIRECT);
      return new BlockFile(fd, this.path, { direct: true, disk: this.disk });
    } catch (error) {
      if (systemCode(error) === 'EINVAL') return undefined;
      throw error;
    }
  }

  private async use<T>(call: () => Promise<T>, lengthBytes = 0): Promise<T> {
    if (this.closed) throw this.isClosed();
    const ended = this.begin(lengthBytes);
    try {
      return await call();
    } finally {
      ended();
    }
  }

  /** A thread begins to work for this file. @returns to be called when it has ended */
  private begin(lengthBytes = 0): () => void {
    const threadEnded = this.disk.pace.beginThreaded(lengthBytes);
    this.running += 1;
    return () => {
      threadEnded();
      this.running -= 1;
      if (this.running === 0) this.closing?.();
    };
  }

  private isClosed(): Error {
    return new Error(`${this.path} is closed`);
  }

  private readBlocks(buffer: Buffer, position: number): Promise<void> {
    return readFully(this.fd, buffer, position, ALIGNMENT_BYTES);
  }

  /** Reads the whole blocks around each piece into aligned memory, one piece after the other. */
  private async readCopied(buffer: Buffer, position: number): Promise<void> {
    for (let done = 0; done < buffer.length; ) {
      const before = (position + done) % ALIGNMENT_BYTES;
      const wanted = Math.min(buffer.length - done, LEASE_BYTES_MAX - before);
      const blocks = Math.ceil((before + wanted) / ALIGNMENT_BYTES);
      const { buffer: aligned, release } = leaseAligned(blocks * ALIGNMENT_BYTES);
      try {
        await this.readBlocks(aligned, position + done - before);
        aligned.copy(buffer, done, before, before + wanted);
      } finally {
        release();
      }
      done += wanted;
    }
  }
}

function nothing(): void {
  // Without a callback for files whose errors concern only their own callers.
}

/**
 * The error of a failed sync, whatever its code: written data may be lost. ENOSPC is not passed on either: reported
 * this late, there is nothing left to retry.
 */
function lost(cause: unknown, path: string): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return Object.assign(new Error(`EIO: what was written to ${path} may be lost: ${why}`, { cause }), {
    code: 'EIO',
  });
}
