/**
 * Replica: one copy of one volume, on one disk.
 *
 * After a crash it opens with everything that a FLUSH or FUA had acknowledged, or refuses with `replica.corrupt`.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { type CopyRecord, compareRecords } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { isRefusedWrite } from '../base/system-error.js';
import type { DiskStore } from '../disk/disk-store.js';
import type { Chain } from '../layers/chain.js';
import type { Layer } from '../layers/layer.js';
import {
  type Extent,
  type NbdWrite,
  type Payload,
  tellWhenEnded,
  type WriteListener,
  type WriteOptions,
  type ZeroOptions,
} from '../nbd/export.js';
import { alignDown, alignUp } from '../protocol/blocks.js';
import type { IntentMarker } from '../protocol/commands.js';
import { staleEpoch, unaligned } from '../protocol/replica-faults.js';
import type { Opening, Term } from '../protocol/term.js';
import { CopyFence } from './copy-fence.js';
import type { IntentMap, RegionRun } from './intent-map.js';
import { LayerChanges } from './layer-changes.js';
import { LayerRanges } from './layer-ranges.js';
import type { ReplicaMetadata } from './metadata.js';
import type { OpenDisk } from './open-disk-store.js';
import { type BlockRange, ReadWriteOverlap } from './read-write-overlap.js';
import { RecentChanges } from './recent-changes.js';
import { type ReplicaSpec, ReplicaState } from './replica-state.js';
import { WriteGate } from './write-gate.js';

/** Options of a change: the epoch of its connection, and the lease, if the connection has one. */
export type ChangeOptions = WriteOptions & { epoch: number; lease?: number };

/**
 * Proof of an engine that all copies were equal in the regions at one point of this copy's life (`marker`). Without a
 * marker it covers the whole copy, now.
 */
export type ClearIntentAsk = Term & {
  marker?: IntentMarker | undefined;
  regions?: readonly RegionRun[] | undefined;
};

/** Epoch and lease of a data connection. */
export type ConnectionTerm = { readonly epoch: number; readonly lease: number };

/** A user's write that a thread works on. */
type BegunWrite = {
  readonly blocks: BlockRange;
  readonly listener: WriteListener<unknown>;
  readonly tag: unknown;
};

export class Replica {
  readonly ranges: LayerRanges;
  readonly layers: LayerChanges;
  private readonly intent: IntentMap;
  private readonly gate = new WriteGate();
  private readonly recent = new RecentChanges();
  private readonly overlap = new ReadWriteOverlap();
  /**
   * Set when the disk failed to store something, whichever caller requested it: its content is then unknown, and nothing is served
   * until the copy is reopened.
   */
  private failure: Error | undefined;
  /** Set when the copy is closed, which says nothing against its content. */
  private isClosed = false;
  /** Called when the disk has failed to store something: only reopening the copy shows what it holds. */
  onFailed: () => void = () => undefined;
  private readonly fencing = new CopyFence(() => this.meta);
  /** Number of changes that had ended when the last successful flush began. */
  private flushedChanges = 0;
  /** Bytes that the disk had allocated for the layers at that state. */
  private allocated: { readonly state: string; readonly bytes: number } | undefined;
  /** The epoch since which this process has held the copy with every acknowledged write. */
  private heldSinceEpoch: number | undefined;

  private constructor(private readonly state: ReplicaState) {
    this.intent = state.intent;
    this.ranges = new LayerRanges(state);
    this.layers = new LayerChanges({
      state,
      fencing: this.fencing,
      ranges: this.ranges,
      flush: () => this.flush(),
      alone: (term, work) => this.alone(term, work),
      besideWrites: (term, work) => this.besideWrites(term, work),
    });
    state.onFailed = (failure) => this.failed(failure);
  }

  /** Creates a copy; an existing one is left as it is. */
  static create(diskPath: string, spec: ReplicaSpec, openDisk?: OpenDisk): Promise<void> {
    return ReplicaState.create(diskPath, spec, openDisk);
  }

  static async open(diskPath: string, replicaId: string, openDisk?: OpenDisk): Promise<Replica> {
    return new Replica(await ReplicaState.open(diskPath, replicaId, openDisk));
  }

  private get meta(): ReplicaMetadata {
    return this.state.meta;
  }

  get metadata(): ReplicaMetadata {
    return this.meta;
  }

  get sizeBytes(): number {
    return this.meta.sizeBytes;
  }

  /** True when the copy has to be opened again before its next use: it is closed, or its disk has failed to store something. */
  get hasEnded(): boolean {
    return this.isClosed || this.failure !== undefined || this.state.hasFailed;
  }

