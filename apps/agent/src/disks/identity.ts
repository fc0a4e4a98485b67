/** A folder disk's identity: the file that holds its id. */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type DiskId, isId } from '@holdfast/core/model/ids.js';
import { systemCode } from '@holdfast/data-engine/base/system-error.js';
import { writeDurably } from '@holdfast/data-engine/disk/durable-file.js';

const IDENTITY_FILE = 'holdfast-disk.json';
const IDENTITY_FORMAT = 1;

/**
 * @returns `undefined` where there is no identity file
 * @throws StorageFault `disk.wrong_identity` for a file that Holdfast did not write
 */
export async function readIdentity(folder: string): Promise<DiskId | undefined> {
  const file = path.join(folder, IDENTITY_FILE);
  let text: string;
  try {
    text = await fs.readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
  const diskId = diskIdIn(text);
  if (diskId !== undefined) return diskId;
  throw new StorageFault('disk.wrong_identity', {
    publicMessage: `${file} is not a disk identity of Holdfast`,
  });
}

export function identityFile(folder: string): string {
  return path.join(folder, IDENTITY_FILE);
}

export async function makeIdentity(
  folder: string,
  diskId = asId<DiskId>(crypto.randomUUID()),
): Promise<DiskId> {
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const identity = { format: IDENTITY_FORMAT, diskId };
  await writeDurably(path.join(folder, IDENTITY_FILE), `${JSON.stringify(identity)}\n`);
  return diskId;
}

function diskIdIn(text: string): DiskId | undefined {
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof stored !== 'object' || stored === null) return undefined;
  if (!('diskId' in stored) || !('format' in stored)) return undefined;
  const { diskId, format } = stored;
  return format === IDENTITY_FORMAT && typeof diskId === 'string' && isId(diskId) ? asId(diskId) : undefined;
}
