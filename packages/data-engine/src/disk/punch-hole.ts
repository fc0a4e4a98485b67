/** Freeing and preallocating file space without writing: `fallocate` of Linux. */
import type { KoffiFunc } from 'koffi';

/** FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE of linux/falloc.h. */
const PUNCH_HOLE_KEEP_SIZE = 0x03;
/** ENOSPC and EDQUOT of errno.h. */
const NO_SPACE: readonly number[] = [28, 122];

type Call = KoffiFunc<(...args: number[]) => number>;
type Calls = { fallocate: Call; posixFallocate: Call };

let loading: Promise<Calls | undefined> | undefined;

/** Frees the space of a range. False if that is not possible: the caller then writes zeros. */
export async function punchHole(fd: number, offset: number, lengthBytes: number): Promise<boolean> {
  const calls = await load();
  if (calls === undefined) return false;
  return (await called(calls.fallocate, fd, PUNCH_HOLE_KEEP_SIZE, offset, lengthBytes)) === 0;
}

/**
 * Preallocates a range of a file, so that no later write there finds the disk full. No-op where it is not supported.
 *
 * @throws an error with the code `ENOSPC` when the disk is full
 */
export async function reserveSpace(fd: number, offset: number, lengthBytes: number): Promise<void> {
  const calls = await load();
  if (calls === undefined) return;
  const errno = await called(calls.posixFallocate, fd, offset, lengthBytes);
  if (!NO_SPACE.includes(errno)) return;
  throw Object.assign(new Error('ENOSPC: no space left for what describes the data'), { code: 'ENOSPC' });
}

/** The call's return value; -1 if it could not be made. */
function called(call: Call, ...args: number[]): Promise<number> {
  return new Promise((resolve) => {
    call.async(...args, (error: Error | null, status: number) => resolve(error === null ? status : -1));
  });
}

/** Loaded at first use: a process whose copies need neither call does without the native module. */
function load(): Promise<Calls | undefined> {
  loading ??= loadCalls();
  return loading;
}

async function loadCalls(): Promise<Calls | undefined> {
  try {
    const { default: koffi } = await import('koffi');
    const libc = koffi.load('libc.so.6');
    return {
      fallocate: libc.func('int fallocate64(int fd, int mode, int64_t offset, int64_t length)'),
      posixFallocate: libc.func('int posix_fallocate64(int fd, int64_t offset, int64_t length)'),
    };
  } catch {
    // No prebuilt binary for this platform.
    return undefined;
  }
}
