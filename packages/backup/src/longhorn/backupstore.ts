/**
 * Longhorn's backupstore, read: volumes and backups of a target, and any backup as blocks. Nothing is written there but a lock, where the
 * credentials allow one, which keeps Longhorn from deleting what is being read.
 */
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { isFault } from '@holdfast/core/model/faults.js';
import { z } from 'zod';
import type { ObjectStore } from '../store/object-store.js';
import { type BackupFile, type LonghornBlock, parseBackupFile } from './backup-file.js';
import {
  BACKUP_FILE_BYTES_MAX,
  BLOCK_BYTES,
  LISTED_MAX,
  NAME,
  READ_BYTES,
  VOLUME_BYTES_MAX,
  VOLUME_FILE_BYTES_MAX,
} from './bounds.js';
import { damagedFile, notFound, unsupported } from './longhorn-faults.js';
import { decodeLz4Frame, isLz4Frame } from './lz4-frame.js';

const ROOT = 'backupstore/volumes/';
/** Bytes that compression may add at most. */
const OVERHEAD_BYTES = 64 * 1024;

/** Some members are JSON texts within JSON texts, as Go's option for numbers in strings makes them of strings. */
const twiceEncoded = z
  .string()
  .default('')
  .transform((text) => {
    if (!text.startsWith('"')) return text;
    try {
      return String(JSON.parse(text));
    } catch {
      return text;
    }
  });

const volumeSchema = z.object({
  Name: z.string().regex(NAME),
  Size: z.union([z.string().regex(/^\d{1,19}$/), z.int().nonnegative()]).transform(Number),
  CreatedTime: z.string().default(''),
  LastBackupName: z.string().default(''),
  LastBackupAt: z.string().default(''),
  Labels: z.record(z.string(), z.string()).nullish(),
  BackingImageName: twiceEncoded,
  CompressionMethod: twiceEncoded,
  StorageClassName: twiceEncoded,
  DataEngine: twiceEncoded,
});

export type LonghornVolume = {
  readonly name: string;
  readonly sizeBytes: number;
  readonly createdAt: string;
  readonly lastBackupName: string;
  readonly lastBackupAt: string;
  readonly backingImageName: string;
  readonly storageClassName: string;
  readonly dataEngine: string;
  readonly labels: Readonly<Record<string, string>>;
};

export type LonghornBackup = {
  readonly name: string;
  readonly volumeName: string;
  readonly snapshotName: string;
  readonly snapshotCreatedAt: string;
  readonly createdAt: string;
  readonly blockBytes: number;
  /** Bytes of the blocks that it has. */
  readonly dataBytes: number;
  readonly isIncremental: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly compression: string;
  readonly blocks: readonly LonghornBlock[];
};

/** Something that could not be read, and why: the rest can. */
export type LonghornProblem = { readonly file: string; readonly message: string };

const hashOf = (bytes: Uint8Array | string): string =>
  createHash('sha512').update(bytes).digest('hex').slice(0, 64);

/** The folder of a volume. */
export function volumeFolder(name: string): string {
  const hash = hashOf(name);
  return `${ROOT}${hash.slice(0, 2)}/${hash.slice(2, 4)}/${name}/`;
}

export class LonghornBackupstore {
  constructor(readonly store: ObjectStore) {}

  /** Volumes of the target by name, and what of it could not be read. */
  async volumes(): Promise<{ volumes: LonghornVolume[]; problems: LonghornProblem[] }> {
    const names: string[] = [];
    for await (const { name } of this.store.list(ROOT)) {
      const found = /^backupstore\/volumes\/[0-9a-f]{2}\/[0-9a-f]{2}\/([^/]+)\/volume\.cfg$/.exec(name);
      if (found?.[1] !== undefined && NAME.test(found[1])) names.push(found[1]);
      if (names.length > LISTED_MAX) throw unsupported(`the target has more than ${LISTED_MAX} volumes`);
    }
    return collected(names.sort(), async (name) => this.volume(name)).then(({ found, problems }) => ({
      volumes: found,
      problems,
    }));
  }

