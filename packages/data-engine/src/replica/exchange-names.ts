import type { KoffiFunc } from 'koffi';

/** AT_FDCWD and RENAME_EXCHANGE of Linux. */
const CURRENT_FOLDER = -100;
const EXCHANGE = 2;

type RenameAt2 = KoffiFunc<
  (fromFolder: number, from: string, toFolder: number, to: string, flags: number) => number
>;

let loading: Promise<RenameAt2 | undefined> | undefined;

/**
 * Gives each of two files the other one's name, at once and without taking any space. False when that is not possible: one
 * of them is not there, or the file system or the platform does not know how.
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
