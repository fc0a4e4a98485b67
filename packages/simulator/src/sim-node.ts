import type { DiskReport, Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type DiskId, type NodeId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { DiskType } from '@holdfast/core/model/node.js';
import type { SimCopy } from './sim-copy.js';
import type { SimEngine } from './sim-engine.js';

export type SimDisk = {
  readonly id: DiskId;
  readonly name: string;
  readonly type: DiskType;
  maximumBytes: number;
  availableBytes: number;
  /** True while it has vanished from its node, with the copies on it. */
  isGone: boolean;
};

export type SimDiskOptions = { readonly name?: string; readonly sizeBytes: number; readonly type?: DiskType };

export type SimNodeOptions = {
  zone?: string | null;
  region?: string | null;
  /** One size per disk, for disks without anything special; two of 100 GiB when left out. */
  diskBytes?: readonly number[];
  disks?: readonly SimDiskOptions[];
};

/** A node: its disks and their copies outlive its agent; engines do not. */
export class SimNode {
  readonly copies = new Map<ReplicaId, SimCopy>();
  readonly engines = new Map<VolumeId, SimEngine>();
  readonly disks: SimDisk[] = [];
  nodeId: NodeId | undefined;
  isAlive = true;
  /** False: alive, but cut off from the network. */
  isConnected = true;
  bootId: string;

  readonly zone: string | null;
  readonly region: string | null;

  constructor(
    readonly name: string,
    private readonly newId: () => string,
    { zone = null, region = null, diskBytes = [100 * GIB, 100 * GIB], disks }: SimNodeOptions = {},
  ) {
    this.zone = zone;
    this.region = region;
    this.bootId = newId();
    for (const disk of disks ?? diskBytes.map((sizeBytes) => ({ sizeBytes }))) this.addDisk(disk);
  }

  addDisk({
    name = `disk-${this.disks.length + 1}`,
    sizeBytes,
    type = 'filesystem',
  }: SimDiskOptions): SimDisk {
    const disk: SimDisk = {
      // Made by the world's one source of chance, like every id.
      id: asId<DiskId>(this.newId()),
      name,
      type,
      maximumBytes: sizeBytes,
      availableBytes: sizeBytes,
      isGone: false,
    };
    this.disks.push(disk);
    return disk;
  }

  /** The copy, while its disk is there. */
  copy(replicaId: ReplicaId): SimCopy | undefined {
    const copy = this.copies.get(replicaId);
    const isGone = this.disks.some(({ id, isGone }) => isGone && id === copy?.diskId);
    return isGone ? undefined : copy;
  }

  get isReachable(): boolean {
    return this.isAlive && this.isConnected;
  }

  kill(): void {
    this.isAlive = false;
    this.engines.clear();
  }

  start(bootId: string): void {
    this.isAlive = true;
    this.bootId = bootId;
  }

  /** A user pulls the disk out and puts it into another node, with the copies on it. */
  moveDisk(disk: SimDisk, to: SimNode): void {
    this.disks.splice(this.disks.indexOf(disk), 1);
    to.disks.push(disk);
    for (const [replicaId, copy] of [...this.copies]) {
      if (copy.diskId !== disk.id) continue;
      this.copies.delete(replicaId);
      to.copies.set(replicaId, copy);
    }
  }

  heartbeat(): Heartbeat {
    return {
      node: {
        name: this.name,
        zone: this.zone,
        region: this.region,
        bootId: this.bootId,
        controlUrl: `http://${this.name}.test:1`,
        controlSecret: `control-secret-of-${this.name}`,
        nbdHost: `${this.name}.test`,
        nbdPort: 10809,
        pid: 1,
        version: '0',
      },
      disks: this.disks.map((disk) => this.diskReport(disk)),
      replicas: [...this.copies.values()]
        .flatMap(({ replicaId }) => this.copy(replicaId) ?? [])
        .map((copy) => ({
          replicaId: copy.replicaId,
          volumeId: copy.volumeId,
          diskId: copy.diskId,
          writtenBytes: copy.writes.size * 4096,
          record: copy.record ?? null,
        })),
      engines: [...this.engines.values()].map((engine) => engine.report()),
    };
  }

  private diskReport({ id, name, type, maximumBytes, availableBytes, isGone }: SimDisk): DiskReport {
    return {
      diskId: id,
      name,
      path: `/disks/${name}`,
      type,
      fileSystem: type === 'block' ? '' : 'xfs',
      maximumBytes,
      availableBytes,
      ready: !isGone,
      reason: isGone ? 'DiskMissing' : '',
      message: isGone ? 'the disk is not there' : '',
    };
  }
}
