import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { NbdErrno } from '../nbd/constants.js';
import { NbdError } from '../nbd/errors.js';
import type { Extent, NbdExport, Payload, WriteOptions, ZeroOptions } from '../nbd/export.js';
import { layerExtents } from './chain.js';
import type { Layer } from './layer.js';
import type { Replica } from './replica.js';
import { staleEpoch } from './replica-faults.js';

/** A copy as its engine sees it. Every request speaks at the epoch the connection was opened at. */
export class ReplicaExport implements NbdExport {
  readonly readOnly = false;
  readonly blockSizeMinBytes = BLOCK_BYTES;

  constructor(
    private readonly replica: Replica,
    private readonly epoch: number,
  ) {}

  get sizeBytes(): number {
    return this.replica.sizeBytes;
  }

  async read(offset: number, lengthBytes: number): Promise<Payload> {
    this.requireCurrent();
    return this.replica.read(offset, lengthBytes);
  }

  async write(offset: number, payload: Payload, lengthBytes: number, options: WriteOptions): Promise<void> {
    await this.replica.write(offset, payload, lengthBytes, { ...options, epoch: this.epoch });
  }

  async flush(): Promise<void> {
    this.requireCurrent();
    await this.replica.flush();
  }

  async trim(offset: number, lengthBytes: number, options: WriteOptions): Promise<void> {
    await this.writeZeroes(offset, lengthBytes, { ...options, mayPunch: true });
  }

  async writeZeroes(offset: number, lengthBytes: number, options: ZeroOptions): Promise<void> {
    await this.replica.writeZeroes(offset, lengthBytes, { ...options, epoch: this.epoch });
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

/** One frozen layer by itself: what a rebuild copies. Blocks the layer does not hold are reported as holes. */
export class LayerExport implements NbdExport {
  readonly readOnly = true;
  readonly blockSizeMinBytes = 1;

  constructor(private readonly layer: Layer) {}

  get sizeBytes(): number {
    return this.layer.sizeBytes;
  }

  async read(offset: number, lengthBytes: number): Promise<Payload> {
    const buffer = Buffer.allocUnsafe(lengthBytes);
    await this.layer.readInto(buffer, offset);
    return [buffer];
  }

  async flush(): Promise<void> {
    // Frozen layers were flushed when they were frozen.
  }

  async blockStatus(offset: number, lengthBytes: number, extentsMax: number): Promise<Extent[]> {
    return layerExtents(this.layer, offset, lengthBytes, extentsMax);
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

/** @throws StorageFault when the name asks for something the copy does not export at this epoch. */
export function openExport(
  replica: Replica,
  name: { kind: 'replica' | 'layer'; layerId?: string; epoch: number },
): NbdExport {
  const { epoch, layers } = replica.metadata;
  if (name.epoch !== epoch) throw staleEpoch(name.epoch, epoch);
  if (name.kind === 'replica') return new ReplicaExport(replica, epoch);
  const layer = name.layerId === undefined ? undefined : replica.layer(name.layerId);
  const isHead = layers.at(-1)?.id === name.layerId;
  if (layer === undefined || isHead) {
    throw new StorageFault('snapshot.not_found', { publicMessage: 'the copy has no such frozen layer' });
  }
  return new LayerExport(layer);
}
