import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import type { DiskType } from '@holdfast/core/model/node.js';

export type SimDiskOptions = {
  readonly name?: string;
  readonly sizeBytes: number;
  readonly type?: DiskType;
  /** Left out: a new one. */
  readonly id?: DiskId;
};

/** A disk of a simulated node. What befalls it is noticed by its node, which reports it with its next heartbeat. */
export class SimDisk {
  readonly type: DiskType;
  readonly maximumBytes: number;
  private available: number;
  private gone = false;

  constructor(
    readonly id: DiskId,
    readonly name: string,
    { sizeBytes, type = 'filesystem' }: SimDiskOptions,
    /** Told of every change. */
    private onChange: () => void,
  ) {
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

/** @param id made by the world's one source of chance, like every id */
export function newDisk(
  id: string,
  { name, ...options }: SimDiskOptions & { readonly name: string },
  onChange: () => void,
): SimDisk {
  return new SimDisk(asId<DiskId>(id), name, options, onChange);
}
