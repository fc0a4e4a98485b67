import fs from 'node:fs/promises';
import path from 'node:path';
import { isId } from '@holdfast/core/model/ids.js';
import { allocatedBytes, replicaDirectory } from './replica-files.js';
import { systemCode } from './system-error.js';

/**
 * Space that all copies on a disk take. It only looks: unlike `listReplicas`, which is for the start, when what is
 * half-made was interrupted, this runs while copies are being made.
 */
export async function bytesOnDisk(diskPath: string): Promise<number> {
  const folder = path.dirname(replicaDirectory(diskPath, 'any'));
  let total = 0;
  for (const name of await namesIn(folder)) {
    // A copy that is being deleted at this moment takes nothing any more.
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
