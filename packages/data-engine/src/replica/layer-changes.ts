/**
 * Layer changes of a copy: each checks the command's term and its expected head, then replaces the tree of layers at
 * once. A purge moves blocks beside users' writes; everything else waits until no write is in flight.
 */
import { isFault } from '@holdfast/core/model/faults.js';
import {
  type Adoption,
  withAdopted,
  withHeadId,
  withoutFreeze,
  withRemoved,
  withRevert,
  withSnapshot,
} from '../layers/layer-tree.js';
import { familyOf, purgeStep } from '../layers/purge-layer.js';
import type { RangeSums } from '../layers/range-sums.js';
import { isPurgeable, type LayerChecksum, type SnapshotAsk } from '../protocol/layers.js';
import { snapshotInUse, stateChanged } from '../protocol/replica-faults.js';
import type { HeadChange, Term } from '../protocol/term.js';
import type { CopyFence } from './copy-fence.js';
import type { LayerRanges } from './layer-ranges.js';
import type { ReplicaMetadata } from './metadata.js';
import type { ReplicaState } from './replica-state.js';

/** The copy whose layers change. */
export type ChangingCopy = {
  readonly state: ReplicaState;
  readonly fencing: CopyFence;
  readonly ranges: LayerRanges;
  flush(): Promise<void>;
  /** Changes the copy as a whole: exclusively, and only if the term is still valid when it runs. */
  alone(term: Term | undefined, work: () => Promise<void>): Promise<void>;
  /** A bounded piece of work on frozen layers: concurrent with users' writes, exclusive with layer changes. */
  besideWrites(term: Term | undefined, work: () => Promise<void>): Promise<void>;
};

export class LayerChanges {
  private readonly state: ReplicaState;
  private readonly fencing: CopyFence;

  constructor(private readonly copy: ChangingCopy) {
    this.state = copy.state;
    this.fencing = copy.fencing;
  }

  private get meta(): ReplicaMetadata {
    return this.state.meta;
  }

  /**
   * Freezes the head under the given name and puts an empty one above it, larger if `sizeBytes` says so. Writes wait
   * meanwhile. A smaller size changes nothing: this copy may have grown when others had not yet, and no layer may be larger
   * than the volume.
   */
  async snapshot(layer: SnapshotAsk, sizeBytes?: number, ask?: Term & HeadChange): Promise<void> {
    await this.copy.alone(ask, async () => {
      if (this.meta.layers.some(({ id }) => id === layer.id)) return;
      if (this.fencing.isDone(ask)) return;
      const size = Math.max(sizeBytes ?? 0, this.meta.sizeBytes);
      await this.copy.flush();
      await this.state.intent.grow(size);
      const layers = withSnapshot(this.meta.layers, layer, size, ask?.headId);
      await this.state.reshape({ layers, sizeBytes: size });
    });
  }

  /** Rolls back a snapshot since which nothing was written here, because not all copies have taken it. */
  async unfreeze(layerId: string, ask?: Term & HeadChange): Promise<void> {
    await this.copy.alone(ask, async () => {
      if (this.fencing.isDone(ask)) return;
      if (!this.meta.layers.some(({ id }) => id === layerId)) {
        // Frozen without a name: the head's content belongs to no snapshot of that name. With another id, a late command is refused.
        if (ask?.headId !== undefined)
          await this.state.save({ layers: withHeadId(this.meta.layers, ask.headId) });
        return;
      }
      if (this.state.chain.head.map.heldBlocks > 0) throw snapshotInUse();
      const layers = withoutFreeze(this.meta.layers, layerId, ask?.headId);
      const size = Math.max(...layers.map(({ sizeBytes }) => sizeBytes));
      await this.state.reshape({ layers, sizeBytes: size });
      await this.state.intent.grow(size);
    });
  }

  /**
   * Puts an empty head on a frozen layer: the device reads as it did when that was frozen.
   *
   * First marks the whole write-intent map: if everything stops before the other copies have reverted too, a resync
   * makes them equal again.
   */
  async revert(
    layerId: string,
    headId: string,
    ask?: Term & Pick<HeadChange, 'expectedHeadId'> & { revertId?: string | undefined },
  ): Promise<void> {
    await this.copy.alone(ask, async () => {
      if (this.fencing.isDone({ headId, expectedHeadId: ask?.expectedHeadId })) return;
      await this.state.intent.mark(0, this.meta.sizeBytes);
      this.state.intent.changedAll();
      const isEmpty = this.state.chain.head.map.heldBlocks === 0;
      // Its files may become those of the new head: trimmed data must not return after a crash.
      if (isEmpty) await this.copy.flush();
      const layers = withRevert(this.meta.layers, layerId, headId, isEmpty);
      await this.state.reshape({ layers, lastRevertId: ask?.revertId ?? null });
    });
  }