  get diskKind(): DiskStore['kind'] {
    return this.state.diskKind;
  }

  /** False while write-intent marks are set: regions may differ from the other copies. */
  get isClean(): boolean {
    return this.intent.isEmpty;
  }

  /**
   * True if this process has held the copy throughout the attachment that its record names: it then also has
   * acknowledged writes that no flush has covered. A copy whose process died has only what was flushed.
   */
  get isKept(): boolean {
    const { record } = this.meta;
    return record !== null && this.heldSinceEpoch !== undefined && this.heldSinceEpoch <= record.epoch;
  }

  /** Bytes of the blocks that layers hold. Those that several hold count more than once, so the sum is capped. */
  get heldBytes(): number {
    return Math.min(this.meta.sizeBytes, this.state.chain.heldBytes);
  }

  /**
   * Bytes that hold data, for space accounting: never more than the disk has allocated, as zeros over an older layer count as held,
   * and need no space. The disk is queried only after a change or a flush.
   */
  async writtenBytes(): Promise<number> {
    const { heldBytes } = this;
    const state = `${this.state.chain.changes} ${heldBytes} ${this.flushedChanges}`;
    if (heldBytes > 0 && this.allocated?.state !== state) {
      // A disk that does not answer says nothing against what the layers hold.
      const bytes = await this.state.allocatedBytes().catch(() => heldBytes);
      this.allocated = { state, bytes };
    }
    return Math.min(heldBytes, this.allocated?.bytes ?? heldBytes);
  }

  get device(): Chain {
    return this.state.chain;
  }

  intentRegions(): RegionRun[] {
    return this.intent.runs();
  }

  /**
   * Changes that another copy may not have durably, as far as this process knows; `undefined` if too many to list.
   */
  recentChanges(): [stretch: number, blocks: number][] | undefined {
    return this.recent.list();
  }

  /** Flushes for the engine, whose flushes are ordered: its previous one has ended on every copy. */
  async flushForEngine(lease: number): Promise<void> {
    if (lease === this.lease) this.recent.flushing();
    await this.flush();
  }

  /** A marker of this moment, for a later `clearIntent`. */
  intentMarker(): IntentMarker {
    return this.intent.marker();
  }

  layer(layerId: string): Layer | undefined {
    return this.state.layer(layerId);
  }

  /** The device as it read when the layer was frozen. */
  chainUpTo(layerId: string): Chain {
    return this.state.chainUpTo(layerId);
  }

  async read(offset: number, lengthBytes: number): Promise<Payload> {
    this.requireUsable();
    return this.overlap.read(
      alignDown(offset),
      alignUp(offset + lengthBytes),
      () => this.state.chain.read(offset, lengthBytes),
      (disturbed) => disturbed.release?.(),
    );
  }

  /** The content without a thread: cached bytes, or, for a request that is alone, bytes of a fast disk. */
  readNow(offset: number, lengthBytes: number, isAlone = false): Payload | undefined {
    this.requireUsable();
    if (!this.overlap.isQuiet(alignDown(offset), alignUp(offset + lengthBytes))) return undefined;
    return this.state.chain.readNow(offset, lengthBytes, isAlone);
  }

  write(offset: number, payload: Payload, lengthBytes: number, options: ChangeOptions): Promise<void> {
    return this.change(offset, lengthBytes, options, () =>
      this.state.chain.head.write(payload, offset, lengthBytes, options.alone),
    );
  }

  /**
   * Makes a write of an engine if nothing has to be waited for; false otherwise.
   *
   * @throws StorageFault as `write` does; a part may have been written then
   */
  writeNow(offset: number, payload: Payload, lengthBytes: number, term: ConnectionTerm): boolean {
    if (!this.mayBegin(offset, lengthBytes)) return false;
    this.requireUsable();
    this.fencing.requireConnection(term);
    if (!this.state.chain.head.writeNow(payload, offset, lengthBytes)) return false;
    this.overlap.disturb(offset, offset + lengthBytes);
    this.intent.changed(offset, lengthBytes);
    this.recent.add(offset, lengthBytes);
    return true;
  }

  /** Makes a write of an engine by a thread, without a promise unless something has to be waited for first. */
  beginWrite<Tag>(write: NbdWrite, term: ConnectionTerm, listener: WriteListener<Tag>, tag: Tag): void {
    const { offset, lengthBytes, payload, fua } = write;
    if (fua || !this.mayBegin(offset, lengthBytes)) {
      tellWhenEnded(this.write(offset, payload, lengthBytes, { ...write, ...term }), listener, tag);
      return;
    }
    try {
      this.requireUsable();
      this.fencing.requireConnection(term);
    } catch (error) {
      listener.written(tag, error);
      return;
    }
    void this.gate.enter();
    const blocks = this.overlap.beginWrite(offset, offset + lengthBytes);
    // The cast: the tag only goes back to the listener that it came with.
    const begun: BegunWrite = { blocks, listener: listener as WriteListener<unknown>, tag };
    this.state.chain.head.beginWrite(write, this.layerListener, begun);
  }

