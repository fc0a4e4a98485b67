/** A disk's stamp as it is stored on the disk: which state of the disk this is (docs/adr/0322-disk-stamps.md). */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { STAMP_TRAIL_MAX, stampAfter } from '@holdfast/core/model/disk-stamp.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { isId } from '@holdfast/core/model/ids.js';
import { systemCode } from '@holdfast/data-engine/base/system-error.js';
import { writeDurably } from '@holdfast/data-engine/disk/durable-file.js';
import { openJson, sealJson } from '@holdfast/data-engine/disk/sealed-json.js';
import { z } from 'zod';

const STAMP_FILE = 'holdfast-stamp.json';

/** Format of the file in a folder. A block disk's note has checksums of its own (`disk-note.ts`), and format 1. */
const SEALED_FORMAT = 2;

const storedSchema = z.object({
  id: z.string().refine(isId),
  generation: z.number().int().positive(),
  trail: z.array(z.string().refine(isId)).max(STAMP_TRAIL_MAX),
  isOpen: z.boolean(),
});

export type StoredStamp = Readonly<z.output<typeof storedSchema>>;

/** The next stamp, with a random id. */
export function storedStampAfter(before: StoredStamp | undefined, isOpen: boolean): StoredStamp {
  return stampAfter(before, isOpen, crypto.randomUUID());
}

/** @throws StorageFault `disk.wrong_identity` for a stamp that Holdfast did not write */
export function stampIn(text: string, where: string): StoredStamp {
  try {
    const { format, ...stamp } = openJson(text, SEALED_FORMAT) ?? {};
    if (format !== 1 && format !== SEALED_FORMAT) throw new Error('it is damaged, or of an unknown format');
    return storedSchema.parse(stamp);
  } catch (cause) {
    throw new StorageFault('disk.wrong_identity', {
      publicMessage: `${where} holds no stamp of Holdfast`,
      cause,
    });
  }
}

/** @returns `undefined` for a disk without one */
export async function readFolderStamp(folder: string): Promise<StoredStamp | undefined> {
  const file = path.join(folder, STAMP_FILE);
  try {
    return stampIn(await fs.readFile(file, 'utf8'), file);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export function writeFolderStamp(folder: string, stamp: StoredStamp): Promise<void> {
  return writeDurably(path.join(folder, STAMP_FILE), sealJson({ format: SEALED_FORMAT, ...stamp }));
}

/** The stamp as a block disk's note has it. */
export function noteOfStamp(stamp: StoredStamp): string {
  return JSON.stringify({ format: 1, ...stamp });
}

/** Inode and time of birth of a file. A disk that is mounted elsewhere keeps them; a copy of its files does not. */
export async function fileIdOf(file: string): Promise<string> {
  const { ino, birthtimeNs } = await fs.stat(file, { bigint: true });
  return `${ino}.${birthtimeNs}`;
}

/** Where Linux says which device it is: NVMe, SCSI, virtio. */
const DEVICE_IDS = ['wwid', 'device/wwid', 'device/serial', 'serial'];

/** World-wide name or serial number of a block device; `undefined` for one that has none, such as a loop device. */
export async function deviceId(rdev: number): Promise<string | undefined> {
  // Splits a device number as glibc does.
  const device = `${(rdev >>> 8) & 0xfff}:${(rdev & 0xff) | ((rdev >>> 12) & 0xfff00)}`;
  for (const name of DEVICE_IDS) {
    const text = await fs.readFile(`/sys/dev/block/${device}/${name}`, 'utf8').catch(() => '');
    if (text.trim() !== '') return `device ${text.trim()}`.slice(0, 128);
  }
  return undefined;
}