  /** @throws StorageFault `longhorn_backup.not_found`, `longhorn_backup.damaged` */
  async volume(name: string): Promise<LonghornVolume> {
    if (!NAME.test(name)) throw notFound(`${JSON.stringify(name)} is no name of a Longhorn volume`);
    const file = `${volumeFolder(name)}volume.cfg`;
    const bytes = await this.store.get(file, VOLUME_FILE_BYTES_MAX);
    if (bytes === undefined) throw notFound(`there is no volume ${name} at the target`);
    let parsed: z.output<typeof volumeSchema>;
    try {
      parsed = volumeSchema.parse(JSON.parse(bytes.toString()));
    } catch (error) {
      throw damagedFile(file, "no volume's file", error);
    }
    if (parsed.Name !== name) throw damagedFile(file, `is of another volume, ${parsed.Name}`);
    if (parsed.Size > VOLUME_BYTES_MAX) throw unsupported(`volume ${name} is larger than 64 TiB`);
    return {
      name,
      sizeBytes: parsed.Size,
      createdAt: parsed.CreatedTime,
      lastBackupName: parsed.LastBackupName,
      lastBackupAt: parsed.LastBackupAt,
      backingImageName: parsed.BackingImageName,
      storageClassName: parsed.StorageClassName,
      dataEngine: parsed.DataEngine === '' ? 'v1' : parsed.DataEngine,
      labels: parsed.Labels ?? {},
    };
  }

  /** Backups of a volume that are complete, the oldest first, and what could not be read. Backups that are being made are left out. */
  async backups(volumeName: string): Promise<{ backups: LonghornBackup[]; problems: LonghornProblem[] }> {
    await this.volume(volumeName);
    const names: string[] = [];
    const prefix = `${volumeFolder(volumeName)}backups/backup_`;
    for await (const { name } of this.store.list(prefix)) {
      // Files are written as `<name>.tmp.<time>` first.
      const backup = name.endsWith('.cfg') ? name.slice(prefix.length, -'.cfg'.length) : '';
      if (NAME.test(backup)) names.push(backup);
      if (names.length > LISTED_MAX)
        throw unsupported(`volume ${volumeName} has more than ${LISTED_MAX} backups`);
    }
    const { found, problems } = await collected(names.sort(), async (name) => {
      const file = await this.file(volumeName, name);
      return file.CreatedTime === '' ? undefined : backupOf(file);
    });
    const backups = found.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
    return { backups, problems };
  }

  /** @throws StorageFault `longhorn_backup.not_found`, `…unsupported`, `…damaged` */
  async backup(volumeName: string, backupName: string): Promise<LonghornBackup> {
    if (!NAME.test(backupName))
      throw notFound(`${JSON.stringify(backupName)} is no name of a Longhorn backup`);
    const file = await this.file(volumeName, backupName);
    if (file.CreatedTime === '')
      throw unsupported(
        `backup ${backupName} was never completed: it is being made, or what made it has died`,
      );
    if ((file.SingleFile?.FilePath ?? '') !== '')
      throw unsupported(`backup ${backupName} is a single file, which Longhorn makes of no volume`);
    return backupOf(file);
  }

  private async file(volumeName: string, backupName: string): Promise<BackupFile> {
    const file = `${volumeFolder(volumeName)}backups/backup_${backupName}.cfg`;
    const info = await this.store.head(file);
    if (info === undefined) throw notFound(`volume ${volumeName} has no backup ${backupName} at the target`);
    if (info.sizeBytes > BACKUP_FILE_BYTES_MAX) throw unsupported(`${file} is larger than 1 GiB`);
    const parsed = await parseBackupFile(file, this.partsOf(file, info.sizeBytes));
    if (parsed.Name !== backupName || parsed.VolumeName !== volumeName)
      throw damagedFile(file, `is of another backup, ${parsed.Name} of ${parsed.VolumeName}`);
    return parsed;
  }

  private async *partsOf(file: string, sizeBytes: number): AsyncIterable<Buffer> {
    for (let offset = 0; offset < sizeBytes; offset += READ_BYTES) {
      const part = await this.store.getRange(file, offset, Math.min(READ_BYTES, sizeBytes - offset));
      if (part === undefined) throw damagedFile(file, 'was changed while it was read');
      yield part;
    }
  }

