/**
 * A few buffers of one window each, used over and over: allocating 4 MiB anew for every read costs more than the read
 * from memory itself.
 */
import { WINDOW_BYTES } from './window-hash.js';

/** Buffers kept while nobody uses them; more are made when needed, and let go. */
const KEPT_MAX = 8;
const free: Buffer[] = [];

export async function withWindowBuffer<T>(work: (buffer: Buffer) => Promise<T>): Promise<T> {
  const buffer = free.pop() ?? Buffer.allocUnsafeSlow(WINDOW_BYTES);
  try {
    return await work(buffer);
  } finally {
    if (free.length < KEPT_MAX) free.push(buffer);
  }
}
