/** Store of copies on a block disk, with the same interface as a folder of a file system. */
import { CLUSTER_BYTES } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { corrupt, replicaNotFound } from '../../protocol/replica-faults.js';
import type { CopyFiles, DiskStore } from '../disk-store.js';
import { BlockCopy } from './block-copy.js';
import type { BlockDisk } from './block-disk.js';
import { ClusterOwners } from './cluster-owners.js';
import type { CopyRoot } from './copy-root.js';
import { clearSlot, recoverOwners } from './recover.js';
import { closeShared, openShared } from './shared-disks.js';
import { readCatalog, readSlot } from './stored-copy.js';

/** Retries of a catalog read that another process's update has disturbed. */
const READS_MAX = 8;

/** A copy with its slot. The newest root of a damaged one may be lost. */
type Found = { slot: number; root: CopyRoot; spare: readonly number[]; isDamaged: boolean };

export class BlockStore implements DiskStore {
  readonly kind = 'block';
  /** Cache: slots in which copies were last found; they are searched first. */
  private readonly slots = new Map<string, number>();

  private constructor(
    private readonly disk: BlockDisk,
    private readonly owners: ClusterOwners,
  ) {}

  /** @throws StorageFault `disk.wrong_identity` when it is not a block disk */
  static async open(path: string): Promise<BlockStore> {
    return BlockStore.on(await openShared(path, recoverOwners));
  }

  /** A store on a disk that is already open. */
  static on(disk: BlockDisk): BlockStore {
    return new BlockStore(disk, new ClusterOwners(disk));
  }

  get diskId(): string {
    return this.disk.layout.diskId;
  }

  /** True after a failed sync of the disk: it has to be reopened. */
  get hasLost(): boolean {
    return this.disk.hasLost;
  }

  get supportsDirectIo(): boolean {
    return this.disk.supportsDirectIo;
  }

  /** Bytes that data could take on an empty disk. */
  get capacityBytes(): number {
    return (this.disk.layout.clusterCount - this.disk.layout.reserve) * CLUSTER_BYTES;
  }

  freeBytes(): Promise<number> {
    return this.owners.freeBytes();
  }

  async create(replicaId: string, fill: (files: CopyFiles) => Promise<void>): Promise<void> {
    const copy = await this.make(replicaId);
    try {
      await fill(copy);
      await copy.finish();
    } finally {
      // If it was not finished, the next `list` removes it.
      await copy.close();
    }
  }

  async open(replicaId: string): Promise<CopyFiles> {
    const { slot } = await this.require(replicaId);
    await this.disk.takeSlot(slot);
    try {
      // Read again under the lock: the last holder may have changed it.
      const found = requireWhole(await this.require(replicaId));
      return await BlockCopy.open(this.disk, this.owners, slot, found);
    } catch (error) {
      this.disk.leaveSlot(slot);
      throw error;
    }
  }

  async readText(replicaId: string, name: string): Promise<string | undefined> {
    for (let reads = 1; ; reads += 1) {
      const { root } = requireWhole(await this.require(replicaId));
      try {
        return (await readCatalog(this.disk, root)).texts.get(name);
      } catch (error) {
        const now = await this.find(replicaId);
        if (reads === READS_MAX || now?.root.generation === root.generation) throw error;
      }
    }
  }

  async remove(replicaId: string): Promise<void> {
    const found = await this.find(replicaId);
    if (found === undefined) return;
    await this.disk.takeSlot(found.slot);
    try {
      const { root } = await this.require(replicaId);
      await this.clear(found.slot, replicaId, root.generation);
    } finally {
      this.disk.leaveSlot(found.slot);
    }
  }

  async list(): Promise<string[]> {
    const ids: string[] = [];
    for await (const { root, slot, isDamaged } of this.all()) {
      // Damaged copies are listed too: opening one reports the damage.
      if (root.state === 'copy' || isDamaged) ids.push(root.replicaId);
      if (root.state !== 'making' || isDamaged || !this.disk.trySlot(slot)) continue;
      await this.clear(slot, root.replicaId, root.generation);
      this.disk.leaveSlot(slot);
    }
    return ids.sort();
  }

