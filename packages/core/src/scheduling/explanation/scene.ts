/** A placement question, and the same question with one thing changed: what every cure is tried on. */

import type { FleetView } from '../../lifecycle/views.js';
import { asId, type DiskId, type NodeId } from '../../model/ids.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { Replica } from '../../model/replica.js';
import { beginCycle, type PlacementCycle } from '../framework.js';
import { type PlaceableVolume, placementRequest } from '../plan-placements.js';
import { HOLDFAST_PROFILE } from '../profile.js';
import type { CureChange } from './cure-change.js';
import { emptyDisk, emptyNode, isReadySince } from './new-hardware.js';

export type Scene = {
  readonly volume: PlaceableVolume;
  /** The volume's other replicas. */
  readonly replicas: readonly Replica[];
  readonly fleet: FleetView;
  readonly now: Date;
};

/** Hardware that does not exist yet. Ids are UUIDs, so that no real one is spelled like these. */
export const NEW_NODE_ID = asId<NodeId>('new-node');
export const NEW_DISK_ID = asId<DiskId>('new-disk');

export function cycleOf({ volume, replicas, fleet, now }: Scene): PlacementCycle {
  return beginCycle(placementRequest(volume, replicas, fleet), fleet, HOLDFAST_PROFILE, now);
}

export function withChanges(scene: Scene, changes: readonly CureChange[]): Scene {
  return changes.reduce(withChange, scene);
}

function withChange(scene: Scene, change: CureChange): Scene {
  switch (change.kind) {
    case 'wait-until':
      return { ...scene, now: new Date(change.at) };
    case 'start-agent':
      return onNode(scene, change.nodeId, ({ controlUrl }) => ({
        conditions: [isReadySince(scene.now)],
        controlUrl: controlUrl ?? 'started',
      }));
    case 'uncordon-node':
      return onNode(scene, change.nodeId, () => ({ cordoned: false }));
    case 'enable-node-scheduling':
      return onNode(scene, change.nodeId, () => ({ allowScheduling: true }));
    case 'cancel-node-eviction':
      return onNode(scene, change.nodeId, () => ({ evictionRequested: false }));
    case 'tag-node':
      return onNode(scene, change.nodeId, ({ tags }) => ({ tags: [...tags, ...change.tags] }));
    case 'repair-disk':
      return onDisk(scene, change.diskId, () => ({ conditions: [isReadySince(scene.now)] }));
    case 'enable-disk-scheduling':
      return onDisk(scene, change.diskId, () => ({ allowScheduling: true }));
    case 'cancel-disk-eviction':
      return onDisk(scene, change.diskId, () => ({ evictionRequested: false }));
    case 'tag-disk':
      return onDisk(scene, change.diskId, ({ tags }) => ({ tags: [...tags, ...change.tags] }));
    case 'free-space':
      return onDisk(scene, change.diskId, (disk) => ({
        storageAvailableBytes: disk.storageAvailableBytes + change.freeBytes,
        storageScheduledBytes: disk.storageScheduledBytes - change.releaseBytes,
      }));
    case 'lower-reserve':
      return onDisk(scene, change.diskId, () => ({ storageReservedBytes: change.toBytes }));
    case 'remove-selector-tags':
      return onSpec(scene, {
        [change.selector]: scene.volume.spec[change.selector].filter((tag) => !change.tags.includes(tag)),
      });
    case 'add-selector-tags':
      return onSpec(scene, { [change.selector]: [...scene.volume.spec[change.selector], ...change.tags] });
    case 'set-override':
      return onSpec(scene, { [change.field]: change.to });
    case 'set-setting': {
      const settings = { ...scene.fleet.settings, [change.setting]: change.to };
      return { ...scene, fleet: { ...scene.fleet, settings } };
    }
    case 'add-disk':
      return withHardware(scene, undefined, newDisk(change.nodeId, change));
    case 'add-node':
      return withHardware(scene, newNode(scene, change), newDisk(NEW_NODE_ID, change));
  }
}

function onNode(scene: Scene, id: NodeId, part: (node: StorageNode) => Partial<StorageNode>): Scene {
  const nodes = scene.fleet.nodes.map((node) => (node.id === id ? { ...node, ...part(node) } : node));
  return { ...scene, fleet: { ...scene.fleet, nodes } };
}

function onDisk(scene: Scene, id: DiskId, part: (disk: StorageDisk) => Partial<StorageDisk>): Scene {
  const disks = scene.fleet.disks.map((disk) => (disk.id === id ? { ...disk, ...part(disk) } : disk));
  return { ...scene, fleet: { ...scene.fleet, disks } };
}

function onSpec(scene: Scene, part: Partial<PlaceableVolume['spec']>): Scene {
  return { ...scene, volume: { ...scene.volume, spec: { ...scene.volume.spec, ...part } } };
}

function withHardware(scene: Scene, node: StorageNode | undefined, disk: StorageDisk): Scene {
  const { fleet } = scene;
  const nodes = node === undefined ? fleet.nodes : [...fleet.nodes, node];
  return { ...scene, fleet: { ...fleet, nodes, disks: [...fleet.disks, disk] } };
}

function newNode(scene: Scene, change: Extract<CureChange, { kind: 'add-node' }>): StorageNode {
  return emptyNode({
    id: NEW_NODE_ID,
    clusterId: scene.fleet.clusterId,
    name: 'new-node',
    zone: change.zone ?? worstZone(scene),
    tags: change.tags,
    now: scene.now,
  });
}

/**
 * Of the volume's own zones one, if it has any: a node that helps there helps anywhere. Which one makes no difference,
 * but the same answer must come of the same fleet in another order.
 */
function worstZone({ replicas, fleet }: Scene): string | undefined {
  const holders = fleet.nodes.filter(({ id }) => replicas.some(({ nodeId }) => nodeId === id));
  const zones = (holders.length > 0 ? holders : fleet.nodes).map(({ zone }) => zone ?? '');
  const [first = ''] = [...zones].sort();
  return first === '' ? undefined : first;
}

function newDisk(
  nodeId: NodeId,
  { diskType, diskTags, bytes }: Extract<CureChange, { kind: 'add-disk' | 'add-node' }>,
): StorageDisk {
  return emptyDisk({
    id: NEW_DISK_ID,
    nodeId,
    name: 'new-disk',
    type: diskType,
    tags: diskTags,
    bytes,
    reservedBytes: 0,
    now: new Date(0),
  });
}
