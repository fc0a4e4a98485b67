/**
 * One file of a replica, read and written at offsets.
 *
 * All access to data goes through this class, so that aligned direct I/O can replace the buffered calls in one place.
 */
import fs from 'node:fs';
import { MIB } from '@holdfast/core/model/bytes.js';
import { Bug } from '@holdfast/core/model/faults.js';
import type { Payload } from '../nbd/export.js';
import { punchHole } from './punch-hole.js';

/** Zeros are written from one shared buffer where holes can't be punched. */
const ZEROS = Buffer.alloc(MIB);
/** The kernel takes at most 1024 pieces in one call (IOV_MAX). */
const PIECES_MAX = 1024;

export class BlockFile {
  /** Calls that the kernel has not answered: closing before they end could hand their descriptor to another file. */
  private running = 0;
  private closing: (() => void) | undefined;
  private closed = false;

  private constructor(
    private readonly fd: number,
    readonly path: string,
  ) {}

  static async open(path: string): Promise<BlockFile> {
    return new BlockFile(await openFd(path, 'r+'), path);
  }

  /** Makes the file with its full, sparse length. Fails when it exists. */
  static async create(path: string, sizeBytes: number): Promise<BlockFile> {
    const file = new BlockFile(await openFd(path, 'wx+'), path);
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
    return this.use(() => this.readAll(buffer, position));
  }

  write(payload: Payload, position: number): Promise<void> {
    return this.use(() => this.writeGroups(payload, position));
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
      if (count === 0) {
        buffer.fill(0, done);
        return;
      }
      done += count;
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
      fs.writev(this.fd, pieces, position, (error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });
  }
}

function openFd(path: string, flags: string): Promise<number> {
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
