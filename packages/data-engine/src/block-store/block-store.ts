/** Copies on a block disk: the same as folders are on a file system, behind the same interface. */
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { CopyFiles, DiskStore } from '../replica/disk-store.js';
import { replicaNotFound } from '../replica/replica-faults.js';
import { BlockCopy } from './block-copy.js';
import type { BlockDisk } from './block-disk.js';
import { ClusterOwners } from './cluster-owners.js';
import { CLUSTER_BYTES } from './layout.js';
import { clearPlace, recoverOwners } from './recover.js';
import { closeShared, openShared } from './shared-disks.js';
import { type FoundRoot, readCatalog, readRoot } from './stored-copy.js';

type Found = FoundRoot & { place: number };

export class BlockStore implements DiskStore {
  readonly kind = 'block';
  /** Where copies were last found, which is looked at first. */
  private readonly places = new Map<string, number>();

  private constructor(
    private readonly disk: BlockDisk,
    private readonly owners: ClusterOwners,
  ) {}

  /** @throws StorageFault `disk.wrong_identity` for what is no block disk of ours */
  static async open(path: string): Promise<BlockStore> {
    const disk = await openShared(path, recoverOwners);
    return new BlockStore(disk, new ClusterOwners(disk));
  }

  get diskId(): string {
    return this.disk.layout.diskId;
  }

  get takesDirectIo(): boolean {
    return this.disk.takesDirectIo;
  }

  /** What data could take on an empty disk. */
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
      // One that was not finished is cleared away by the next `list`.
      await copy.close();
    }
  }

  async open(replicaId: string): Promise<CopyFiles> {
    const { place } = await this.require(replicaId);
    await this.disk.takePlace(place);
    try {
      // Read again: whoever had it until now may have changed it.
      return await BlockCopy.open(this.disk, this.owners, place, await this.require(replicaId));
    } catch (error) {
      this.disk.leavePlace(place);
      throw error;
    }
  }

  async readText(replicaId: string, name: string): Promise<string | undefined> {
    const found = await this.find(replicaId);
    return found && (await readCatalog(this.disk, found.root)).texts.get(name);
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
    for await (const { root, place } of this.all()) {
      if (root.state === 'copy') ids.push(root.replicaId);
      if (root.state !== 'making' || !this.disk.tryPlace(place)) continue;
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

  /** Takes a free place for a new copy. */
  private async make(replicaId: string): Promise<BlockCopy> {
    const there = await this.find(replicaId);
    if (there !== undefined) throw Object.assign(new Error(`${replicaId} exists`), { code: 'EEXIST' });
    const { place, generation } = await this.disk.alone(() => this.takeFreePlace());
    try {
      // What an interrupted removal has left.
      await this.owners.give(await this.owners.of(place));
      return await BlockCopy.make(this.disk, this.owners, place, replicaId, generation);
    } catch (error) {
      this.disk.leavePlace(place);
      throw error;
    }
  }

  private async takeFreePlace(): Promise<{ place: number; generation: number }> {
    for (let place = 0; place < this.disk.layout.places; place += 1) {
      const found = await readRoot(this.disk, place);
      const isFree = found === undefined || found.root.state === 'none';
      if (isFree && this.disk.tryPlace(place)) return { place, generation: found?.root.generation ?? 0 };
    }
    throw new StorageFault('disk.no_space', {
      publicMessage: `the block disk holds ${this.disk.layout.places} copies, and no more fit`,
    });
  }

  /** Whoever calls it has the place. Durable first, then the space is free. */
  private async clear(place: number, replicaId: string, generation: number): Promise<void> {
    await clearPlace(this.disk, place, replicaId, generation);
    await this.disk.sync();
    this.places.delete(replicaId);
    await this.owners.give(await this.owners.of(place));
  }

  private async require(replicaId: string): Promise<Found> {
    const found = await this.find(replicaId);
    if (found === undefined) throw replicaNotFound();
    return found;
  }

  private async find(replicaId: string): Promise<Found | undefined> {
    const known = this.places.get(replicaId);
    const there = known === undefined ? undefined : await readRoot(this.disk, known);
    if (known !== undefined && isCopy(there, replicaId)) return { ...there, place: known };
    for await (const found of this.all()) {
      if (found.root.state === 'copy') this.places.set(found.root.replicaId, found.place);
      if (isCopy(found, replicaId)) return found;
    }
    return undefined;
  }

  private async *all(): AsyncGenerator<Found> {
    for (let place = 0; place < this.disk.layout.places; place += 1) {
      const found = await readRoot(this.disk, place);
      if (found !== undefined) yield { ...found, place };
    }
  }
}

function isCopy(found: FoundRoot | undefined, replicaId: string): found is FoundRoot {
  return found?.root.state === 'copy' && found.root.replicaId === replicaId;
}
