import { BLOCK_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { hugePagesReady } from '../disk/huge-pages.js';
import { type Chain, layerExtents } from '../layers/chain.js';
import type { Layer } from '../layers/layer.js';
import { NbdErrno } from '../nbd/constants.js';
import { NbdError } from '../nbd/errors.js';
import {
  type ByteSpan,
  type Extent,
  type NbdExport,
  type NbdWrite,
  type Payload,
  type WriteListener,
  type WriteOptions,
  type ZeroOptions,
} from '../nbd/export.js';
import type { ReplicaExportName } from '../protocol/export-names.js';
import { snapshotNotFound, staleEpoch } from '../protocol/replica-faults.js';
import type { ConnectionTerm, Replica } from '../replica/replica.js';
import type { SentWindows } from './sent-windows.js';

/** NBD export of a copy for its engine. Every request uses the epoch that the connection was opened at. */
export class ReplicaExport implements NbdExport {
  readonly readOnly = false;
  readonly blockSizeMinBytes = BLOCK_BYTES;
  private readonly lease: number;
  private readonly term: ConnectionTerm;

  constructor(
    private readonly replica: Replica,
    private readonly epoch: number,
  ) {
    this.lease = replica.lease;
    this.term = { epoch, lease: replica.lease };
  }

  get sizeBytes(): number {
    return this.replica.sizeBytes;
  }

  async read(offset: number, lengthBytes: number): Promise<Payload> {
    this.requireCurrent();
    return this.replica.read(offset, lengthBytes);
  }

  readNow(offset: number, lengthBytes: number, alone = false): Payload | undefined {
    this.requireCurrent();
    return this.replica.readNow(offset, lengthBytes, alone);
  }

  write(offset: number, payload: Payload, lengthBytes: number, options: WriteOptions): Promise<void> {
    const { epoch, lease } = this;
    const { fua, alone = false } = options;
    return this.replica.write(offset, payload, lengthBytes, { fua, alone, epoch, lease });
  }

  beginWrite<Tag>(write: NbdWrite, listener: WriteListener<Tag>, tag: Tag): void {
    this.replica.beginWrite(write, this.term, listener, tag);
  }

  writeNow(offset: number, payload: Payload, lengthBytes: number): boolean {
    return this.replica.writeNow(offset, payload, lengthBytes, this.term);
  }

  async flush(): Promise<void> {
    this.requireCurrent();
    await this.replica.flushForEngine(this.lease);
  }

  async trim(offset: number, lengthBytes: number, options: WriteOptions): Promise<void> {
    await this.writeZeroes(offset, lengthBytes, { ...options, mayPunch: true });
  }

  async writeZeroes(offset: number, lengthBytes: number, options: ZeroOptions): Promise<void> {
    await this.replica.writeZeroes(offset, lengthBytes, { ...options, epoch: this.epoch, lease: this.lease });
  }

  async blockStatus(offset: number, lengthBytes: number, extentsMax: number): Promise<Extent[]> {
    this.requireCurrent();
    return this.replica.extents(offset, lengthBytes, extentsMax);
  }

  private requireCurrent(): void {
    const { epoch } = this.replica.metadata;
    if (epoch !== this.epoch) throw staleEpoch(this.epoch, epoch);
  }
}

/** Export of content that no longer changes. */
abstract class FrozenExport implements NbdExport {
  readonly readOnly = true;
  readonly blockSizeMinBytes = 1;
  abstract readonly sizeBytes: number;

  abstract read(offset: number, lengthBytes: number): Promise<Payload>;

  abstract blockStatus(offset: number, lengthBytes: number, extentsMax: number): Promise<Extent[]>;

  async flush(): Promise<void> {
    // No-op: frozen layers were flushed when they were frozen.
  }

  write(): Promise<void> {
    return this.refuse();
  }

  trim(): Promise<void> {
    return this.refuse();
  }

  writeZeroes(): Promise<void> {
    return this.refuse();
  }

  private refuse(): Promise<void> {
    return Promise.reject(new NbdError(NbdErrno.Perm, 'a frozen layer is read-only'));
  }
}

/** Export of a single frozen layer: what a rebuild copies. Blocks the layer does not hold are reported as holes. */
export class LayerExport extends FrozenExport {
  constructor(
    private readonly layerId: string,
    private readonly layer: Layer,
    private readonly sent: SentWindows,
  ) {
    super();
  }

  get sizeBytes(): number {
    return this.layer.sizeBytes;
  }

  async read(offset: number, lengthBytes: number): Promise<Payload> {
    const isOfWindow =
      offset % BLOCK_BYTES === 0 &&
      lengthBytes % BLOCK_BYTES === 0 &&
      (offset % WINDOW_BYTES) + lengthBytes <= WINDOW_BYTES;
    return isOfWindow ? this.readRanges([{ offset, lengthBytes }]) : this.layer.read(offset, lengthBytes);
  }

  async readRanges(ranges: readonly ByteSpan[]): Promise<Payload> {
    const { layerId, layer } = this;
    const { changes } = layer.map;
    const runs = ranges.map(({ offset, lengthBytes }) => ({
      first: offset / BLOCK_BYTES,
      count: lengthBytes / BLOCK_BYTES,
    }));
    const pieces = await layer.readPacked(runs);
    for (const [index, { first }] of runs.entries()) {
      const piece = pieces[index];
      if (piece !== undefined) layer.blankUnheld(piece, first);
    }
    this.sent.note({ layerId, layer, changes, runs, pieces });
    return pieces;
  }

  async blockStatus(offset: number, lengthBytes: number, extentsMax: number): Promise<Extent[]> {
    return layerExtents(this.layer, offset, lengthBytes, extentsMax);
  }
}

/** Export of the device as it was when a layer was frozen: the source of a clone. */
export class SnapshotExport extends FrozenExport {
  constructor(
    private readonly chain: Chain,
    readonly sizeBytes: number,
  ) {
    super();
  }

  async read(offset: number, lengthBytes: number): Promise<Payload> {
    // Read from the disk: only a clone reads it, and the page cache is left to what users read.
    return this.chain.readFromDisk(offset, lengthBytes);
  }

  async blockStatus(offset: number, lengthBytes: number, extentsMax: number): Promise<Extent[]> {
    return this.chain.extents(offset, lengthBytes, extentsMax);
  }
}

/** A copy, and the windows that it has sent to rebuilds. */
export type Exported = { readonly replica: Replica; readonly sent: SentWindows };

/** @throws StorageFault when the name selects something the copy does not export at this epoch. */
export function openExport({ replica, sent }: Exported, name: ReplicaExportName): NbdExport {
  const { epoch } = replica.metadata;
  // Frozen data is read by rebuilds and fills, in whole windows.
  if (name.kind !== 'replica') void hugePagesReady();
  if (name.kind === 'snapshot') {
    const frozen = requireFrozen(replica, name.layerId);
    return new SnapshotExport(replica.chainUpTo(name.layerId), frozen.sizeBytes);
  }
  if (name.epoch !== epoch) throw staleEpoch(name.epoch, epoch);
  if (name.kind === 'replica') return new ReplicaExport(replica, epoch);
  return new LayerExport(name.layerId, requireFrozen(replica, name.layerId), sent);
}

function requireFrozen(replica: Replica, layerId: string): Layer {
  const { layers, rebuildId } = replica.metadata;
  const layer = replica.layer(layerId);
  const isHead = layers.at(-1)?.id === layerId;
  // The layers of a rebuild target are incomplete until the rebuild has ended.
  if (layer === undefined || isHead || rebuildId !== null) throw snapshotNotFound();
  return layer;
}
