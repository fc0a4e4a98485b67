/** One folder that holds copies: its identity, and how much fits. */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { DiskReport } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { isId } from '@holdfast/core/model/ids.js';
import { writeDurably } from '@holdfast/data-engine/replica/durable-file.js';
import {
  allocatedBytes,
  listReplicas,
  replicaDirectory,
} from '@holdfast/data-engine/replica/replica-files.js';
import { systemCode } from '@holdfast/data-engine/replica/system-error.js';

const IDENTITY_FILE = 'holdfast-disk.json';
const IDENTITY_FORMAT = 1;
/** Adding up what all copies take is asked of the file system no more often than this. */
const USED_PAUSE_MS = 3_000;

/** `statfs` types of common file systems (linux/magic.h). */
const FILE_SYSTEMS: Record<number, string> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  16914836: 'tmpfs',
  2035054128: 'overlay',
};

export class Disk {
  private usedBytes = 0;
  private usedAtMs = Number.NEGATIVE_INFINITY;

  private constructor(
    readonly diskId: string,
    readonly name: string,
    readonly path: string,
    private readonly maximumBytes: number,
  ) {}

  /** Takes the folder: makes it and its identity file at first use. @throws StorageFault `disk.wrong_identity` */
  static async take(folder: string, name: string, maximumBytes: number): Promise<Disk> {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    const file = path.join(folder, IDENTITY_FILE);
    const diskId = (await readIdentity(file)) ?? (await makeIdentity(file));
    return new Disk(diskId, name, folder, maximumBytes);
  }

  replicaIds(): Promise<string[]> {
    return listReplicas(this.path);
  }

  /** What is free is the smaller of what is left of the configured maximum and what the file system has. */
  async report(nowMs: number): Promise<DiskReport> {
    const common = {
      diskId: this.diskId,
      name: this.name,
      path: this.path,
      type: 'filesystem' as const,
      maximumBytes: this.maximumBytes,
    };
    try {
      const { type, bavail, bsize } = await fs.statfs(this.path);
      const left = Math.max(0, this.maximumBytes - (await this.used(nowMs)));
      const availableBytes = Math.min(left, bavail * bsize);
      const fileSystem = FILE_SYSTEMS[type] ?? `0x${type.toString(16)}`;
      return { ...common, fileSystem, availableBytes, ready: true, reason: '', message: '' };
    } catch (error) {
      const message = error instanceof Error ? error.message.slice(0, 1024) : 'unknown';
      return {
        ...common,
        fileSystem: '',
        availableBytes: 0,
        ready: false,
        reason: 'DiskUnreadable',
        message,
      };
    }
  }

  private async used(nowMs: number): Promise<number> {
    if (nowMs - this.usedAtMs < USED_PAUSE_MS) return this.usedBytes;
    this.usedAtMs = nowMs;
    let total = 0;
    for (const replicaId of await this.replicaIds()) {
      // A copy that is being deleted at this moment takes nothing any more.
      total += await allocatedBytes(replicaDirectory(this.path, replicaId)).catch(() => 0);
    }
    this.usedBytes = total;
    return total;
  }
}

async function readIdentity(file: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await fs.readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const stored: unknown = JSON.parse(text);
  if (typeof stored === 'object' && stored !== null && 'diskId' in stored && 'format' in stored) {
    const { diskId, format } = stored;
    if (format === IDENTITY_FORMAT && typeof diskId === 'string' && isId(diskId)) return diskId;
  }
  throw new StorageFault('disk.wrong_identity', {
    publicMessage: `${file} is not a disk identity of Holdfast`,
  });
}

async function makeIdentity(file: string): Promise<string> {
  const diskId = crypto.randomUUID();
  await writeDurably(file, `${JSON.stringify({ format: IDENTITY_FORMAT, diskId })}\n`);
  return diskId;
}