  private readonly layerListener: WriteListener<BegunWrite> = {
    written: ({ blocks, listener, tag }, failure) => {
      this.overlap.endWrite(blocks);
      this.intent.changed(blocks.start, blocks.end - blocks.start);
      this.recent.add(blocks.start, blocks.end - blocks.start);
      this.gate.leave();
      listener.written(tag, failure);
    },
  };

  /** May a change of these blocks begin without waiting for anything? */
  private mayBegin(offset: number, lengthBytes: number): boolean {
    return (
      offset % BLOCK_BYTES === 0 &&
      lengthBytes % BLOCK_BYTES === 0 &&
      this.gate.isOpen &&
      this.intent.isMarked(offset, lengthBytes) &&
      !this.overlap.mustWait(offset, offset + lengthBytes)
    );
  }

  writeZeroes(offset: number, lengthBytes: number, options: ChangeOptions & ZeroOptions): Promise<void> {
    return this.change(offset, lengthBytes, options, () => {
      // Over older layers zeros are data: the head has to hold them, or the older data would show through.
      const held = this.state.chain.layers.length > 1 || !options.mayPunch;
      return this.state.chain.head.zero(offset, lengthBytes, options.mayPunch, held);
    });
  }

  extents(offset: number, lengthBytes: number, extentsMax: number): Extent[] {
    return this.state.chain.shownExtents(offset, lengthBytes, extentsMax);
  }

  async flush(): Promise<void> {
    this.requireUsable();
    const { changes } = this.intent.marker();
    try {
      await this.state.chain.head.flush();
      // A sync of another file may have failed meanwhile: nothing that a failed disk says is passed on.
      if (this.failure !== undefined) throw this.failure;
      this.flushedChanges = Math.max(this.flushedChanges, changes);
    } catch (error) {
      // Not final: a disk that refuses a write has lost nothing, and a retry may succeed.
      if (!isRefusedWrite(error)) this.failed(error);
      throw error;
    }
  }

  /**
   * Fences the copy: durably refuses lower epochs from now on, and all but one grant of this one. Earlier changes
   * have ended when it resolves. Compared inside the gate, so that of two concurrent fences the higher one wins.
   *
   * `afresh`: old writes and commands of the engine may still be buffered for a copy that it had dropped; after a
   * rebuild they would overwrite newer data.
   *
   * @returns the lease for the engine's commands, and whether the previous opener's connections have to be cut
   */
  fence(epoch: number, opening: Opening = {}): Promise<{ lease: number; replaces: boolean }> {
    return this.gate.alone(async () => {
      this.requireUsable();
      this.fencing.requireMayOpen(epoch, opening);
      const { grantId, volume } = opening;
      const isNewer = epoch > this.meta.epoch;
      const described = volume === undefined ? {} : { volume };
      if (isNewer) await this.state.save({ epoch, grantId: grantId ?? null, ...described });
      else if (grantId !== undefined && grantId !== this.meta.grantId) await this.state.save({ grantId });
      // A marked copy may lack unflushed writes that an earlier process of it had acknowledged.
      if (this.isClean) this.heldSinceEpoch ??= epoch;
      const isAnew = this.fencing.renewFor(opening);
      if (isNewer || isAnew) this.recent.startOver();
      return { lease: this.lease, replaces: isNewer || isAnew };
    });
  }

  get lease(): number {
    return this.fencing.lease;
  }

  get headId(): string | undefined {
    return this.meta.layers.at(-1)?.id;
  }

  /** @throws StorageFault `engine.stale_epoch` for a command of an engine that was replaced by a newer one */
  requireTerm(term: Term): void {
    this.fencing.require(term);
  }

  /** Refuses all changes on earlier connections, even of the same epoch; see `fence`. */
  async renewLease(): Promise<void> {
    await this.gate.alone(async () => this.fencing.renewLease());
  }

