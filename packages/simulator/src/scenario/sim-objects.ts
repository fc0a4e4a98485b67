/** Objects of a simulated scenario by the names that its file calls them. */
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import type { DiskId, NodeId, SnapshotId, VolumeId } from '@holdfast/core/model/ids.js';
import { isActiveRebuild, type Rebuild } from '@holdfast/core/model/rebuild.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import { ScenarioError } from '@holdfast/scenario/driver.js';
import type { NewVolume } from '@holdfast/scenario/given.js';
import { SimClient } from '../sim-client.js';
import type { SimDisk } from '../sim-disk.js';
import type { SimNode } from '../sim-node.js';
import type { World } from '../world.js';
import { namesOf } from './sim-facts.js';

export class SimObjects {
  private readonly clientsByName = new Map<string, SimClient>();
  private readonly namesById = new Map<string, string>();

  constructor(readonly world: World) {}

  async create({ size, ...spec }: NewVolume): Promise<SimClient> {
    const { organizationId, projectId, clusterId, useCases } = this.world;
    const owner = { organizationId, projectId, clusterId };
    const { volumeId } = await createVolume(useCases, { ...owner, ...spec, sizeBytes: size });
    const client = new SimClient(this.world, volumeId);
    this.clientsByName.set(spec.name, client);
    this.namesById.set(volumeId, spec.name);
    return client;
  }

  clients(): SimClient[] {
    return [...this.clientsByName.values()];
  }

  client(volume: string): SimClient {
    const client = this.clientsByName.get(volume);
    if (client === undefined) throw new ScenarioError(`there is no volume ${volume} yet`);
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
    const disk = this.node(nodeName).disks.find((one) => one.name === diskName);
    if (disk === undefined) throw new ScenarioError(`there is no disk ${name} yet`);
    return disk;
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
