import type { DiskReport, Heartbeat, HeartbeatReply } from '@holdfast/core/model/agent-protocol.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import type { HeldStamp } from '@holdfast/core/model/disk-stamp.js';
import { Bug } from '@holdfast/core/model/faults.js';
import { asId, type DiskId, type NodeId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { DiskWishes } from '@holdfast/core/policy/disk-wishes.js';
import { ByVolumeMap } from './by-volume-map.js';
import { clonedCopy, type SimCopy } from './sim-copy.js';
import { newDisk, type SimDisk, type SimDiskOptions } from './sim-disk.js';
import type { SimEngine } from './sim-engine.js';

export type SimNodeOptions = {
  zone?: string | null;
  region?: string | null;
  /** One size per disk, for disks without anything special; two of 100 GiB when left out. */
  diskBytes?: readonly number[];
  disks?: readonly SimDiskOptions[];
};

/** Content of a disk at some time. */
export type SavedDisk = {
  readonly stamp: HeldStamp | undefined;
  readonly copies: readonly SimCopy[];
};

const DISK_BYTES = 100 * GIB;

/** Listener for changes of a node. */
export type SimNodeWatcher = {
  onNode(node: SimNode): void;
  onEngine(volumeId: VolumeId): void;
  onCopy(node: SimNode, volumeId: VolumeId, replicaId: ReplicaId): void;
};

/** A node: its disks and their copies outlive its agent; engines do not. */
export class SimNode {
  readonly copies: ByVolumeMap<ReplicaId, SimCopy>;
  readonly engines: ByVolumeMap<VolumeId, SimEngine>;
  readonly disks: SimDisk[] = [];
  nodeId: NodeId | undefined;
  /** Disks that its agent was asked to release. */
  private isToGo: ReadonlySet<string> = new Set();
  isAlive = true;
  bootId: string;
  private connected = true;
  private silent = false;

  readonly zone: string | null;
  readonly region: string | null;

  constructor(
    readonly name: string,
    private readonly newId: () => string,
    { zone = null, region = null, diskBytes = [DISK_BYTES, DISK_BYTES], disks }: SimNodeOptions,
    private readonly watcher: SimNodeWatcher,
  ) {
    this.copies = new ByVolumeMap((volumeId, replicaId) => watcher.onCopy(this, volumeId, replicaId));
    this.engines = new ByVolumeMap((volumeId) => watcher.onEngine(volumeId));
    this.zone = zone;
    this.region = region;
    this.bootId = newId();
    for (const disk of disks ?? diskBytes.map((sizeBytes) => ({ sizeBytes }))) this.addDisk(disk);
  }

  addDisk({ name = `disk-${this.disks.length + 1}`, ...options }: SimDiskOptions): SimDisk {
    const disk = newDisk({ name, ...options }, this.newId, () => this.notice());
    this.disks.push(disk);
    this.notice();
    return disk;
  }

  /** Whether a disk is to be released that can be. */
  get hasToLetGo(): boolean {
    return this.isToGo.size > 0 && this.disks.some((disk) => this.mayLetGo(disk));
  }

  /**
   * Carries out the wishes for disks in the answer to a report. A disk that holds a copy is kept, and so is one that has vanished:
   * its content is unknown.
   */
  obey({ add, remove }: DiskWishes = { add: [], remove: [] }): void {
    this.isToGo = new Set(remove);
    for (const { diskId: id, name, path, type, sizeBytes } of add) {
      if (this.disks.some((disk) => disk.id === id || `/disks/${disk.name}` === path)) continue;
      this.addDisk({ id: asId(id), name, type, sizeBytes: sizeBytes ?? DISK_BYTES });
    }
    for (const disk of this.disks.filter((one) => this.mayLetGo(one))) {
      this.disks.splice(this.disks.indexOf(disk), 1);
      this.notice();
    }
  }

  private mayLetGo({ id, isGone }: SimDisk): boolean {
    return this.isToGo.has(id) && !isGone && ![...this.copies.values()].some(({ diskId }) => diskId === id);
  }

  /** Something of the node has changed that its engines, those of its copies, and its report depend on. */
  private notice(): void {
    this.watcher.onNode(this);
  }

  /** False: alive, but cut off from the network. */
  get isConnected(): boolean {
    return this.connected;
  }

  set isConnected(isConnected: boolean) {
    this.connected = isConnected;
    this.notice();
  }

  /** The copy, while its disk exists. */
  copy(replicaId: ReplicaId): SimCopy | undefined {
    const copy = this.copies.get(replicaId);
    if (copy === undefined) return undefined;
    for (const disk of this.disks) if (disk.isGone && disk.id === copy.diskId) return undefined;
    return copy;
  }

  /** True if its agent reaches the control plane. */
  get isReachable(): boolean {
    return this.isAlive && this.isConnected && !this.silent;
  }

  /** Its agent hangs: it says nothing and answers nothing, while its copies and engines go on. */
  get isSilent(): boolean {
    return this.silent;
  }

  set isSilent(isSilent: boolean) {
    this.silent = isSilent;
    this.notice();
  }

  kill(): void {
    this.notice();
    this.isAlive = false;
    this.engines.clear();
  }

  start(bootId: string): void {
    this.isAlive = true;
    this.silent = false;
    this.bootId = bootId;
    for (const { stamp } of this.disks) stamp.restart();
    this.notice();
  }

  /** A user pulls the disk out and puts it into another node, with the copies on it. */
  moveDisk(disk: SimDisk, to: SimNode): void {
    this.disks.splice(this.disks.indexOf(disk), 1);
    to.disks.push(disk);
    disk.stamp.restart();
    disk.belongTo(() => to.notice());
    this.notice();
    for (const [replicaId, copy] of [...this.copies]) {
      if (copy.diskId !== disk.id) continue;
      this.copies.delete(replicaId);
      to.copies.set(replicaId, copy);
    }
    to.notice();
  }

  /**
   * A copy of a disk's files appears as a disk of this node, as with a machine image or `cp -a`: with the identity and the content of
   * the first one.
   *
   * @throws Bug if this node has a disk of that identity
   */
  addClone(name: string, disk: SimDisk, from: SimNode): SimDisk {
    if (this.disks.some(({ id }) => id === disk.id)) throw new Bug(`node ${this.name} has disk ${disk.id}`);
    const { id, type, maximumBytes: sizeBytes } = disk;
    const clone = this.addDisk({ id, name, type, sizeBytes });
    clone.stamp.held = disk.stamp.held;
    for (const copy of from.copiesOn(id)) this.copies.set(copy.replicaId, clonedCopy(copy));
    return clone;
  }

  /** A disk that is a copy of another one is taken out, with its content. */
  removeClone(disk: SimDisk): void {
    this.disks.splice(this.disks.indexOf(disk), 1);
    for (const { replicaId } of this.copiesOn(disk.id)) this.copies.delete(replicaId);
    this.notice();
  }

  /** Present content of a disk, as a snapshot of its machine would have it. */
  save(disk: SimDisk): SavedDisk {
    return { stamp: disk.stamp.held, copies: this.copiesOn(disk.id).map(clonedCopy) };
  }

  /** Resets a disk to a saved content. Its agent does not run meanwhile. */
  setBack(disk: SimDisk, { stamp, copies }: SavedDisk): void {
    for (const { replicaId } of this.copiesOn(disk.id)) this.copies.delete(replicaId);
    for (const copy of copies) this.copies.set(copy.replicaId, clonedCopy(copy));
    disk.stamp.held = stamp;
    disk.stamp.restart();
    this.notice();
  }

  private copiesOn(id: DiskId): SimCopy[] {
    return [...this.copies.values()].filter(({ diskId }) => diskId === id);
  }

  /** Takes over what the control plane has stored of the disks' stamps. */
  confirm(stamps: HeartbeatReply['stamps'] = []): void {
    for (const { diskId, stampId } of stamps) {
      for (const disk of this.disks) if (disk.id === diskId) disk.stamp.confirm(stampId);
    }
  }

  heartbeat(nowMs: number): Heartbeat {
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
      disks: this.disks.map((disk) => this.diskReport(disk, nowMs)),
      replicas: this.copyReports(),
      engines: [...this.engines.values()].map((engine) => engine.report()),
    };
  }

  private copyReports(): Heartbeat['replicas'] {
    const gone = new Set(this.disks.flatMap(({ id, isGone }) => (isGone ? [id] : [])));
    const reports: Heartbeat['replicas'] = [];
    for (const { replicaId, volumeId, diskId, writes, record } of this.copies.values()) {
      if (gone.has(diskId)) continue;
      reports.push({ replicaId, volumeId, diskId, writtenBytes: writes.size * 4096, record: record ?? null });
    }
    return reports;
  }

  private diskReport(
    { id, name, type, maximumBytes, availableBytes, isGone, stamp }: SimDisk,
    nowMs: number,
  ): DiskReport {
    return {
      ...(isGone ? {} : { stamp: stamp.report(nowMs) }),
      diskId: id,
      name,
      path: `/disks/${name}`,
      type,
      fileSystem: type === 'block' ? '' : 'xfs',
      maximumBytes,
      availableBytes,
      ready: !isGone,
      copiesListed: !isGone,
      reason: isGone ? 'DiskMissing' : '',
      message: isGone ? 'the disk is not there' : '',
    };
  }
}
