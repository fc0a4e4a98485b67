/** A folder disk's identity: the file that holds its id. */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type DiskId, isId } from '@holdfast/core/model/ids.js';
import { systemCode } from '@holdfast/data-engine/base/system-error.js';
import { writeDurably } from '@holdfast/data-engine/disk/durable-file.js';
import { openJson, sealJson } from '@holdfast/data-engine/disk/sealed-json.js';

const IDENTITY_FILE = 'holdfast-disk.json';
/** Format 2 has a checksum. A disk that has an identity of format 1 keeps it: its file's inode tells the disk from a copy of it. */
const IDENTITY_FORMAT = 2;
const OLDEST_FORMAT = 1;

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
  await writeDurably(path.join(folder, IDENTITY_FILE), sealJson({ format: IDENTITY_FORMAT, diskId }));
  return diskId;
}

function diskIdIn(text: string): DiskId | undefined {
  const { diskId, format } = openJson(text, IDENTITY_FORMAT) ?? {};
  const isKnown = format === IDENTITY_FORMAT || format === OLDEST_FORMAT;
  return isKnown && typeof diskId === 'string' && isId(diskId) ? asId(diskId) : undefined;
}
