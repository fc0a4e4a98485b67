import type { DiskReport, Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import type { DiskId, NodeId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import type { SimCopy } from './sim-copy.js';
import type { SimEngine } from './sim-engine.js';

export type SimDisk = {
  readonly id: DiskId;
  readonly name: string;
  maximumBytes: number;
  availableBytes: number;
  /** False: its place is there and it is not. */
  isReady: boolean;
};

export type SimNodeOptions = {
  zone?: string | null;
  /** One entry per disk; two disks of 100 GiB when left out. */
  diskBytes?: readonly number[];
};

/** A node: its disks and their copies outlive its agent; engines do not. */
export class SimNode {
  readonly copies = new Map<ReplicaId, SimCopy>();
  readonly engines = new Map<VolumeId, SimEngine>();
  readonly disks: SimDisk[];
  nodeId: NodeId | undefined;
  isAlive = true;
  /** False: alive, but cut off from the network. */
  isConnected = true;
  bootId: string;

  constructor(
    readonly name: string,
    readonly zone: string | null,
    newId: () => string,
    diskBytes: readonly number[] = [100 * GIB, 100 * GIB],
  ) {
    this.bootId = newId();
    this.disks = diskBytes.map((maximumBytes, index) => ({
      // Made by the world's one source of chance, like every id.
      id: newId() as DiskId,
      name: `disk-${index + 1}`,
      maximumBytes,
      availableBytes: maximumBytes,
      isReady: true,
    }));
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
        region: null,
        bootId: this.bootId,
        controlUrl: `http://${this.name}.test:1`,
        controlSecret: `control-secret-of-${this.name}`,
        nbdHost: `${this.name}.test`,
        nbdPort: 10809,
        pid: 1,
        version: '0',
      },
      disks: this.disks.map((disk) => this.diskReport(disk)),
      replicas: [...this.copies.values()].map((copy) => ({
        replicaId: copy.replicaId,
        volumeId: copy.volumeId,
        diskId: copy.diskId,
        writtenBytes: copy.writes.size * 4096,
        record: copy.record ?? null,
      })),
      engines: [...this.engines.values()].map((engine) => engine.report()),
    };
  }

  private diskReport({ id, name, maximumBytes, availableBytes, isReady }: SimDisk): DiskReport {
    return {
      diskId: id,
      name,
      path: `/disks/${name}`,
      type: 'filesystem',
      fileSystem: 'xfs',
      maximumBytes,
      availableBytes,
      ready: isReady,
      reason: isReady ? '' : 'DiskMissing',
      message: isReady ? '' : 'the disk is not there',
    };
  }
}
