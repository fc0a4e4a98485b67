/**
 * One file of a replica, read and written at offsets, through the page cache or past it.
 *
 * A direct file is written past the page cache, and read past it by whoever wants to know what the disk holds. Users
 * read through it: what they read again is then in memory. The kernel keeps the two ways consistent.
 *
 * Direct I/O takes whole blocks in aligned memory. Buffers that are aligned already go to the kernel as they are; what
 * else is written is copied once into aligned ones, as the page cache would have done.
 */
import fs from 'node:fs';
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import type { Payload } from '../nbd/export.js';
import {
  ALIGNMENT_BYTES,
  alignedBytes,
  isAlignedBuffer,
  LEASE_BYTES_MAX,
  leaseAligned,
} from './aligned-buffers.js';
import { leaseCopies } from './aligned-copies.js';
import { CachedFile } from './cached-file.js';
import type { CopyFile } from './disk-store.js';
import { closeFile, openFile, readFully, resizeFile, statFile, syncFile, writeFully } from './file-calls.js';
import { punchHole, reserveSpace } from './punch-hole.js';
import { systemCode } from './system-error.js';

/** Zeros are written from one shared buffer where holes can't be punched. */
const ZEROS = alignedBytes(MIB);

export type BlockFileOptions = {
  /** Past the page cache: the caller knows that the file system takes it (`direct-io.ts`). */
  direct: boolean;
  /** Whatever its length, all of its space is taken from the disk at once, so that no later write finds the disk full. */
  reserved?: boolean;
  /** Called once when a sync of the file has failed. */
  onLost?: () => void;
};
const { O_CREAT, O_DIRECT, O_EXCL, O_RDWR } = fs.constants;
const BUFFERED: BlockFileOptions = { direct: false, reserved: false };

export class BlockFile implements CopyFile {
  /** Calls that the kernel has not answered: closing before they end could hand their descriptor to another file. */
  private running = 0;
  private closing: (() => void) | undefined;
  private closed = false;
  /** The same file as users read it, from the first such read on. */
  private cached: CachedFile | undefined;
  private openingCached: Promise<CachedFile> | undefined;
  private syncFailure: Error | undefined;

  private constructor(
    private readonly fd: number,
    readonly path: string,
    private readonly direct: boolean,
    private readonly reserved: boolean,
    private readonly onLost: () => void = nothing,
  ) {}

  static async open(file: string, { direct, reserved = false, onLost } = BUFFERED): Promise<BlockFile> {
    const flags = O_RDWR | (direct ? O_DIRECT : 0);
    return new BlockFile(await openFile(file, flags), file, direct, reserved, onLost);
  }

  /** Makes the file with its full length, sparse unless it is `reserved`. Fails when it exists. */
  static async create(
    at: string,
    sizeBytes: number,
    { direct, reserved = false, onLost } = BUFFERED,
  ): Promise<BlockFile> {
    const flags = O_RDWR | O_CREAT | O_EXCL | (direct ? O_DIRECT : 0);
    const file = new BlockFile(await openFile(at, flags), at, direct, reserved, onLost);
    try {
      await file.resize(sizeBytes);
    } catch (error) {
      await file.close();
      throw error;
    }
    return file;
  }

  /** Fills the whole buffer; what lies past the end of the file reads as zeros. */
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
      // Some file systems take the flag and refuse the transfer: what they hold can't be told from what is in memory.
      if (systemCode(error) !== 'EINVAL') throw error;
      await this.readInto(buffer, position);
    } finally {
      await stored.close();
    }
  }

  readCached(buffer: Buffer, position: number): Promise<void> {
    return this.use(async () => {
      this.cached ??= await this.openCached();
      await this.cached.read(buffer, position);
    });
  }

  readCachedNow(buffer: Buffer, position: number): boolean {
    return !this.closed && this.cached !== undefined && this.cached.readNow(buffer, position);
  }

  /** A direct file takes whole blocks only. */
  write(payload: Payload, position: number): Promise<void> {
    // On the path of every write: as one promise, unlike the other calls.
    if (this.closed) return Promise.reject(this.isClosed());
    const asItIs = !this.direct || payload.every(isAlignedBuffer);
    const leases = asItIs ? undefined : leaseCopies(payload);
    const pieces = leases?.map(({ buffer }) => buffer) ?? payload;
    this.running += 1;
    return writeFully(this.fd, pieces, position, () => {
      for (const { release } of leases ?? []) release();
      this.ended();
    });
  }

  /** Makes a range read as zeros, and frees its space where `mayPunch` and the file system allow it. */
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

  /** What is added reads as zeros. */
  resize(sizeBytes: number): Promise<void> {
    return this.use(async () => {
      const before = this.reserved ? Number((await statFile(this.fd)).size) : sizeBytes;
      await resizeFile(this.fd, sizeBytes);
      if (sizeBytes > before) await reserveSpace(this.fd, before, sizeBytes - before);
    });
  }

  /**
   * Data and what is needed to read it back are on the disk when this returns.
   *
   * Once it has failed it goes on failing: the kernel tells an error once, and has given up what it could not write. Only
   * opening the file anew, and looking at what the disk holds, begins afresh.
   */
  syncData(): Promise<void> {
    return this.use(async () => {
      if (this.syncFailure !== undefined) throw this.syncFailure;
      try {
        await syncFile(this.fd);
      } catch (error) {
        if (this.syncFailure === undefined) this.onLost();
        this.syncFailure ??= lost(error, this.path);
        throw this.syncFailure;
      }
    });
  }

  async sizeBytes(): Promise<number> {
    return Number((await this.use(() => statFile(this.fd))).size);
  }

  /** In nanoseconds: two changes may follow each other within a millisecond. */
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
    // Those that come meanwhile share it: a second descriptor would never be closed.
    this.openingCached ??= CachedFile.open(this.path);
    this.openingCached.catch(() => {
      this.openingCached = undefined;
    });
    return this.openingCached;
  }

  /** The same file past the page cache; `undefined` where the file system has no such way. */
  private async openStored(): Promise<BlockFile | undefined> {
    if (O_DIRECT === undefined) return undefined;
    try {
      return new BlockFile(
        await openFile(this.path, fs.constants.O_RDONLY | O_DIRECT),
        this.path,
        true,
        false,
      );
    } catch (error) {
      if (systemCode(error) === 'EINVAL') return undefined;
      throw error;
    }
  }

  private async use<T>(call: () => Promise<T>): Promise<T> {
    if (this.closed) throw this.isClosed();
    this.running += 1;
    try {
      return await call();
    } finally {
      this.ended();
    }
  }

  private ended(): void {
    this.running -= 1;
    if (this.running === 0) this.closing?.();
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
  // For files of which only their own callers have to know.
}

/**
 * What a failed sync means, whatever the kernel calls it: what was written may be gone. A disk that is full at that moment
 * says so too late for anything to be tried again, so its code is not passed on.
 */
function lost(cause: unknown, path: string): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return Object.assign(new Error(`EIO: what was written to ${path} may be lost: ${why}`, { cause }), {
    code: 'EIO',
  });
}
