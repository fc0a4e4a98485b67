/** Bounds of where a user may add a disk: below the folders that the node's operator named, and apart from other disks. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { systemCode } from '@holdfast/data-engine/base/system-error.js';

/**
 * A request over the network must not make the agent, which may run as root, write wherever it names. Links are followed
 * before the comparison.
 *
 * @throws StorageFault `disk.wrong_identity`, for the operator to read
 */
export async function requireAllowed(
  at: string,
  roots: readonly string[],
  disks: readonly { readonly path: string }[],
): Promise<void> {
  const real = await realPath(at);
  const allowed = await Promise.all(roots.map(realPath));
  if (!allowed.some((root) => isBelow(real, root))) {
    const where =
      roots.length === 0 ? 'this node allows none' : `this node allows them in ${roots.join(', ')}`;
    throw refused(`no disk can be added at ${at}: ${where} (HOLDFAST_DISK_ROOTS)`);
  }
  for (const disk of disks) {
    const other = await realPath(disk.path);
    if (other === real || isBelow(real, other) || isBelow(other, real)) {
      throw refused(`${at} and the disk at ${disk.path} lie in each other`);
    }
  }
}

/** The path with links resolved, also if it does not exist yet. */
async function realPath(at: string): Promise<string> {
  try {
    return await fs.realpath(at);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || at === '/') throw error;
    return path.join(await realPath(path.dirname(at)), path.basename(at));
  }
}

function isBelow(at: string, folder: string): boolean {
  const way = path.relative(folder, at);
  return way !== '' && way !== '..' && !way.startsWith('../');
}

function refused(publicMessage: string): StorageFault {
  return new StorageFault('disk.wrong_identity', { publicMessage });
}
