/** FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE of linux/falloc.h. */
const PUNCH_HOLE_KEEP_SIZE = 0x03;

type Fallocate = (fd: number, offset: number, lengthBytes: number) => Promise<boolean>;

let loading: Promise<Fallocate | undefined> | undefined;

/** Gives the space of a range back to the file system. False where that is not possible: then write zeros. */
export async function punchHole(fd: number, offset: number, lengthBytes: number): Promise<boolean> {
  // Loaded at first use: a process whose copies are never trimmed does without the native module.
  loading ??= loadFallocate();
  const fallocate = await loading;
  return (await fallocate?.(fd, offset, lengthBytes)) ?? false;
}

async function loadFallocate(): Promise<Fallocate | undefined> {
  try {
    const { default: koffi } = await import('koffi');
    const call = koffi
      .load('libc.so.6')
      .func('int fallocate64(int fd, int mode, int64_t offset, int64_t length)');
    return (fd, offset, lengthBytes) =>
      new Promise((resolve) => {
        call.async(fd, PUNCH_HOLE_KEEP_SIZE, offset, lengthBytes, (error: Error | null, status: number) =>
          resolve(error === null && status === 0),
        );
      });
  } catch {
    // No prebuilt binary for this platform.
    return undefined;
  }
}
