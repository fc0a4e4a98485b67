/** Calls of Linux's C library on files, which Node does not offer. Loaded at first use: a process that needs none does without the native module. */
import type { KoffiFunc } from 'koffi';

type Call = KoffiFunc<(...args: (number | string)[]) => number>;
type Calls = { fallocate: Call; posixFallocate: Call; renameAt2: Call };

let loading: Promise<Calls | undefined> | undefined;

/**
 * Each returns the call's value, or -1 where it can't be made. An object, as `node:fs` is: its functions are looked up when they are called,
 * so that tests may put their own in their place.
 */
export const nativeCalls = {
  fallocate: (fd: number, mode: number, offset: number, lengthBytes: number): Promise<number> =>
    made(({ fallocate }) => fallocate, fd, mode, offset, lengthBytes),
  posixFallocate: (fd: number, offset: number, lengthBytes: number): Promise<number> =>
    made(({ posixFallocate }) => posixFallocate, fd, offset, lengthBytes),
  renameAt2: (
    fromFolder: number,
    from: string,
    toFolder: number,
    to: string,
    flags: number,
  ): Promise<number> => made(({ renameAt2 }) => renameAt2, fromFolder, from, toFolder, to, flags),
};

async function made(choose: (calls: Calls) => Call, ...args: (number | string)[]): Promise<number> {
  loading ??= load();
  const calls = await loading;
  if (calls === undefined) return -1;
  return new Promise((resolve) => {
    choose(calls).async(...args, (error: Error | null, value: number) =>
      resolve(error === null ? value : -1),
    );
  });
}

async function load(): Promise<Calls | undefined> {
  try {
    const { default: koffi } = await import('koffi');
    const libc = koffi.load('libc.so.6');
    return {
      fallocate: libc.func('int fallocate64(int fd, int mode, int64_t offset, int64_t length)'),
      posixFallocate: libc.func('int posix_fallocate64(int fd, int64_t offset, int64_t length)'),
      renameAt2: libc.func(
        'int renameat2(int from_folder, const char *from, int to_folder, const char *to, uint flags)',
      ),
    };
  } catch {
    // No prebuilt binary for this platform, or another C library.
    return undefined;
  }
}
