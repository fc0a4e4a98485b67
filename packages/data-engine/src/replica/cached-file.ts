/**
 * A file as the kernel's page cache has it: what is in memory is read without a thread and without waiting; what is not
 * is read from the disk by a thread, and stays in memory.
 */

import { KIB } from '@holdfast/core/model/bytes.js';
import type { KoffiFunc } from 'koffi';
import { closeFile, openFile, readFully } from './file-calls.js';

/** RWF_NOWAIT of linux/fs.h: fail instead of waiting for the disk or a lock. */
const NO_WAIT = 0x8;
const EAGAIN = 11;
/** Copying more would hold up everything else in this process for longer than waking a thread takes. */
const READ_NOW_BYTES_MAX = 128 * KIB;

type PreadV = KoffiFunc<
  (fd: number, vectors: Uint8Array, count: number, position: number, flags: number) => number
>;
type Calls = { preadv2: PreadV; errno: () => number; address: (memory: Uint8Array) => bigint };

let calls: Calls | undefined;
let isLoading = false;

export class CachedFile {
  /** False once the file system has said that it can't tell what is in memory. */
  private knowsWhatIsCached = true;

  private constructor(private readonly fd: number) {}

  static async open(path: string): Promise<CachedFile> {
    return new CachedFile(await openFile(path, 0));
  }

  /** Fills the buffer; what lies past the end of the file reads as zeros. */
  read(buffer: Buffer, position: number): Promise<void> {
    // Loaded at the first read: a process whose copies nobody reads does without the native module.
    if (!isLoading) void load();
    isLoading = true;
    return readFully(this.fd, buffer, position, 1);
  }

  /** Fills the buffer with what is in memory. False when some of it is not: then the buffer holds anything. */
  readNow(buffer: Buffer, position: number): boolean {
    if (calls === undefined || !this.knowsWhatIsCached || buffer.length > READ_NOW_BYTES_MAX) return false;
    vector[0] = addressOf(buffer.buffer, calls) + BigInt(buffer.byteOffset);
    vector[1] = BigInt(buffer.length);
    const count = calls.preadv2(this.fd, vectorBytes, 1, position, NO_WAIT);
    if (count < 0 && calls.errno() !== EAGAIN) this.knowsWhatIsCached = false;
    return count === buffer.length;
  }

  close(): Promise<void> {
    return closeFile(this.fd);
  }
}

/** The kernel's `struct iovec`: where, and how many bytes. One is enough, because each call ends before the next. */
const vector = new BigUint64Array(2);
const vectorBytes = new Uint8Array(vector.buffer);
/** Where each memory begins: none that a `Buffer` is cut from ever moves. */
const addresses = new WeakMap<ArrayBufferLike, bigint>();

function addressOf(memory: ArrayBufferLike, { address }: Calls): bigint {
  let known = addresses.get(memory);
  if (known === undefined) {
    known = address(new Uint8Array(memory));
    addresses.set(memory, known);
  }
  return known;
}

async function load(): Promise<void> {
  try {
    const { default: koffi } = await import('koffi');
    const preadv2: PreadV = koffi
      .load('libc.so.6')
      .func('int64_t preadv2(int fd, void *vectors, int count, int64_t position, int flags)');
    calls = { preadv2, errno: () => koffi.errno(), address: koffi.address };
  } catch {
    // No prebuilt binary for this platform, or another C library: threads read everything.
  }
}
