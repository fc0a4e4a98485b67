/**
 * On-disk state of a copy: its metadata, the files of its layers, and its write-intent map.
 *
 * Each change of the files is one atomic replacement of the metadata: files that it does not name are leftovers, and
 * are removed at the next open.
 */

import { type Closable, closeAll } from '../base/close-all.js';
import { systemCode } from '../base/system-error.js';
import type { CopyFiles, DiskStore } from '../disk/disk-store.js';
import type { Chain } from '../layers/chain.js';
import { Layer, layerFiles } from '../layers/layer.js';
import { LayerStore } from '../layers/layer-store.js';
import { type LayerMetadata, newHead } from '../layers/layer-tree.js';
import { chainUpTo } from '../protocol/layers.js';
import { corrupt } from '../protocol/replica-faults.js';
import { INTENT_FILE, IntentMap } from './intent-map.js';
import { loadStoredMetadata, type ReplicaMetadata, saveMetadata } from './metadata.js';
import { type OpenDisk, openDiskStore } from './open-disk-store.js';

export type ReplicaSpec = Pick<
  ReplicaMetadata,
  'replicaId' | 'volumeId' | 'diskId' | 'sizeBytes' | 'secret' | 'record' | 'volume'
>;

export class ReplicaState {
  private saving: Promise<void> = Promise.resolve();
  /** Set when the metadata, the write-intent map or a file failed to be stored: what the disk has of it is unknown. */
  private failure: { readonly error: unknown } | undefined;

  private constructor(
    private readonly disk: DiskStore,
    readonly files: CopyFiles,
    private current: ReplicaMetadata,
    private readonly store: LayerStore,
    readonly intent: IntentMap,
  ) {
    files.onLost = (failure) => this.fail(failure);
    intent.onLost = (failure) => this.fail(failure);
  }

  /** Creates a copy; an existing one is left as it is. */
  static async create(
    diskPath: string,
    spec: ReplicaSpec,
    openDisk: OpenDisk = openDiskStore,
  ): Promise<void> {
    const head = newHead(null, spec.sizeBytes);
    const disk = await openDisk(diskPath);
    try {
      await disk.create(spec.replicaId, async (files) => {
        const layer = await Layer.create(files, head.file, spec.sizeBytes);
        await layer.close();
        const intent = await IntentMap.create(files, spec.sizeBytes);
        await intent.close();
        await saveMetadata(files, { ...spec, epoch: 0, rebuildId: null, layers: [head] });
      });
    } finally {
      await disk.close();
    }
  }

  static async open(
    diskPath: string,
    replicaId: string,
    openDisk: OpenDisk = openDiskStore,
  ): Promise<ReplicaState> {
    const opened: Closable[] = [];
    const take = <T extends Closable>(one: T): T => {
      opened.unshift(one);
      return one;
    };
    try {
      const disk = take(await openDisk(diskPath));
      const files = take(await disk.open(replicaId));
      const { meta, isOld } = await loadStoredMetadata(files);
      // The process that made it may have died before its name was durable.
      await files.syncNames();
      await files.keepOnly(filesOf(meta));
      const intent = take(await IntentMap.open(files, meta.sizeBytes));
      const layers = take(await LayerStore.open(files, meta.layers, isOld));
      // Its maps have their marks by now, durably.
      if (isOld) await saveMetadata(files, meta);
      return new ReplicaState(disk, files, meta, layers, intent);
    } catch (error) {
      await closeAll(opened).catch(() => undefined);
      // EIO: the disk works, and fails to read what describes this copy.
      if (systemCode(error) === 'EIO') throw corrupt('its disk fails to read what describes it', error);
      throw error;
    }
  }

  get meta(): ReplicaMetadata {
    return this.current;
  }

  /** Called once, when something failed to be stored, at once. */
  onFailed: (failure: unknown) => void = () => undefined;

  /** True if only reopening the copy shows what its disk holds. */
  get hasFailed(): boolean {
    return this.failure !== undefined || this.files.hasFailed;
  }

  /** Bytes that the disk has allocated for the copy's data. */
  allocatedBytes(): Promise<number> {
    return this.disk.allocatedBytes(this.current.replicaId);
  }

  get diskKind(): DiskStore['kind'] {
    return this.disk.kind;
  }

  /** The chain from the root to the head: the device's content. */
  get chain(): Chain {
    return this.store.chain;
  }

  layerMetadata(layerId: string): LayerMetadata | undefined {
    return this.meta.layers.find(({ id }) => id === layerId);
  }

  layer(layerId: string): Layer | undefined {
    const found = this.layerMetadata(layerId);
    return found && this.store.layerIn(found.file);
  }

  /** The layer of a file; it must exist. */
  layerIn(file: string): Layer {
    return this.store.require(file);
  }

  /** The device as it read when the layer was frozen. */
  chainUpTo(layerId: string): Chain {
    return this.store.chainOf(chainUpTo(this.meta.layers, layerId));
  }

  /** Serialised, each on top of the last: two concurrent saves could undo each other's change. */
  save(change: Partial<ReplicaMetadata>, begins?: () => void): Promise<void> {
    return this.update(() => change, begins);
  }

  /**
   * Like `save`, with a change computed from the stored state when its turn comes. If the computation throws, nothing
   * is stored: a check in it can't be overtaken by another save (compare-and-set).
   */
  update(
    changeOf: (stored: ReplicaMetadata) => Partial<ReplicaMetadata>,
    begins?: () => void,
  ): Promise<void> {
    const saved = this.saving.then(async () => {
      if (this.failure !== undefined) throw this.failure.error;
      const next = { ...this.current, ...changeOf(this.current) };
      let isDoubtful = false;
      try {
        await saveMetadata(this.files, next, () => {
          isDoubtful = true;
          begins?.();
        });
      } catch (error) {
        // A refusal before that point has changed nothing, whatever the error; after it, the error says nothing.
        if (isDoubtful) this.fail(error);
        throw error;
      }
      this.current = next;
    });
    this.saving = saved.catch(() => undefined);
    return saved;
  }

  private fail(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = { error };
    this.onFailed(error);
  }

  /** Makes the files match the layers. No write may be in flight. */
  async reshape(change: Pick<ReplicaMetadata, 'layers'> & Partial<ReplicaMetadata>): Promise<void> {
    let isDoubtful = false;
    try {
      await this.store.change(change.layers, () =>
        this.save(change, () => {
          isDoubtful = true;
        }),
      );
    } catch (error) {
      // Removes new files, whose space may be why it failed; but not once the metadata may name them.
      if (!isDoubtful) await this.files.keepOnly(filesOf(this.meta)).catch(() => undefined);
      throw error;
    }
    // Ignored: the change is made, and the next open removes the leftovers.
    await this.files.keepOnly(filesOf(this.meta)).catch(() => undefined);
  }

  async close(): Promise<void> {
    await closeAll([this.intent, this.store, this.files, this.disk]);
  }
}

/** All files that the metadata names; others are leftovers. */
function filesOf({ layers }: ReplicaMetadata): ReadonlySet<string> {
  return new Set([INTENT_FILE, ...layers.flatMap(({ file }) => layerFiles(file))]);
}
