/**
 * A file read and written through the page cache: cached bytes are read at once, without a thread; other bytes are read from the
 * disk by a thread, and stay cached. Written bytes stay in memory until the file is synced, or the kernel gets to them.
 */

import fs from 'node:fs';
import { KIB } from '@holdfast/core/model/bytes.js';
import type { KoffiFunc } from 'koffi';
import { type Payload, payloadLength } from '../nbd/export.js';
import { beginWriting, closeFile, openFile, readFully, type WriteEnd } from './file-calls.js';

/** RWF_NOWAIT of linux/fs.h: fail instead of waiting for the disk or a lock. */
const NO_WAIT = 0x8;
const EAGAIN = 11;
/** POSIX_FADV_DONTNEED of fcntl.h: clean pages of the range are dropped. */
const NOT_NEEDED = 4;
/**
 * Largest read without a thread, in bytes. Copying more would block the event loop for longer than waking a thread
 * takes.
 */
const READ_NOW_BYTES_MAX = 128 * KIB;

type PreadV = KoffiFunc<
  (fd: number, vectors: Uint8Array, count: number, position: number, flags: number) => number
>;
type Advise = KoffiFunc<(fd: number, position: number, lengthBytes: number, advice: number) => number>;
type Calls = {
  preadv2: PreadV;
  advise: Advise;
  errno: () => number;
  address: (memory: Uint8Array) => bigint;
};

let calls: Calls | undefined;
let loading: Promise<void> | undefined;

export class CachedFile {
  /** False once the file system has said that it does not support RWF_NOWAIT. */
  private knowsWhatIsCached = true;

  private constructor(private readonly fd: number) {}

  static async open(path: string): Promise<CachedFile> {
    return new CachedFile(await openFile(path, fs.constants.O_RDWR));
  }

  /** Fills the buffer; bytes past the end of the file read as zeros. */
  read(buffer: Buffer, position: number): Promise<void> {
    // Loads the native module at the first read: a process whose copies are never read does without it.
    void load();
    return readFully(this.fd, buffer, position, 1);
  }

  /**
   * Fills the buffer from the page cache. False if some bytes are not cached; the buffer's content is then undefined.
   */
  readNow(buffer: Buffer, position: number): boolean {
    if (calls === undefined || !this.knowsWhatIsCached || buffer.length > READ_NOW_BYTES_MAX) return false;
    vector[0] = addressOf(buffer.buffer, calls) + BigInt(buffer.byteOffset);
    vector[1] = BigInt(buffer.length);
    const count = calls.preadv2(this.fd, vectorBytes, 1, position, NO_WAIT);
    if (count < 0 && calls.errno() !== EAGAIN) this.knowsWhatIsCached = false;
    return count === buffer.length;
  }

  /** Fills the buffer on the event loop, from the disk where it has to. False at the end of the file. */
  readWaiting(buffer: Buffer, position: number): boolean {
    return fs.readSync(this.fd, buffer, 0, buffer.length, position) === buffer.length;
  }

  /** Copies a payload into the page cache, by a thread. */
  beginWrite(payload: Payload, position: number, ended: WriteEnd): void {
    beginWriting(this.fd, payload, position, ended);
  }

  /** The same on the event loop. False if the kernel took only a part. */
  writeNow(payload: Payload, position: number): boolean {
    const [first] = payload;
    if (payload.length === 1 && first !== undefined)
      return fs.writeSync(this.fd, first, 0, first.length, position) === first.length;
    return fs.writevSync(this.fd, payload, position) === payloadLength(payload);
  }

  /**
   * Drops what is in memory and not waiting to be written, so that later reads see what the disk holds: after a failed sync the
   * kernel keeps bytes that it could not write and takes them for written.
   */
  async forget(): Promise<void> {
    await load();
    calls?.advise(this.fd, 0, 0, NOT_NEEDED);
  }

  close(): Promise<void> {
    return closeFile(this.fd);
  }
}

/**
 * The kernel's `struct iovec`: address and length. One shared instance is enough, because each call ends before the
 * next.
 */
const vector = new BigUint64Array(2);
const vectorBytes = new Uint8Array(vector.buffer);
/** Address of each memory. Safe to cache: a memory that a `Buffer` is cut from never moves. */
const addresses = new WeakMap<ArrayBufferLike, bigint>();

function addressOf(memory: ArrayBufferLike, { address }: Calls): bigint {
  let known = addresses.get(memory);
  if (known === undefined) {
    known = address(new Uint8Array(memory));
    addresses.set(memory, known);
  }
  return known;
}

function load(): Promise<void> {
  loading ??= loadCalls();
  return loading;
}

async function loadCalls(): Promise<void> {
  try {
    const { default: koffi } = await import('koffi');
    const libc = koffi.load('libc.so.6');
    const preadv2: PreadV = libc.func(
      'int64_t preadv2(int fd, void *vectors, int count, int64_t position, int flags)',
    );
    const advise: Advise = libc.func(
      'int posix_fadvise64(int fd, int64_t position, int64_t length, int advice)',
    );
    calls = { preadv2, advise, errno: () => koffi.errno(), address: koffi.address };
  } catch {
    // No prebuilt binary for this platform, or another C library: threads read everything.
  }
}