  /**
   * Stores a record, unless it is older than the stored one and so comes from a replaced engine. Compared at the
   * moment of storing, so that the order of arrival does not matter.
   */
  async storeRecord(record: CopyRecord, term?: Term): Promise<void> {
    let wasTarget = false;
    await this.state.update(({ record: stored, rebuildId, epoch }) => {
      this.requireUsable();
      this.fencing.require(term);
      if (term !== undefined && record.epoch !== epoch) throw staleEpoch(record.epoch, epoch);
      if (stored !== null && compareRecords(record, stored) < 0) throw staleEpoch(record.epoch, stored.epoch);
      wasTarget = rebuildId !== null;
      return { record, rebuildId: null };
    });
    // The end of a rebuild: the copy has everything that the others have.
    if (wasTarget) this.heldSinceEpoch ??= record.epoch;
  }

  /**
   * Clears write-intent marks: the engine has proof that all copies are equal in these regions, so that a crash needs
   * no resync of them. Regions changed since the proof's marker stay marked, however late this comes. Without a proof
   * all marks are cleared.
   */
  async clearIntent(ask?: ClearIntentAsk): Promise<void> {
    if (ask?.marker !== undefined) return this.clearProven(ask.marker, ask.regions ?? [], ask);
    await this.alone(ask, async () => {
      await this.flush();
      await this.intent.clear();
      this.heldSinceEpoch ??= this.meta.epoch;
    });
  }

  private async clearProven(marker: IntentMarker, regions: readonly RegionRun[], term: Term): Promise<void> {
    let stored: Promise<void> | undefined;
    await this.alone(term, async () => {
      if (this.intent.changedAfter(this.flushedChanges, regions, marker)) await this.flush();
      stored = this.intent.clearUnchanged(regions, marker);
    });
    await stored;
    // A marker of another process proves nothing here: that process may have had more.
    if (marker.life === this.intent.marker().life) this.heldSinceEpoch ??= term.epoch;
  }

  /** Closes the copy, whose write-intent marks stay as they are; flushes first, if the disk allows it. */
  async close(): Promise<void> {
    await this.gate.alone(async () => {
      // Errors are ignored: the write-intent marks stay, and tell the next opener what may be missing.
      if (this.failure === undefined) await this.flush().catch(() => undefined);
      this.isClosed = true;
      await this.state.close();
    });
  }

  private async change(
    offset: number,
    lengthBytes: number,
    options: ChangeOptions,
    apply: () => Promise<void>,
  ): Promise<void> {
    if (offset % BLOCK_BYTES !== 0 || lengthBytes % BLOCK_BYTES !== 0) throw unaligned();
    const entering = this.gate.enter();
    if (entering !== undefined) await entering;
    try {
      this.requireUsable();
      // Checked behind the gate: a write that queued there while the copy was fenced must be refused.
      this.fencing.requireConnection(options);
      const marking = this.intent.mark(offset, lengthBytes);
      if (marking !== undefined) await marking;
      try {
        await this.apply(offset, offset + lengthBytes, apply);
      } finally {
        this.intent.changed(offset, lengthBytes);
        this.recent.add(offset, lengthBytes);
      }
    } finally {
      this.gate.leave();
    }
    if (options.fua) await this.flush();
  }

  /** Changes the copy as a whole: exclusively, and only if the caller's term is still valid when it runs. */
  private alone(term: Term | undefined, work: () => Promise<void>): Promise<void> {
    return this.gate.alone(async () => {
      this.requireUsable();
      this.fencing.require(term);
      await work();
    });
  }

  /** A bounded piece of work on frozen layers: concurrent with users' writes, exclusive with layer changes. */
  private async besideWrites(term: Term | undefined, work: () => Promise<void>): Promise<void> {
    const entering = this.gate.enter();
    if (entering !== undefined) await entering;
    try {
      this.requireUsable();
      this.fencing.require(term);
      await work();
    } finally {
      this.gate.leave();
    }
  }

  private async apply(start: number, end: number, apply: () => Promise<void>): Promise<void> {
    for (let reader = this.overlap.mayWrite(start, end); reader !== undefined; ) {
      await reader;
      reader = this.overlap.mayWrite(start, end);
    }
    const write = this.overlap.beginWrite(start, end);
    try {
      await apply();
    } finally {
      this.overlap.endWrite(write);
    }
  }

  /** Stops serving, and informs connected engines at once rather than at their next request. */
  private failed(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = error instanceof Error ? error : new Error(String(error));
    this.onFailed();
  }

  /** @throws StorageFault `replica.corrupt` after the disk has failed, `agent.unreachable` when the copy was closed meanwhile */
  private requireUsable(): void {
    if (this.failure === undefined && this.isClosed)
      throw new StorageFault('agent.unreachable', { publicMessage: 'the copy was closed: ask again' });
    if (this.failure === undefined) return;
    throw new StorageFault('replica.corrupt', {
      publicMessage: `the copy can't be used: ${this.failure.message}`,
      cause: this.failure,
    });
  }
}
