/**
 * Huge pages for memory that disks transfer to and from: `madvise` of Linux.
 *
 * A disk takes one request in a few hundred pieces of memory that lies together, and a page of 4 KiB is such a piece. So of a
 * buffer of small pages one request carries 1 MiB, and of one of huge pages as much as the disk takes: a third less time
 * for a rebuild (docs/design/rebuild.md).
 */
import type { KoffiFunc } from 'koffi';

/** MADV_HUGEPAGE of linux/mman.h. */
const HUGE_PAGES = 14;

type Advise = KoffiFunc<(address: Uint8Array, lengthBytes: number, advice: number) => number>;

let advise: Advise | undefined;
let loading: Promise<void> | undefined;

/** Resolves when memory can be given huge pages, or can't be at all. */
export function hugePagesReady(): Promise<void> {
  loading ??= load();
  return loading;
}

/**
 * Has the kernel use huge pages for memory that is not in use yet, where it has some. Nothing changes where it has none, and before
 * `hugePagesReady`.
 */
export function useHugePages(memory: Buffer): void {
  advise?.(memory, memory.length, HUGE_PAGES);
}

async function load(): Promise<void> {
  try {
    const { default: koffi } = await import('koffi');
    advise = koffi.load('libc.so.6').func('int madvise(void *address, size_t length, int advice)');
  } catch {
    // No prebuilt binary for this platform, or another C library.
  }
}
