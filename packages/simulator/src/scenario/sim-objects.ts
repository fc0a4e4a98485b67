/** Objects of a simulated scenario by the names that its file calls them. */
import { cloneVolume } from '@holdfast/control/use-cases/clone-volume.js';
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import type { DiskId, NodeId, SnapshotId, VolumeId } from '@holdfast/core/model/ids.js';
import { isActiveRebuild, type Rebuild } from '@holdfast/core/model/rebuild.js';
import { isHealthy, type Replica } from '@holdfast/core/model/replica.js';
import { ScenarioError } from '@holdfast/scenario/driver.js';
import type { NewVolume } from '@holdfast/scenario/given.js';
import type { StepAsk } from '@holdfast/scenario/steps.js';
import { SimClient } from '../sim-client.js';
import type { SimCopy } from '../sim-copy.js';
import type { SimDisk } from '../sim-disk.js';
import type { SavedDisk, SimNode } from '../sim-node.js';
import type { World } from '../world.js';
import { namesOf } from './sim-facts.js';

export class SimObjects {
  private readonly clientsByName = new Map<string, SimClient>();
  private readonly namesById = new Map<string, string>();
  /** Disks that were moved, by their former names. */
  private readonly moved = new Map<string, SimDisk>();
  private readonly saved = new Map<SimDisk, SavedDisk>();

  constructor(readonly world: World) {}

  async create({ size, ...spec }: NewVolume): Promise<SimClient> {
    const { organizationId, projectId, clusterId, useCases } = this.world;
    const owner = { organizationId, projectId, clusterId };
    const { volumeId } = await createVolume(useCases, { ...owner, ...spec, sizeBytes: size });
    return this.know(spec.name, volumeId);
  }

  async clone({ volume, snapshot, name }: StepAsk<'cloneVolume'>): Promise<SimClient> {
    const volumeId = this.volumeId(volume);
    const snapshotId = await this.snapshotId(volume, snapshot);
    const clone = this.know(name, await cloneVolume(this.world.useCases, { volumeId, snapshotId, name }));
    clone.inherit(this.client(volume), snapshotId);
    return clone;
  }

  private know(name: string, volumeId: VolumeId): SimClient {
    const client = new SimClient(this.world, volumeId);
    this.clientsByName.set(name, client);
    this.namesById.set(volumeId, name);
    return client;
  }

  clients(): SimClient[] {
    return [...this.clientsByName.values()];
  }

  client(volume: string): SimClient {
    const client = this.clientsByName.get(volume);
    if (client === undefined) throw new ScenarioError(`there is no volume ${volume} yet`);
    if (!this.world.store.tables.volumes.has(client.volumeId))
      throw new ScenarioError(`volume ${volume} was deleted`);
    return client;
  }

  volumeId(volume: string): VolumeId {
    return this.client(volume).volumeId;
  }

  volumeName(id: string): string | null {
    return this.namesById.get(id) ?? null;
  }

  node(name: string): SimNode {
    const node = this.world.nodes.find((one) => one.name === name);
    if (node === undefined) throw new ScenarioError(`there is no node ${name} yet`);
    return node;
  }

  nodeId(name: string): NodeId {
    const { nodeId } = this.node(name);
    if (nodeId === undefined) throw new ScenarioError(`node ${name} has not reported yet`);
    return nodeId;
  }

  diskId(name: string): DiskId {
    return this.disk(name).id;
  }

  disk(name: string): SimDisk {
    const [nodeName = '', diskName] = name.split('/');
    const disk = this.node(nodeName).disks.find((one) => one.name === diskName) ?? this.moved.get(name);
    if (disk === undefined) throw new ScenarioError(`there is no disk ${name} yet`);
    return disk;
  }

  /** The disk is known by its new place and by the name that it had before, until another one has that. */
  moveDisk(name: string, to: string): void {
    const disk = this.disk(name);
    const target = this.node(to);
    const from = this.nodeWith(disk);
    if (from === undefined || from === target) throw new ScenarioError(`disk ${name} is on node ${to}`);
    if (target.disks.some((other) => other.name === disk.name))
      throw new ScenarioError(`node ${to} has a disk ${disk.name} already`);
    from.moveDisk(disk, target);
    this.moved.set(name, disk);
  }

