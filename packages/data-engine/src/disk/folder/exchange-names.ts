import { nativeCalls } from '../native-calls.js';

/** AT_FDCWD and RENAME_EXCHANGE of Linux. */
const CURRENT_FOLDER = -100;
const EXCHANGE = 2;

/**
 * Swaps the names of two files atomically, without taking any space. False if that is impossible: one of them is
 * missing, or the file system or platform does not support it.
 */
export async function exchangeNames(one: string, other: string): Promise<boolean> {
  return (await nativeCalls.renameAt2(CURRENT_FOLDER, one, CURRENT_FOLDER, other, EXCHANGE)) === 0;
}