  async allocatedBytes(replicaId: string): Promise<number> {
    const found = await this.find(replicaId);
    return found === undefined ? 0 : (await this.owners.of(found.slot)).length * CLUSTER_BYTES;
  }

  async usedBytes(): Promise<number> {
    return this.capacityBytes - (await this.owners.freeBytes());
  }

  close(): Promise<void> {
    return closeShared(this.disk);
  }

  /** Creates a copy in a free slot. */
  private async make(replicaId: string): Promise<BlockCopy> {
    const there = await this.find(replicaId);
    if (there !== undefined) throw Object.assign(new Error(`${replicaId} exists`), { code: 'EEXIST' });
    const { slot, generation } = await this.disk.alone(() => this.takeFreeSlot());
    try {
      // From here on both roots are written, so a blank one means damage.
      await clearSlot(this.disk, slot, replicaId, generation);
      // Frees what an interrupted removal has left.
      await this.owners.give(await this.owners.of(slot));
      return await BlockCopy.make(this.disk, this.owners, slot, replicaId, generation + 1);
    } catch (error) {
      this.disk.leaveSlot(slot);
      throw error;
    }
  }

  private async takeFreeSlot(): Promise<{ slot: number; generation: number }> {
    for (let slot = 0; slot < this.disk.layout.slots; slot += 1) {
      const found = await readSlot(this.disk, slot);
      if (found.kind !== 'free' || !this.disk.trySlot(slot)) continue;
      return { slot, generation: found.generation };
    }
    throw new StorageFault('disk.no_space', {
      publicMessage: `the block disk holds ${this.disk.layout.slots} copies, and no more fit`,
    });
  }

  /** Removes the copy in a slot that the caller has locked: durably first, then its space is freed. */
  private async clear(slot: number, replicaId: string, generation: number): Promise<void> {
    await clearSlot(this.disk, slot, replicaId, generation);
    await this.disk.sync();
    this.slots.delete(replicaId);
    await this.owners.give(await this.owners.of(slot));
  }

  private async require(replicaId: string): Promise<Found> {
    const found = await this.find(replicaId);
    if (found !== undefined) return found;
    const lost = await this.damagedSlots();
    if (lost === 0) throw replicaNotFound();
    throw corrupt(`it is not found, and ${lost} slots of its disk can't be read`);
  }

  private async find(replicaId: string): Promise<Found | undefined> {
    const known = this.slots.get(replicaId);
    const there = known === undefined ? undefined : await this.look(known);
    if (there !== undefined && isCopy(there, replicaId)) return there;
    for await (const found of this.all()) {
      if (isCopy(found, found.root.replicaId)) this.slots.set(found.root.replicaId, found.slot);
      if (isCopy(found, replicaId)) return found;
    }
    return undefined;
  }

  private async look(slot: number): Promise<Found | undefined> {
    const found = await readSlot(this.disk, slot);
    if (found.kind === 'root') return { ...found, slot, isDamaged: false };
    if (found.kind === 'free' || found.root === undefined) return undefined;
    return { root: found.root, slot, spare: [], isDamaged: true };
  }

  /** Number of slots whose roots are both unreadable, so that their owner is unknown. */
  private async damagedSlots(): Promise<number> {
    let count = 0;
    for (let slot = 0; slot < this.disk.layout.slots; slot += 1) {
      const found = await readSlot(this.disk, slot);
      if (found.kind === 'damaged' && found.root === undefined) count += 1;
    }
    return count;
  }

  private async *all(): AsyncGenerator<Found> {
    for (let slot = 0; slot < this.disk.layout.slots; slot += 1) {
      const found = await this.look(slot);
      if (found !== undefined) yield found;
    }
  }
}

function isCopy({ root, isDamaged }: Found, replicaId: string): boolean {
  return (root.state === 'copy' || isDamaged) && root.replicaId === replicaId;
}

function requireWhole(found: Found): Found {
  if (found.isDamaged) throw corrupt('what says where it is on its disk is not what was written there');
  return found;
}