  cloneDisk(name: string, to: string, as: string): void {
    const disk = this.disk(name);
    const [target, from] = [this.node(to), this.nodeWith(disk)];
    if (from === undefined || disk.isGone) throw new ScenarioError(`disk ${name} is not there`);
    if (target.disks.some((other) => other.id === disk.id || other.name === as))
      throw new ScenarioError(`node ${to} has disk ${name}, or another ${as}, already`);
    target.addClone(as, disk, from);
  }

  saveDisk(name: string): void {
    const disk = this.disk(name);
    const node = this.nodeWith(disk);
    if (node === undefined || disk.isGone) throw new ScenarioError(`disk ${name} is not there`);
    this.saved.set(disk, node.save(disk));
  }

  /** Only if the disk was stamped since: a disk that goes back by less can't be told from one whose agent was restarted. */
  async setBackDisk(name: string): Promise<void> {
    const disk = this.disk(name);
    const [node, saved] = [this.nodeWith(disk), this.saved.get(disk)];
    if (node === undefined || saved === undefined) throw new ScenarioError(`disk ${name} was not saved`);
    if (saved.stamp?.id === disk.stamp.held?.id)
      throw new ScenarioError(`disk ${name} has no other stamp than when it was saved`);
    this.requireSpares(disk, saved);
    node.kill();
    // Connections to its copies end before they are others.
    await this.world.advance(1);
    node.setBack(disk, saved);
    this.world.startNode(node.name);
  }

  /** A copy that did not exist yet disappears when the disk is set back: not if it is the last one of its volume. */
  private requireSpares({ id: diskId }: SimDisk, { copies }: SavedDisk): void {
    const { replicas } = this.world.store.tables;
    for (const replica of replicas.by('disk', diskId)) {
      const others = replicas.by('volume', replica.volumeId).filter((other) => other.diskId !== diskId);
      if (copies.some(({ replicaId }) => replicaId === replica.id) || others.some(isHealthy)) continue;
      throw new ScenarioError(`replica ${replica.id} would be lost, and is the last one of its volume`);
    }
  }

  nodeWith(disk: SimDisk): SimNode | undefined {
    return this.world.nodes.find(({ disks }) => disks.includes(disk));
  }

  /** @param on a node, or a disk as node/disk */
  async replica(volume: string, on: string): Promise<Replica> {
    const { replicas, fleet } = await this.client(volume).view();
    const names = namesOf(fleet);
    const there = replicas.filter(
      ({ nodeId, diskId, intent }) =>
        intent !== 'remove' && [names.node(nodeId), names.disk(diskId)].includes(on),
    );
    const [replica] = there;
    if (replica === undefined) throw new ScenarioError(`volume ${volume} has no replica on ${on}`);
    return replica;
  }

  /** The files of a replica. */
  copyOf(replica: Pick<Replica, 'id' | 'nodeId'>): SimCopy | undefined {
    return this.world.fleet.holderOf(replica)?.copies.get(replica.id);
  }

  /** Is there another copy that is full as far as the volume's record knows, with its files? */
  async hasSpare(volume: string, of: Replica): Promise<boolean> {
    const { volume: row, replicas } = await this.client(volume).view();
    const others = replicas.filter((other) => other.id !== of.id && isHealthy(other));
    return others.some((other) => {
      const { record, isKnownDamaged } = this.copyOf(other) ?? {};
      return record !== undefined && row.record?.members.includes(other.id) === true && !isKnownDamaged;
    });
  }

  async rebuild(volume: string): Promise<Rebuild> {
    const rebuild = (await this.client(volume).view()).rebuilds.find(isActiveRebuild);
    if (rebuild === undefined) throw new ScenarioError(`volume ${volume} has no rebuild that waits or runs`);
    return rebuild;
  }

  async snapshotId(volume: string, name: string): Promise<SnapshotId> {
    const snapshot = (await this.client(volume).view()).snapshots.find((one) => one.name === name);
    if (snapshot === undefined) throw new ScenarioError(`volume ${volume} has no snapshot ${name}`);
    return snapshot.id;
  }
}
