/**
 * One file of a replica, read and written at offsets, through the page cache or past it.
 *
 * Direct I/O takes whole blocks in aligned memory. Buffers that are aligned already go to the kernel as they are; what
 * else is written is copied once into aligned ones, as the page cache would have done.
 */
import fs from 'node:fs';
import { MIB } from '@holdfast/core/model/bytes.js';
import { Bug } from '@holdfast/core/model/faults.js';
import type { Payload } from '../nbd/export.js';
import {
  ALIGNMENT_BYTES,
  alignedBytes,
  isAlignedBuffer,
  LEASE_BYTES_MAX,
  leaseAligned,
} from './aligned-buffers.js';
import { leaseCopies } from './aligned-copies.js';
import { punchHole } from './punch-hole.js';

/** Zeros are written from one shared buffer where holes can't be punched. */
const ZEROS = alignedBytes(MIB);
/** The kernel takes at most 1024 pieces in one call (IOV_MAX). */
const PIECES_MAX = 1024;

export type BlockFileOptions = {
  /** Past the page cache: the caller knows that the file system takes it (`direct-io.ts`). */
  direct: boolean;
};
const { O_CREAT, O_DIRECT, O_EXCL, O_RDWR } = fs.constants;
const BUFFERED: BlockFileOptions = { direct: false };

export class BlockFile {
  /** Calls that the kernel has not answered: closing before they end could hand their descriptor to another file. */
  private running = 0;
  private closing: (() => void) | undefined;
  private closed = false;

  private constructor(
    private readonly fd: number,
    readonly path: string,
    private readonly direct: boolean,
  ) {}

  static async open(path: string, { direct } = BUFFERED): Promise<BlockFile> {
    return new BlockFile(await openFd(path, O_RDWR | (direct ? O_DIRECT : 0)), path, direct);
  }

  /** Makes the file with its full, sparse length. Fails when it exists. */
  static async create(path: string, sizeBytes: number, { direct } = BUFFERED): Promise<BlockFile> {
    const flags = O_RDWR | O_CREAT | O_EXCL | (direct ? O_DIRECT : 0);
    const file = new BlockFile(await openFd(path, flags), path, direct);
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
    return this.use(() =>
      !this.direct || (isAlignedBuffer(buffer) && position % ALIGNMENT_BYTES === 0)
        ? this.readAll(buffer, position)
        : this.readCopied(buffer, position),
    );
  }

  /** A direct file takes whole blocks only. */
  write(payload: Payload, position: number): Promise<void> {
    return this.use(() =>
      !this.direct || payload.every(isAlignedBuffer)
        ? this.writeGroups(payload, position)
        : this.writeCopied(payload, position),
    );
  }

  /** Makes a range read as zeros, and frees its space where `mayPunch` and the file system allow it. */
  zero(position: number, lengthBytes: number, mayPunch: boolean): Promise<void> {
    return this.use(async () => {
      if (mayPunch && (await punchHole(this.fd, position, lengthBytes))) return;
      for (let done = 0; done < lengthBytes; done += ZEROS.length) {
        const part = ZEROS.subarray(0, Math.min(ZEROS.length, lengthBytes - done));
        await this.writeGroups([part], position + done);
      }
    });
  }

  /** What is added reads as zeros. */
  resize(sizeBytes: number): Promise<void> {
    return this.use(
      () =>
        new Promise((resolve, reject) => {
          fs.ftruncate(this.fd, sizeBytes, (error) => (error === null ? resolve() : reject(error)));
        }),
    );
  }

  /** Data and what is needed to read it back are on the disk when this returns. */
  syncData(): Promise<void> {
    return this.use(
      () =>
        new Promise((resolve, reject) => {
          fs.fdatasync(this.fd, (error) => (error === null ? resolve() : reject(error)));
        }),
    );
  }

