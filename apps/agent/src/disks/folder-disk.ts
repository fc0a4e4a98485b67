/** A folder disk of this node: a folder on a file system, its identity and its capacity. */
import fs from 'node:fs/promises';
import type { DiskReport } from '@holdfast/core/model/agent-protocol.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { DiskId } from '@holdfast/core/model/ids.js';
import { systemCode } from '@holdfast/data-engine/base/system-error.js';
import type { DiskStore } from '@holdfast/data-engine/disk/disk-store.js';
import { supportsDirectIo } from '@holdfast/data-engine/disk/folder/direct-io.js';
import { FolderStore } from '@holdfast/data-engine/disk/folder/folder-store.js';
import { type Disk, type DiskProblem, fullness, requireUsable, USED_PAUSE_MS, unreadable } from './disk.js';
import { identityFile, makeIdentity, readIdentity } from './identity.js';
import type { KnownDisks } from './known-disks.js';
import { fileIdOf, readFolderStamp, type StoredStamp, writeFolderStamp } from './stored-stamp.js';

/** `statfs` types of common file systems (linux/magic.h). */
const FILE_SYSTEMS: Record<number, string> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  16914836: 'tmpfs',
  2035054128: 'overlay',
};

export class FolderDisk implements Disk {
  private readonly folder: DiskStore;
  private usedBytes = 0;
  private usedAtMs = Number.NEGATIVE_INFINITY;

  private constructor(
    readonly diskId: DiskId,
    readonly name: string,
    readonly path: string,
    private readonly maximumBytes: number,
  ) {
    this.folder = new FolderStore(path);
  }

  /**
   * Adopts the folder as a disk. A folder that the agent has never used gets an identity. Where another disk, or none, is found in a
   * known folder, the known disk is reported as not ready and nothing is written.
   *
   * @param newId the identity of a new disk; left out: a random one
   * @throws StorageFault `disk.wrong_identity` for a folder whose identity file Holdfast did not write
   */
  static async take(
    folder: string,
    name: string,
    maximumBytes: number,
    known: KnownDisks,
    newId?: DiskId,
  ): Promise<FolderDisk> {
    const expected = known.diskIn(folder);
    // A known disk is not read here: it may hang, and the agent has other disks to start with.
    const found = expected === undefined ? await readIdentity(folder) : undefined;
    const diskId = expected ?? found ?? (await makeIdentity(folder, newId));
    await known.remember(folder, diskId);
    return new FolderDisk(diskId, name, folder, maximumBytes);
  }

  /** The reason why the disk can't be used now; `undefined` for a usable disk. */
  async problem(): Promise<DiskProblem | undefined> {
    let found: DiskId | undefined;
    try {
      found = await readIdentity(this.path);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { reason: isFault(error) ? 'DiskSwapped' : 'DiskUnreadable', message };
    }
    if (found === undefined) {
      const message = `${this.path} holds no disk: it is not mounted, or it was emptied`;
      return { reason: 'DiskMissing', message };
    }
    if (found !== this.diskId) {
      const message = `${this.path} holds another disk than before: ${found}`;
      return { reason: 'DiskSwapped', message };
    }
    try {
      await fs.access(this.path, fs.constants.W_OK);
      return undefined;
    } catch (error) {
      const message = `${this.path} can't be written to (${systemCode(error) ?? error})`;
      return { reason: 'DiskReadOnly', message };
    }
  }

  /** True when the folder holds no disk, or another one. */
  async isAbsent(): Promise<boolean> {
    const problem = await this.problem();
    return problem?.reason === 'DiskMissing' || problem?.reason === 'DiskSwapped';
  }

  requireUsable(): Promise<void> {
    return requireUsable(this);
  }

  async release(): Promise<void> {}

  readStamp(): Promise<StoredStamp | undefined> {
    return readFolderStamp(this.path);
  }

  writeStamp(stamp: StoredStamp): Promise<void> {
    return writeFolderStamp(this.path, stamp);
  }

  fileId(): Promise<string> {
    return fileIdOf(identityFile(this.path));
  }

  async store(): Promise<DiskStore> {
    return this.folder;
  }

  replicaIds(): Promise<string[]> {
    return this.folder.list();
  }

  /**
   * The disk's heartbeat report. Available bytes: the lesser of what the configured maximum leaves and what is free in
   * the file system.
   */
  async report(nowMs: number): Promise<DiskReport> {
    const common = {
      diskId: this.diskId,
      name: this.name,
      path: this.path,
      type: 'filesystem' as const,
      maximumBytes: this.maximumBytes,
    };
    const problem = await this.problem();
    if (problem !== undefined) return { ...common, ...unreadable(problem) };
    try {
      const { type, bavail, bsize } = await fs.statfs(this.path);
      const left = Math.max(0, this.maximumBytes - (await this.used(nowMs)));
      const availableBytes = Math.min(left, bavail * bsize);
      const fileSystem = FILE_SYSTEMS[type] ?? `0x${type.toString(16)}`;
      const facts = {
        fileSystem,
        availableBytes,
        directIo: await supportsDirectIo(this.path),
        onRootFileSystem: await isOnRootFileSystem(this.path),
      };
      return { ...common, ...facts, ready: true, ...fullness(availableBytes) };
    } catch (error) {
      return { ...common, ...unreadable(error) };
    }
  }

  private async used(nowMs: number): Promise<number> {
    if (nowMs - this.usedAtMs < USED_PAUSE_MS) return this.usedBytes;
    this.usedAtMs = nowMs;
    this.usedBytes = await this.folder.usedBytes();
    return this.usedBytes;
  }
}

async function isOnRootFileSystem(folder: string): Promise<boolean> {
  const [own, root] = await Promise.all([fs.stat(folder), fs.stat('/')]);
  return own.dev === root.dev;
}
