import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import type { DiskType } from '@holdfast/core/model/node.js';
import { SimStamp } from './sim-stamp.js';

export type SimDiskOptions = {
  readonly name?: string;
  readonly sizeBytes: number;
  readonly type?: DiskType;
  /** Left out: a new one. */
  readonly id?: DiskId;
};

/** A disk of a simulated node. Its node notices faults and reports them with its next heartbeat. */
export class SimDisk {
  readonly type: DiskType;
  readonly maximumBytes: number;
  private available: number;
  private gone = false;
  readonly stamp: SimStamp;

  constructor(
    readonly id: DiskId,
    readonly name: string,
    { sizeBytes, type = 'filesystem' }: SimDiskOptions,
    newId: () => string,
    /** Told of every change. */
    private onChange: () => void,
  ) {
    this.stamp = new SimStamp(newId, newId());
    this.type = type;
    this.maximumBytes = sizeBytes;
    this.available = sizeBytes;
  }

  get availableBytes(): number {
    return this.available;
  }

  set availableBytes(bytes: number) {
    this.available = bytes;
    this.onChange();
  }

  /** True while it has vanished from its node, with the copies on it. */
  get isGone(): boolean {
    return this.gone;
  }

  set isGone(isGone: boolean) {
    this.gone = isGone;
    this.onChange();
  }

  /** Another node notices its changes from now on. */
  belongTo(onChange: () => void): void {
    this.onChange = onChange;
  }
}

/** @param newId of the world's one source of chance */
export function newDisk(
  { id, name, ...options }: SimDiskOptions & { readonly name: string },
  newId: () => string,
  onChange: () => void,
): SimDisk {
  return new SimDisk(id ?? asId<DiskId>(newId()), name, options, newId, onChange);
}
