/** The disks of this node: those of its configuration, and those that users add and take off while it runs. */
import path from 'node:path';
import type { DiskReport, HeartbeatReply } from '@holdfast/core/model/agent-protocol.js';
import { duplicateRowId } from '@holdfast/core/model/disk-stamp.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { DiskId, NodeId } from '@holdfast/core/model/ids.js';
import { blockDiskAt } from '@holdfast/data-engine/disk/block/format-block-disk.js';
import { BlockDisk } from './block-disk.js';
import { type Disk, type DiskEntry, unreadable } from './disk.js';
import { requireAllowed } from './disk-roots.js';
import { FolderDisk } from './folder-disk.js';
import { readIdentity } from './identity.js';
import type { AddedDisk, KnownDisks } from './known-disks.js';
import type { Stamps } from './stamps.js';
import { WatchedDisk } from './watched-disk.js';

export type { DiskEntry } from './disk.js';

type Wishes = NonNullable<HeartbeatReply['disks']>;

export type DiskSetOptions = Readonly<{
  entries: readonly DiskEntry[];
  /** Folders below which users may add disks. */
  roots: readonly string[];
  /** Size in bytes of an added disk where the user gave none. */
  defaultBytes: Readonly<Record<DiskEntry['type'], number>>;
  known: KnownDisks;
  /** Left out: the disks have none. */
  stamps?: Stamps;
}>;

export class DiskSet {
  private readonly disks: Disk[] = [];
  private readonly addedAs = new Map<Disk, DiskId>();
  /** Disks that a user added and that can't be used as requested, by their ids. */
  private readonly refused = new Map<DiskId, DiskReport>();

  private constructor(private readonly options: DiskSetOptions) {}

  /** Adopts all disks. Refuses two with the same identity: they would be the same copies twice. */
  static async take(options: DiskSetOptions): Promise<DiskSet> {
    const set = new DiskSet(options);
    for (const entry of options.entries) {
      if (!options.known.isRemoved(entry.path)) await set.adopt(entry, set.nameOf(entry));
    }
    for (const added of options.known.added) await set.add(added);
    return set;
  }

  /** All of them. The list is the set's own and changes with it. */
  get list(): readonly Disk[] {
    return this.disks;
  }

  async reports(nowMs: number): Promise<DiskReport[]> {
    const reports = await Promise.all(this.disks.map((disk) => this.report(disk, nowMs)));
    return [...reports, ...this.refused.values()];
  }

  /**
   * Applies the control plane's desired disks.
   *
   * @param isEmpty whether no copy is on the disk; a disk with a copy is kept
   * @param nodeId this node, once it has joined
   * @returns whether anything has changed
   */
  async apply(
    { add, remove }: Wishes,
    isEmpty: (disk: Disk) => Promise<boolean>,
    nodeId?: NodeId,
  ): Promise<boolean> {
    let hasChanged = false;
    for (const { sizeBytes, isSetUp = false, ...wish } of add) {
      const isKnown = this.disks.some((disk) => disk.diskId === wish.diskId || disk.path === wish.path);
      // The place of a former disk is inspected again: the disk may be mounted by now.
      if (isKnown || (this.refused.has(wish.diskId) && !isSetUp)) continue;
      const added = { ...wish, sizeBytes: sizeBytes ?? this.options.defaultBytes[wish.type] };
      const before = this.refused.get(wish.diskId)?.reason;
      await this.add(added, isSetUp);
      hasChanged ||= before === undefined || this.refused.get(wish.diskId)?.reason !== before;
    }
    for (const diskId of remove) {
      hasChanged = this.refused.delete(diskId) || hasChanged;
      // A second disk of one identity has a row of its own. Its copies are not the control plane's, and stay where they are.
      const second = this.disks.find(
        (one) => nodeId !== undefined && duplicateRowId(one.diskId, nodeId) === diskId,
      );
      const disk = second ?? this.disks.find((one) => one.diskId === diskId);
      if (disk === undefined || (second === undefined && !(await isEmpty(disk)))) continue;
      await this.release(disk);
      hasChanged = true;
    }
    // A wish that was taken back before it could be met.
    const wanted = new Set(add.map(({ diskId }) => diskId));
    for (const diskId of [...this.refused.keys()]) if (!wanted.has(diskId)) this.refused.delete(diskId);
    return hasChanged;
  }

