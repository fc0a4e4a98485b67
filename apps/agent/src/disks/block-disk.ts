/** A block disk of this node: a file or device, its identity and its capacity. */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { DiskReport } from '@holdfast/core/model/agent-protocol.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import { systemCode } from '@holdfast/data-engine/base/system-error.js';
import { BlockStore } from '@holdfast/data-engine/disk/block/block-store.js';
import { readDiskNote, writeDiskNote } from '@holdfast/data-engine/disk/block/disk-note.js';
import { blockDiskAt, formatBlockDisk } from '@holdfast/data-engine/disk/block/format-block-disk.js';
import type { DiskStore } from '@holdfast/data-engine/disk/disk-store.js';
import { type Disk, type DiskProblem, fullness, requireUsable, USED_PAUSE_MS, unreadable } from './disk.js';
import type { KnownDisks } from './known-disks.js';
import { deviceId, fileIdOf, noteOfStamp, type StoredStamp, stampIn } from './stored-stamp.js';

const READ_ONLY_CODES: readonly (string | undefined)[] = ['EROFS', 'EACCES', 'EPERM'];

export class BlockDisk implements Disk {
  private opened: BlockStore | undefined;
  private opening: Promise<BlockStore> | undefined;
  private freeBytes = 0;
  private freeAtMs = Number.NEGATIVE_INFINITY;

  private constructor(
    readonly diskId: DiskId,
    readonly name: string,
    readonly path: string,
    /** Size in bytes: the configured one until the disk has been opened, then the disk's own. */
    private maximumBytes: number,
  ) {}

  /**
   * Adopts the file or device as a disk. A path that the agent has never used, and that is empty, is formatted. Where another disk,
   * or none, is found at a known path, the known disk is reported as not ready and nothing is written.
   *
   * @param sizeBytes size of the file, if it has to be made
   * @param newId the identity of a new disk; left out: a random one
   * @throws StorageFault `disk.wrong_identity` for a path that holds something else
   */
  static async take(
    file: string,
    name: string,
    sizeBytes: number,
    known: KnownDisks,
    newId?: DiskId,
  ): Promise<BlockDisk> {
    const expected = known.diskIn(file);
    const found = expected === undefined ? await blockDiskAt(file) : undefined;
    const diskId = expected ?? asId<DiskId>(found ?? (await format(file, sizeBytes, newId)));
    await known.remember(file, diskId);
    return new BlockDisk(diskId, name, file, sizeBytes);
  }

  async problem(): Promise<DiskProblem | undefined> {
    const problem = await this.look();
    // The store is open on a file or device that is gone.
    if (problem !== undefined) await this.closeStore();
    return problem;
  }

  async isAbsent(): Promise<boolean> {
    const problem = await this.problem();
    return problem?.reason === 'DiskMissing' || problem?.reason === 'DiskSwapped';
  }

  requireUsable(): Promise<void> {
    return requireUsable(this);
  }

  /** The disk's store. Kept open while the disk exists, so that hosts need not rebuild the table of owners. */
  async store(): Promise<DiskStore> {
    await this.requireUsable();
    return this.open();
  }

  async replicaIds(): Promise<string[]> {
    return (await this.store()).list();
  }

  async report(nowMs: number): Promise<DiskReport> {
    const { diskId, name } = this;
    const common = { diskId, name, path: this.path, type: 'block' as const };
    const problem = await this.problem();
    if (problem !== undefined) return { ...common, maximumBytes: this.maximumBytes, ...unreadable(problem) };
    try {
      const store = await this.open();
      this.maximumBytes = store.capacityBytes;
      const availableBytes = await this.free(store, nowMs);
      return {
        ...common,
        maximumBytes: this.maximumBytes,
        fileSystem: '',
        availableBytes,
        directIo: store.supportsDirectIo,
        ready: true,
        ...fullness(availableBytes),
      };
    } catch (error) {
      return { ...common, maximumBytes: this.maximumBytes, ...unreadable(error) };
    }
  }

  async readStamp(): Promise<StoredStamp | undefined> {
    const text = await readDiskNote(this.path);
    return text === undefined ? undefined : stampIn(text, this.path);
  }

  writeStamp(stamp: StoredStamp): Promise<void> {
    return writeDiskNote(this.path, noteOfStamp(stamp));
  }

  async fileId(): Promise<string | undefined> {
    const found = await fs.stat(this.path);
    return found.isBlockDevice() ? deviceId(found.rdev) : fileIdOf(this.path);
  }

  release(): Promise<void> {
    return this.closeStore();
  }

  private async look(): Promise<DiskProblem | undefined> {
    try {
      const found = await blockDiskAt(this.path);
      if (found === this.diskId) return undefined;
      if (found === undefined) {
        return { reason: 'DiskMissing', message: `${this.path} holds no block disk, or is not there` };
      }
      const message = `${this.path} holds another block disk than before: ${found}`;
      return { reason: 'DiskSwapped', message };
    } catch (error) {
      const code = systemCode(error);
      if (READ_ONLY_CODES.includes(code)) {
        return { reason: 'DiskReadOnly', message: `${this.path} can't be written to (${code})` };
      }
      const reason = isFault(error) ? 'DiskSwapped' : 'DiskUnreadable';
      return { reason, message: error instanceof Error ? error.message : String(error) };
    }
  }

  private async open(): Promise<BlockStore> {
    // After a failed sync only a new opening tells what the disk holds.
    if (this.opened?.hasLost === true) await this.closeStore();
    this.opening ??= BlockStore.open(this.path).then(
      (store) => {
        this.opened = store;
        return store;
      },
      (error: unknown) => {
        this.opening = undefined;
        throw error;
      },
    );
    return this.opening;
  }

  private async closeStore(): Promise<void> {
    const { opened } = this;
    if (opened === undefined) return;
    this.opened = undefined;
    this.opening = undefined;
    await opened.close().catch(() => undefined);
  }

  private async free(store: BlockStore, nowMs: number): Promise<number> {
    if (nowMs - this.freeAtMs < USED_PAUSE_MS) return this.freeBytes;
    this.freeAtMs = nowMs;
    this.freeBytes = await store.freeBytes();
    return this.freeBytes;
  }
}

async function format(file: string, sizeBytes: number, newId: DiskId | undefined): Promise<string> {
  await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  return formatBlockDisk(file, sizeBytes, newId);
}
