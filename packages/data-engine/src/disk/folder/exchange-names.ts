import type { KoffiFunc } from 'koffi';

/** AT_FDCWD and RENAME_EXCHANGE of Linux. */
const CURRENT_FOLDER = -100;
const EXCHANGE = 2;

type RenameAt2 = KoffiFunc<
  (fromFolder: number, from: string, toFolder: number, to: string, flags: number) => number
>;

let loading: Promise<RenameAt2 | undefined> | undefined;

/**
 * Swaps the names of two files atomically, without taking any space. False if that is impossible: one of them is
 * missing, or the file system or platform does not support it.
 */
export async function exchangeNames(one: string, other: string): Promise<boolean> {
  loading ??= load();
  const call = await loading;
  if (call === undefined) return false;
  return new Promise((resolve) => {
    call.async(CURRENT_FOLDER, one, CURRENT_FOLDER, other, EXCHANGE, (error: Error | null, status: number) =>
      resolve(error === null && status === 0),
    );
  });
}

async function load(): Promise<RenameAt2 | undefined> {
  try {
    const { default: koffi } = await import('koffi');
    return koffi
      .load('libc.so.6')
      .func('int renameat2(int from_folder, const char *from, int to_folder, const char *to, uint flags)');
  } catch {
    // No prebuilt binary for this platform, or another C library.
    return undefined;
  }
}