  /** Adds a disk that a user requested; an obstacle is reported with the disk, and the request is repeated after a restart. */
  private async add(added: AddedDisk, isSetUp = false): Promise<void> {
    const { diskId, name, type, path: at, sizeBytes } = added;
    try {
      await requireAllowed(at, this.options.roots, this.disks);
      if (isSetUp) await requireDisk(added);
      this.refused.delete(diskId);
      const disk = await this.adopt({ type, path: at, sizeBytes }, name, diskId);
      await this.options.known.noteAdded(added);
      this.addedAs.set(disk, diskId);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const reason = isFault(error, 'disk.not_ready') ? 'DiskMissing' : 'DiskRefused';
      const why = { ready: false, reason, message: message.slice(0, 1024) };
      const space = { fileSystem: '', maximumBytes: sizeBytes, availableBytes: 0 };
      this.refused.set(diskId, { diskId, name, path: at, type, ...space, ...why });
    }
  }

  private async adopt(entry: DiskEntry, name: string, wantedId?: DiskId): Promise<Disk> {
    const kind = entry.type === 'block' ? BlockDisk : FolderDisk;
    const taken = await kind.take(entry.path, name, entry.sizeBytes, this.options.known, wantedId);
    const disk: WatchedDisk = new WatchedDisk(taken, entry, {
      peers: () =>
        this.disks.flatMap((other) =>
          other instanceof WatchedDisk && other !== disk ? [other.answers] : [],
        ),
    });
    const twin = this.disks.find(({ diskId }) => diskId === disk.diskId);
    if (twin !== undefined) {
      throw new StorageFault('disk.wrong_identity', {
        publicMessage: `${entry.path} and ${twin.path} have the same identity: one was copied from the other`,
      });
    }
    this.disks.push(disk);
    return disk;
  }

  /** A configured path that now holds another disk continues with that one: it was mounted over the disk that is being removed. */
  private async release(disk: Disk): Promise<void> {
    const entry = this.options.entries.find(({ path: at }) => at === disk.path);
    const isHidden = entry !== undefined && (await disk.problem())?.reason === 'DiskSwapped';
    await this.options.known.noteRemoved(disk.path, entry !== undefined && !isHidden);
    this.disks.splice(this.disks.indexOf(disk), 1);
    this.addedAs.delete(disk);
    await disk.release();
    // The path may hold no Holdfast disk, or a second copy of a known one: then it stays off.
    if (isHidden)
      await this.adopt(entry, disk.name).catch(() => this.options.known.noteRemoved(disk.path, true));
  }

  private async report(disk: Disk, nowMs: number): Promise<DiskReport> {
    const report = await this.stamped(disk, await disk.report(nowMs));
    const addedAs = this.addedAs.get(disk);
    return addedAs === undefined || addedAs === disk.diskId ? report : { ...report, addedAs };
  }

  private async stamped(disk: Disk, report: DiskReport): Promise<DiskReport> {
    if (!report.ready || this.options.stamps === undefined) return report;
    try {
      return { ...report, stamp: await this.options.stamps.report(disk) };
    } catch (error) {
      return { ...report, ...unreadable(error) };
    }
  }

  private nameOf({ path: at }: DiskEntry): string {
    const base = path.basename(at) || 'disk';
    return this.disks.some(({ name }) => name === base) ? `${base}-${this.disks.length + 1}` : base;
  }
}

/**
 * Check before a disk that was set up before is taken again, on a node that has lost its record of it: were the disk not mounted, a new
 * one would be made beneath its mount point.
 *
 * @throws StorageFault `disk.not_ready`
 */
async function requireDisk({ path: at, type }: Pick<AddedDisk, 'path' | 'type'>): Promise<void> {
  const found = type === 'block' ? await blockDiskAt(at) : await readIdentity(at);
  if (found !== undefined) return;
  throw new StorageFault('disk.not_ready', {
    publicMessage: `${at} holds no disk: it is not mounted, or it was emptied`,
  });
}
