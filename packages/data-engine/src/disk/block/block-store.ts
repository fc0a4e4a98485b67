/** Store of copies on a block disk, with the same interface as a folder of a file system. */
import { CLUSTER_BYTES } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { corrupt, replicaNotFound } from '../../protocol/replica-faults.js';
import type { CopyFiles, DiskStore } from '../disk-store.js';
import { BlockCopy } from './block-copy.js';
import type { BlockDisk } from './block-disk.js';
import { ClusterOwners } from './cluster-owners.js';
import type { CopyRoot } from './copy-root.js';
import { clearPlace, recoverOwners } from './recover.js';
import { closeShared, openShared } from './shared-disks.js';
import { readCatalog, readPlace } from './stored-copy.js';

/** Retries of a catalog read that another process's update has disturbed. */
const READS_MAX = 8;

/** A copy with its slot (`place`). The newest root of a damaged one may be lost. */
type Found = { place: number; root: CopyRoot; spare: readonly number[]; isDamaged: boolean };

export class BlockStore implements DiskStore {
  readonly kind = 'block';
  /** Cache: the slots where copies were last found, which are looked at first. */
  private readonly places = new Map<string, number>();

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

  get takesDirectIo(): boolean {
    return this.disk.takesDirectIo;
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
    const { place } = await this.require(replicaId);
    await this.disk.takePlace(place);
    try {
      // Read again under the lock: the last holder may have changed it.
      const found = requireWhole(await this.require(replicaId));
      return await BlockCopy.open(this.disk, this.owners, place, found);
    } catch (error) {
      this.disk.leavePlace(place);
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
    await this.disk.takePlace(found.place);
    try {
      const { root } = await this.require(replicaId);
      await this.clear(found.place, replicaId, root.generation);
    } finally {
      this.disk.leavePlace(found.place);
    }
  }

  async list(): Promise<string[]> {
    const ids: string[] = [];
    for await (const { root, place, isDamaged } of this.all()) {
      // Damaged copies are listed too: opening one reports the damage.
      if (root.state === 'copy' || isDamaged) ids.push(root.replicaId);
      if (root.state !== 'making' || isDamaged || !this.disk.tryPlace(place)) continue;
      await this.clear(place, root.replicaId, root.generation);
      this.disk.leavePlace(place);
    }
    return ids.sort();
  }

  async allocatedBytes(replicaId: string): Promise<number> {
    const found = await this.find(replicaId);
    return found === undefined ? 0 : (await this.owners.of(found.place)).length * CLUSTER_BYTES;
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
    const { place, generation } = await this.disk.alone(() => this.takeFreePlace());
    try {
      // From here on both roots are written, so a blank one means damage.
      await clearPlace(this.disk, place, replicaId, generation);
      // Frees what an interrupted removal has left.
      await this.owners.give(await this.owners.of(place));
      return await BlockCopy.make(this.disk, this.owners, place, replicaId, generation + 1);
    } catch (error) {
      this.disk.leavePlace(place);
      throw error;
    }
  }

  private async takeFreePlace(): Promise<{ place: number; generation: number }> {
    for (let place = 0; place < this.disk.layout.places; place += 1) {
      const found = await readPlace(this.disk, place);
      if (found.kind !== 'free' || !this.disk.tryPlace(place)) continue;
      return { place, generation: found.generation };
    }
    throw new StorageFault('disk.no_space', {
      publicMessage: `the block disk holds ${this.disk.layout.places} copies, and no more fit`,
    });
  }

  /** Removes the copy in a slot that the caller has locked: durably first, then its space is freed. */
  private async clear(place: number, replicaId: string, generation: number): Promise<void> {
    await clearPlace(this.disk, place, replicaId, generation);
    await this.disk.sync();
    this.places.delete(replicaId);
    await this.owners.give(await this.owners.of(place));
  }

  private async require(replicaId: string): Promise<Found> {
    const found = await this.find(replicaId);
    if (found !== undefined) return found;
    const lost = await this.damagedPlaces();
    if (lost === 0) throw replicaNotFound();
    throw corrupt(`it is not found, and ${lost} places of its disk can't be read`);
  }

  private async find(replicaId: string): Promise<Found | undefined> {
    const known = this.places.get(replicaId);
    const there = known === undefined ? undefined : await this.look(known);
    if (there !== undefined && isCopy(there, replicaId)) return there;
    for await (const found of this.all()) {
      if (isCopy(found, found.root.replicaId)) this.places.set(found.root.replicaId, found.place);
      if (isCopy(found, replicaId)) return found;
    }
    return undefined;
  }

  private async look(place: number): Promise<Found | undefined> {
    const found = await readPlace(this.disk, place);
    if (found.kind === 'root') return { ...found, place, isDamaged: false };
    if (found.kind === 'free' || found.root === undefined) return undefined;
    return { root: found.root, place, spare: [], isDamaged: true };
  }

  /** Number of slots whose roots are both unreadable, so that their owner is unknown. */
  private async damagedPlaces(): Promise<number> {
    let count = 0;
    for (let place = 0; place < this.disk.layout.places; place += 1) {
      const found = await readPlace(this.disk, place);
      if (found.kind === 'damaged' && found.root === undefined) count += 1;
    }
    return count;
  }

  private async *all(): AsyncGenerator<Found> {
    for (let place = 0; place < this.disk.layout.places; place += 1) {
      const found = await this.look(place);
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
