import fs from 'node:fs/promises';
import { SECTOR_BYTES } from '@holdfast/core/model/bytes.js';
import { systemCode } from '../../base/system-error.js';

/** Size in bytes of a file or block device; 0 if it is missing or empty. */
export async function sizeOf(path: string): Promise<number> {
  try {
    const found = await fs.stat(path);
    return found.isBlockDevice() ? await deviceBytes(found.rdev) : found.size;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

async function deviceBytes(rdev: number): Promise<number> {
  // Splits a device number as glibc does.
  const major = (rdev >>> 8) & 0xfff;
  const minor = (rdev & 0xff) | ((rdev >>> 12) & 0xfff00);
  const sectors = await fs.readFile(`/sys/dev/block/${major}:${minor}/size`, 'utf8');
  return Number(sectors) * SECTOR_BYTES;
}
