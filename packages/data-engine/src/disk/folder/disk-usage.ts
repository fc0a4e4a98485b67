import fs from 'node:fs/promises';
import path from 'node:path';
import { isId } from '@holdfast/core/model/ids.js';
import { systemCode } from '../../base/system-error.js';
import { allocatedBytes, replicaDirectory } from './replica-files.js';

/**
 * Bytes allocated for all copies on a disk. Read-only, and so safe while copies are being created; `listReplicas`,
 * which removes half-made ones, is only for the start.
 */
export async function bytesOnDisk(diskPath: string): Promise<number> {
  const folder = path.dirname(replicaDirectory(diskPath, 'any'));
  let total = 0;
  for (const name of await namesIn(folder)) {
    // A copy that is being deleted concurrently counts as zero.
    if (isId(name)) total += await allocatedBytes(path.join(folder, name)).catch(() => 0);
  }
  return total;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await fs.readdir(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}
