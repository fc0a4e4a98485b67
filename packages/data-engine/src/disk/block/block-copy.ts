/**
 * An open copy on a block disk: its files and texts, and the write order that makes their changes durable.
 *
 * A sync has three steps. It writes the catalog if it has changed, and syncs the disk; then it writes the changed map pages and the
 * root that references the catalog, and syncs again; only then are released clusters free. So after a power cut every referenced
 * cluster still has its content; anything else is damage.
 */

import crypto from 'node:crypto';
import { CLUSTER_BYTES } from '@holdfast/core/model/bytes.js';
import { SharedFlush } from '../../base/shared-flush.js';
import { isRefusedWrite } from '../../base/system-error.js';
import { corrupt } from '../../protocol/replica-faults.js';
import type { CopyFile, CopyFiles, FileUse } from '../disk-store.js';
import { BlockCopyFile, type FileOwner } from './block-copy-file.js';
import type { BlockDisk } from './block-disk.js';
import { encodeCatalog, type StoredFile } from './catalog.js';
import { ClusterMap, type StoredPage } from './cluster-map.js';
import type { ClusterOwners } from './cluster-owners.js';
import { CATALOG_CLUSTERS_MAX, type CopyRoot, type RootState } from './copy-root.js';
import { CopySpace } from './copy-space.js';
import {
  clustersOf,
  type FoundRoot,
  readCatalog,
  readMaps,
  writeCatalog,
  writePages,
  writeRoot,
} from './stored-copy.js';

type Changed = { file: BlockCopyFile; pages: StoredPage[]; freed: number[] };

export class BlockCopy implements CopyFiles, FileOwner {
  readonly kind = 'block';
  readonly space: CopySpace;
  private readonly files = new Map<string, BlockCopyFile>();
  private readonly texts = new Map<string, string>();
  /** Not final: a full disk refuses a longer catalog before anything of the copy is written, so nothing is lost. */
  private readonly syncing = new SharedFlush(
    () => this.store(),
    (error) => !isRefusedWrite(error),
    (failure) => this.lose(failure),
  );
  onLost: (failure: Error) => void = () => undefined;
  /** Also called if another copy on the disk, or another user of this copy, requested the sync that failed. */
  private readonly lose = (failure: unknown) =>
    this.onLost(failure instanceof Error ? failure : new Error(String(failure)));
  /** Number of completed changes of the files' bytes, and how many of them a sync has covered. */
  private writes = 0;
  private writesSynced = 0;
  private isChanged = false;
  private isFilled = false;
  /** Clusters of removed files. */
  private removed: number[] = [];
  private releasing: Promise<void> = Promise.resolve();

  private constructor(
    readonly disk: BlockDisk,
    private readonly slot: number,
    private readonly replicaId: string,
    private state: RootState,
    private generation: number,
    /** Clusters of the current catalog, and of the previous one, which the next catalog reuses. */
    private clusters: { current: readonly number[]; spare: readonly number[] },
    owners: ClusterOwners,
  ) {
    this.space = new CopySpace(owners, slot);
    disk.whenLost.add(this.lose);
  }

  /** Creates a copy in a slot that the caller has reserved. It does not exist until `finish`. */
  static async make(
    disk: BlockDisk,
    owners: ClusterOwners,
    slot: number,
    replicaId: string,
    generation: number,
  ): Promise<BlockCopy> {
    const clusters = { current: [], spare: [] };
    const copy = new BlockCopy(disk, slot, replicaId, 'making', generation, clusters, owners);
    copy.isChanged = true;
    await copy.sync();
    return copy;
  }

  /** @throws StorageFault `replica.corrupt` when another copy owns clusters that this one names */
  static async open(
    disk: BlockDisk,
    owners: ClusterOwners,
    slot: number,
    found: Pick<FoundRoot, 'root' | 'spare'>,
  ): Promise<BlockCopy> {
    const { state, replicaId, generation, clusters } = found.root;
    const catalog = await readCatalog(disk, found.root);
    const maps = await readMaps(disk, catalog);
    // Makes what was read durable before building on it: after a crash of the last process it may be in the page
    // cache only.
    await disk.sync();
    await takeStock(owners, slot, clustersOf(found, maps.values()));
    const both = { current: clusters, spare: found.spare };
    const copy = new BlockCopy(disk, slot, replicaId, state, generation, both, owners);
    for (const [name, text] of catalog.texts) copy.texts.set(name, text);
    for (const stored of catalog.files) {
      const map = maps.get(stored.name) ?? new ClusterMap(stored.id);
      copy.files.set(stored.name, new BlockCopyFile(copy, { ...stored }, map, false));
    }
    return copy;
  }

  /** Commits the creation durably. */
  async finish(): Promise<void> {
    this.state = 'copy';
    this.isChanged = true;
    await this.sync();
  }

  async createFile(name: string, sizeBytes: number, use: FileUse): Promise<CopyFile> {
    if (this.files.has(name)) throw Object.assign(new Error(`${name} exists`), { code: 'EEXIST' });
    const id = crypto.randomBytes(16).toString('hex');
    const stored: StoredFile = { name, id, sizeBytes, changes: 0, directory: [] };
    const file = new BlockCopyFile(this, stored, new ClusterMap(id), true);
    this.files.set(name, file);
    this.isChanged = true;
    return file.open(use);
  }

  async openFile(name: string, use: FileUse): Promise<CopyFile> {
    const file = this.files.get(name);
    if (file === undefined) throw Object.assign(new Error(`there is no ${name}`), { code: 'ENOENT' });
    return file.open(use);
  }

