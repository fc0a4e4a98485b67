/**
 * Calls of Linux's C library about what of a file is in memory, which Node does not offer. Loaded at first use, as others are
 * (`native-calls.ts`); these are made on the event loop.
 */
import type { KoffiFunc } from 'koffi';

/** RWF_NOWAIT of linux/fs.h: fail instead of waiting for the disk or a lock. */
const NO_WAIT = 0x8;
const EAGAIN = 11;
/** POSIX_FADV_DONTNEED of fcntl.h: clean pages of the range are dropped. */
const NOT_NEEDED = 4;

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

/** An object, as `node:fs` is: its functions are looked up when they are called, so that tests may put their own in their place. */
export const pageCache = {
  /** Resolves when the calls can be made, if this platform has them. */
  load: (): Promise<void> => {
    loading ??= loadCalls();
    return loading;
  },

  /** Bytes that were in memory and are read now; -1 if none were, or the calls are not loaded; `undefined` if that can't be known here. */
  readNow: (fd: number, buffer: Buffer, position: number): number | undefined => {
    if (calls === undefined) return -1;
    vector[0] = addressOf(buffer.buffer, calls) + BigInt(buffer.byteOffset);
    vector[1] = BigInt(buffer.length);
    const count = calls.preadv2(fd, vectorBytes, 1, position, NO_WAIT);
    return count < 0 && calls.errno() !== EAGAIN ? undefined : count;
  },

  /** Drops cached bytes that are not waiting to be written. */
  forget: (fd: number): void => {
    calls?.advise(fd, 0, 0, NOT_NEEDED);
  },
};

/**
 * Drops cached bytes that are not waiting to be written, through whichever descriptor they were cached, so that later reads see the
 * disk: after a failed sync the kernel keeps bytes that it could not write and considers them written.
 */
export async function forgetCached(fd: number): Promise<void> {
  await pageCache.load();
  pageCache.forget(fd);
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