  /** A block's content, checked. @throws StorageFault `longhorn_backup.damaged`, with the file's name */
  async block(backup: LonghornBackup, { checksum }: LonghornBlock): Promise<Buffer> {
    const file = `${volumeFolder(backup.volumeName)}blocks/${checksum.slice(0, 2)}/${checksum.slice(2, 4)}/${checksum}.blk`;
    const stored = await this.read(file, backup.blockBytes + OVERHEAD_BYTES);
    let bytes: Buffer;
    try {
      bytes = uncompressed(stored, backup.compression, backup.blockBytes);
    } catch (error) {
      throw damagedFile(file, error instanceof Error ? error.message : 'it does not unpack', error);
    }
    if (bytes.length !== backup.blockBytes)
      throw damagedFile(file, `${bytes.length} bytes, not ${backup.blockBytes}`);
    if (hashOf(bytes) !== checksum) throw damagedFile(file, 'its content is not what its name says');
    return bytes;
  }

  private async read(file: string, bytesMax: number): Promise<Buffer> {
    const bytes = await this.store.get(file, bytesMax).catch((error: unknown) => {
      if (isFault(error, 'backup.too_large')) throw damagedFile(file, 'it is too large for a block', error);
      throw error;
    });
    if (bytes === undefined) throw damagedFile(file, 'it is missing');
    return bytes;
  }
}

/** The named method, or the other one where the first bytes say so: it may have been changed while the volume existed. */
function uncompressed(stored: Buffer, method: string, rawBytes: number): Buffer {
  if (method === 'none') return stored;
  if (!['lz4', 'gzip'].includes(method)) throw new Error(`its compression ${method} is not known`);
  const isGzip = stored.length > 2 && stored.readUInt16BE(0) === 0x1f8b;
  if (isLz4Frame(stored)) return decodeLz4Frame(stored, rawBytes);
  if (isGzip) return gunzipSync(stored, { maxOutputLength: rawBytes });
  throw new Error(`it is neither lz4 nor gzip, and ${method} was expected`);
}

function backupOf(file: BackupFile): LonghornBackup {
  const blockBytes = blockBytesOf(file);
  const wrong = file.blocks.find(({ offset }) => offset % blockBytes !== 0);
  if (wrong !== undefined)
    throw damagedFile(file.Name, `a block begins at ${wrong.offset}, which is no multiple of ${blockBytes}`);
  return {
    name: file.Name,
    volumeName: file.VolumeName,
    snapshotName: file.SnapshotName,
    snapshotCreatedAt: file.SnapshotCreatedAt,
    createdAt: file.CreatedTime,
    blockBytes,
    dataBytes: file.blocks.length * blockBytes,
    isIncremental: file.IsIncremental,
    labels: file.Labels ?? {},
    compression: file.CompressionMethod === '' ? 'gzip' : file.CompressionMethod,
    blocks: file.blocks,
  };
}

/** Digits, or a quantity such as `16Mi`; 2 MiB where there is none. */
function blockBytesOf(file: BackupFile): number {
  const text = file.Parameters?.['backup-block-size'] ?? '';
  const found = /^(\d{1,12})(Mi)?$/.exec(text);
  const given = found === null ? 0 : Number(found[1]) * (found[2] === undefined ? 1 : 1024 ** 2);
  const blockBytes = given === 0 && (found !== null || text === '') ? (BLOCK_BYTES[0] ?? 0) : given;
  if (!BLOCK_BYTES.includes(blockBytes)) throw unsupported(`backup ${file.Name} has blocks of ${text} bytes`);
  return blockBytes;
}

/** What of a list can be read, and why the rest can't. */
async function collected<Found>(
  names: readonly string[],
  read: (name: string) => Promise<Found | undefined>,
): Promise<{ found: Found[]; problems: LonghornProblem[] }> {
  const found: Found[] = [];
  const problems: LonghornProblem[] = [];
  for (const name of names) {
    try {
      const one = await read(name);
      if (one !== undefined) found.push(one);
    } catch (error) {
      const isOfFile =
        isFault(error, 'longhorn_backup.damaged') || isFault(error, 'longhorn_backup.unsupported');
      if (!isOfFile) throw error;
      problems.push({ file: name, message: error.message });
    }
  }
  return { found, problems };
}