  syncNames(): Promise<void> {
    return this.sync();
  }

  async keepOnly(names: ReadonlySet<string>): Promise<void> {
    for (const [name, file] of this.files) {
      if (names.has(name)) continue;
      this.files.delete(name);
      this.isChanged = true;
      await file.quiet();
      this.removed.push(...file.takeFreed(), ...file.map.directory.values());
      for (const { cluster } of file.map.mapped()) this.removed.push(cluster);
    }
    if (this.removed.length > 0 || this.isChanged) await this.sync();
  }

  async readText(name: string): Promise<string | undefined> {
    return this.texts.get(name);
  }

  /** A disk that refuses a write keeps the root, and with it the text of before; of any other failure nothing is known. */
  async writeText(name: string, text: string, begins?: () => void): Promise<void> {
    const before = this.texts.get(name);
    this.texts.set(name, text);
    this.isChanged = true;
    try {
      await this.sync();
    } catch (error) {
      if (before === undefined) this.texts.delete(name);
      else this.texts.set(name, before);
      if (!isRefusedWrite(error)) begins?.();
      throw error;
    }
  }

  noteWritten(): void {
    this.writes += 1;
  }

  noteChanged(): void {
    this.isChanged = true;
  }

  noteFilled(): void {
    this.isFilled = true;
  }

  sync(): Promise<void> {
    return this.syncing.run();
  }

  get hasFailed(): boolean {
    return this.syncing.hasFailed || this.disk.hasLost;
  }

  async close(): Promise<void> {
    this.disk.whenLost.delete(this.lose);
    await this.releasing;
    // Space that can't be given back now is found at the next recovery; the slot must be unlocked for that.
    await this.space.close().finally(() => this.disk.leaveSlot(this.slot));
  }

  private async store(): Promise<void> {
    const { writes, isChanged, isFilled, removed } = this;
    const changed = this.takeChanged();
    if (writes === this.writesSynced && !isChanged && changed.length === 0) return;
    // Encoded before the first await: it may name only clusters that are filled by now.
    const catalog = isChanged ? this.encodeCatalog() : undefined;
    this.isChanged = false;
    this.isFilled = false;
    this.removed = [];
    try {
      const stored = catalog && (await this.storeCatalog(catalog));
      if (isFilled || stored !== undefined) await this.disk.sync();
      for (const { file, pages } of changed) await writePages(this.disk, file.map, pages);
      if (stored !== undefined) await writeRoot(this.disk, this.slot, this.nextRoot(stored));
      await this.disk.sync();
      if (stored !== undefined) this.goOver();
      this.writesSynced = writes;
    } catch (error) {
      this.isChanged ||= isChanged;
      this.isFilled ||= isFilled;
      this.removed.push(...removed);
      for (const { file, pages, freed } of changed) {
        file.map.failed(pages);
        file.keepFreed(freed);
      }
      throw error;
    }
    for (const { file, pages } of changed) file.map.wrote(pages);
    this.release(changed, removed);
  }

  private takeChanged(): Changed[] {
    return [...this.files.values()]
      .filter(({ map }) => map.isDirty)
      .map((file) => ({ file, freed: file.takeFreed(), pages: file.map.takeDirty() }));
  }

  private encodeCatalog(): Buffer {
    const files = [...this.files.values()].map((file) => file.describe());
    return encodeCatalog({ texts: this.texts, files });
  }

  /** Writes to clusters that the current root does not name (copy-on-write). */
  private async storeCatalog(catalog: Buffer): ReturnType<typeof writeCatalog> {
    const needed = Math.ceil(catalog.length / CLUSTER_BYTES);
    if (needed > CATALOG_CLUSTERS_MAX) throw noRoom();
    const missing = needed - this.clusters.spare.length;
    if (missing > 0) {
      const more = await this.space.descriptions(missing);
      this.clusters = { ...this.clusters, spare: [...this.clusters.spare, ...more] };
    }
    return writeCatalog(this.disk, this.clusters.spare, catalog);
  }

  private nextRoot(stored: Awaited<ReturnType<typeof writeCatalog>>): CopyRoot {
    const { state, replicaId, generation } = this;
    return { ...stored, state, replicaId, generation: generation + 1 };
  }

  /** Switches to the new catalog after its root is durable. */
  private goOver(): void {
    const { current, spare } = this.clusters;
    this.generation += 1;
    this.clusters = { current: spare, spare: current };
  }

  /** In the background: reads that still use the given-up clusters have to end first. */
  private release(changed: readonly Changed[], removed: readonly number[]): void {
    const freed = changed.filter((one) => one.freed.length > 0);
    if (freed.length === 0 && removed.length === 0) return;
    const quiet = Promise.all(freed.map(({ file }) => file.quiet()));
    const released = quiet.then(() => this.space.give([...removed, ...freed.flatMap((one) => one.freed)]));
    // Errors are ignored: the next open of the copy finds clusters that were not given back.
    this.releasing = Promise.all([this.releasing, released.catch(() => undefined)]).then(() => undefined);
  }
}

/** Frees clusters that the copy owns and does not use: a process that died had allocated them. */
async function takeStock(owners: ClusterOwners, slot: number, used: Iterable<number>): Promise<void> {
  const unused = new Set(await owners.of(slot));
  for (const cluster of new Set(used)) {
    if (!unused.delete(cluster))
      throw corrupt(`it says that it has cluster ${cluster}, which is not its own`);
  }
  await owners.give([...unused]);
}

function noRoom(): Error {
  return Object.assign(new Error('EFBIG: the catalog of the copy is too large'), { code: 'EFBIG' });
}