  /** Times in nanoseconds: two changes may follow each other within a millisecond. */
  stat(): Promise<fs.BigIntStats> {
    return this.use(
      () =>
        new Promise((resolve, reject) => {
          fs.fstat(this.fd, { bigint: true }, (error, stats) =>
            error === null ? resolve(stats) : reject(error),
          );
        }),
    );
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
    await new Promise<void>((resolve, reject) => {
      fs.close(this.fd, (error) => (error == null ? resolve() : reject(error)));
    });
  }

  private async use<T>(call: () => Promise<T>): Promise<T> {
    if (this.closed) throw new Error(`${this.path} is closed`);
    this.running += 1;
    try {
      return await call();
    } finally {
      this.running -= 1;
      if (this.running === 0) this.closing?.();
    }
  }

  private async readAll(buffer: Buffer, position: number): Promise<void> {
    for (let done = 0; done < buffer.length; ) {
      const count = await this.readOnce(buffer, done, position + done);
      done += count;
      // A part of a block is the file's last one: asking on from its middle would be refused.
      if (count === 0 || (this.direct && count % ALIGNMENT_BYTES !== 0)) {
        buffer.fill(0, done);
        return;
      }
    }
  }

  /** Reads the whole blocks around each piece into aligned memory, one piece after the other. */
  private async readCopied(buffer: Buffer, position: number): Promise<void> {
    for (let done = 0; done < buffer.length; ) {
      const before = (position + done) % ALIGNMENT_BYTES;
      const wanted = Math.min(buffer.length - done, LEASE_BYTES_MAX - before);
      const blocks = Math.ceil((before + wanted) / ALIGNMENT_BYTES);
      const { buffer: aligned, release } = leaseAligned(blocks * ALIGNMENT_BYTES);
      try {
        await this.readAll(aligned, position + done - before);
        aligned.copy(buffer, done, before, before + wanted);
      } finally {
        release();
      }
      done += wanted;
    }
  }

  private async writeCopied(payload: Payload, position: number): Promise<void> {
    const leases = leaseCopies(payload);
    try {
      await this.writeGroups(
        leases.map(({ buffer }) => buffer),
        position,
      );
    } finally {
      for (const { release } of leases) release();
    }
  }

  private async writeGroups(payload: Payload, position: number): Promise<void> {
    let at = position;
    for (let first = 0; first < payload.length; first += PIECES_MAX) {
      at += await this.writeAll(payload.slice(first, first + PIECES_MAX), at);
    }
  }

  private readOnce(buffer: Buffer, at: number, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.read(this.fd, buffer, at, buffer.length - at, position, (error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });
  }

  /** Writes all pieces, also when the kernel takes only a part of them at a time. */
  private async writeAll(pieces: Payload, position: number): Promise<number> {
    let rest = pieces;
    let done = 0;
    while (rest.length > 0) {
      const count = await this.writeOnce(rest, position + done);
      if (count === 0) throw new Bug(`a write to ${this.path} made no progress`);
      done += count;
      rest = dropBytes(rest, count);
    }
    return done;
  }

  private writeOnce(pieces: Payload, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const answered = (error: Error | null, count: number) => {
        if (error === null) resolve(count);
        else reject(error);
      };
      const [first] = pieces;
      // The usual case, and the cheaper call.
      if (pieces.length === 1 && first !== undefined) {
        fs.write(this.fd, first, 0, first.length, position, answered);
      } else fs.writev(this.fd, pieces, position, answered);
    });
  }
}

function openFd(path: string, flags: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.open(path, flags, 0o600, (error, fd) => (error === null ? resolve(fd) : reject(error)));
  });
}

function dropBytes(pieces: Payload, count: number): Payload {
  let skipped = 0;
  for (const [index, piece] of pieces.entries()) {
    if (skipped + piece.length > count) return [piece.subarray(count - skipped), ...pieces.slice(index + 1)];
    skipped += piece.length;
  }
  return [];
}