  async markRemoved(layerId: string, term?: Term): Promise<void> {
    await this.copy.alone(term, async () => {
      if (!this.meta.layers.some(({ id }) => id === layerId)) return;
      await this.state.save({ layers: withRemoved(this.meta.layers, layerId) });
    });
  }

  /**
   * Makes the copy a rebuild target: takes the given frozen layers under a new head, each empty or on top of what
   * this copy already holds of it.
   *
   * The metadata says that the copy is no member before the first old file is removed: after a crash in between it is
   * rebuilt again.
   */
  async prepare(
    rebuildId: string,
    adopted: readonly Adoption[],
    headParentId: string | null,
    sizeBytes: number,
    ask?: Term & HeadChange & { lastRevertId?: string | null | undefined },
  ): Promise<void> {
    await this.copy.alone(ask, async () => {
      if (this.isPrepared(rebuildId, headParentId, ask)) return;
      await this.copy.flush();
      await this.state.intent.grow(sizeBytes);
      const layers = withAdopted(this.meta.layers, adopted, headParentId, sizeBytes, ask?.headId);
      const { lastRevertId = null } = ask ?? {};
      await this.state.reshape({ layers, sizeBytes, rebuildId, record: null, lastRevertId });
    });
  }

  /**
   * Idempotency: true if that very `prepare` has already run. The copy may be filled already, so it must not run
   * again.
   *
   * @throws StorageFault `replica.state_changed`, `engine.stale_epoch`
   */
  isPrepared(rebuildId: string, headParentId: string | null, ask?: Term & HeadChange): boolean {
    this.fencing.require(ask);
    // Each attempt of a rebuild has a snapshot of its own as the head's parent.
    const isSame = this.meta.rebuildId === rebuildId && this.meta.layers.at(-1)?.parentId === headParentId;
    if (ask?.headId === undefined && isSame) return true;
    if (!this.fencing.isDone(ask)) return false;
    // Promoted meanwhile: the copy is current, and the command is late.
    if (this.meta.rebuildId !== rebuildId) throw stateChanged();
    return true;
  }

  /**
   * One step of a purge; see `purge-layer.ts`. Returns where to continue, `null` when nothing is left to do for now.
   */
  async purge(layerId: string, firstWindow: number, term?: Term): Promise<number | null> {
    // Until a rebuild ends, only the rebuild may change its target's layers.
    if (this.meta.rebuildId !== null) return null;
    await this.giveUp(layerId, term);
    const { layers } = this.meta;
    const family = familyOf(layers, layerId);
    const requireSame = () => {
      if (familyOf(this.meta.layers, layerId) !== family) throw stateChanged();
    };
    const besideWrites = (work: () => Promise<void>) =>
      this.copy.besideWrites(term, async () => {
        requireSame();
        await work();
      });
    try {
      const layerIn = (file: string) => this.state.layerIn(file);
      const step = await purgeStep(layers, layerId, firstWindow, layerIn, besideWrites);
      if (step.kind === 'more') return step.next;
      if (step.kind === 'nothing') return null;
      await this.copy.alone(term, async () => {
        requireSame();
        // Computed from the current tree: layers may have been added above meanwhile.
        await this.state.reshape({ layers: step.apply(this.meta.layers) });
      });
    } catch (error) {
      // Layers were frozen, reverted to or removed meanwhile. The next purge starts over with the current ones.
      if (!isFault(error, 'replica.state_changed')) throw error;
    }
    return null;
  }

  /**
   * Marks a layer that a rebuild left as deleted: once a purge has begun, its file is not what was frozen, and a
   * revert to it must be refused.
   */
  private async giveUp(layerId: string, term: Term | undefined): Promise<void> {
    const layer = this.state.layerMetadata(layerId);
    if (
      layer === undefined ||
      layer.removed ||
      !isPurgeable(layer) ||
      layerId === this.meta.layers.at(-1)?.id
    )
      return;
    await this.markRemoved(layerId, term);
  }

  /** Stores the checksum of a frozen layer's content, and of its ranges if this disk keeps them. */
  async noteChecksum(
    layerId: string,
    checksum: LayerChecksum | undefined,
    sums?: RangeSums | undefined,
    term?: Term,
  ): Promise<void> {
    if (checksum !== undefined && sums !== undefined) await this.copy.ranges.store(layerId, checksum, sums);
    await this.copy.alone(term, async () => {
      // A purge may have replaced the layer's files since they were hashed.
      const changeTime = checksum && (await this.state.layer(layerId)?.changeTime());
      if (changeTime !== checksum?.changeTime) return;
      await this.state.save({
        layers: this.meta.layers.map((layer) => (layer.id === layerId ? { ...layer, checksum } : layer)),
      });
    });
  }
}
