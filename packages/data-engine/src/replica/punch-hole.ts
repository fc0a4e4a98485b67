import { createRequire } from 'node:module';

/** FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE of linux/falloc.h. */
const PUNCH_HOLE_KEEP_SIZE = 0x03;

type Fallocate = {
  async(
    fd: number,
    mode: number,
    offset: number,
    lengthBytes: number,
    done: (error: Error | null, status: number) => void,
  ): void;
};

let loaded: Fallocate | null | undefined;

/** The C library's call, loaded at first use because a replica that never trims should not pay for it. */
function loadFallocate(): Fallocate | null {
  if (loaded !== undefined) return loaded;
  try {
    const koffi = createRequire(import.meta.url)('koffi');
    const libc = koffi.load('libc.so.6');
    loaded = libc.func('int fallocate64(int fd, int mode, int64_t offset, int64_t length)');
  } catch {
    // No prebuilt binary for this platform: the caller writes zeros instead.
    loaded = null;
  }
  return loaded ?? null;
}

/** Gives the space of a range back to the file system. False where that is not possible: then write zeros. */
export function punchHole(fd: number, offset: number, lengthBytes: number): Promise<boolean> {
  const fallocate = loadFallocate();
  if (fallocate === null) return Promise.resolve(false);
  return new Promise((resolve) => {
    fallocate.async(fd, PUNCH_HOLE_KEEP_SIZE, offset, lengthBytes, (error, status) => {
      resolve(error === null && status === 0);
    });
  });
}
