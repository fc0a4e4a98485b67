/**
 * Placement question: where one more replica of a volume would go; and the same question with one thing changed, on
 * which a cure is tried.
 */

import { asId, type DiskId, type NodeId } from '../../model/ids.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { Replica } from '../../model/replica.js';
import type { FleetView } from '../../model/views.js';
import type { CureChange } from '../framework/cure-change.js';
import { beginCycle, type PlacementCycle, type SchedulingProfile } from '../framework/framework.js';
import { isNodeSwitch, NODE_SWITCHES } from '../framework/node-switches.js';
import {
  type PlaceableVolume,
  type PlacementRequest,
  placementRequest,
} from '../framework/placement-request.js';
import { HOLDFAST_PROFILE } from '../placement/profile.js';
import { emptyDisk, emptyNode, isReadySince } from './new-hardware.js';

export type PlacementQuestion = {
  readonly volume: PlaceableVolume;
  /** The volume's other replicas. */
  readonly replicas: readonly Replica[];
  readonly fleet: FleetView;
  readonly now: Date;
  /** Whose scheduler is asked; left out: ours. */
  readonly profile?: SchedulingProfile;
  /** What that scheduler reads besides of an imported cluster. Asked anew with each change that is tried. */
  readonly refine?: (request: PlacementRequest, question: PlacementQuestion) => PlacementRequest;
};

/** Hardware that does not exist yet. Ids are UUIDs, so that no real one is spelled like these. */
export const NEW_NODE_ID = asId<NodeId>('new-node');
export const NEW_DISK_ID = asId<DiskId>('new-disk');

export function cycleOf(question: PlacementQuestion): PlacementCycle {
  const { volume, replicas, fleet, now, profile = HOLDFAST_PROFILE, refine } = question;
  const request = placementRequest(volume, replicas, fleet);
  return beginCycle(refine === undefined ? request : refine(request, question), fleet, profile, now);
}

export function withChanges(question: PlacementQuestion, changes: readonly CureChange[]): PlacementQuestion {
  return changes.reduce(withChange, question);
}

function withChange(question: PlacementQuestion, change: CureChange): PlacementQuestion {
  if (isNodeSwitch(change)) return onNode(question, change.nodeId, () => NODE_SWITCHES[change.kind].undone);
  switch (change.kind) {
    case 'wait-until':
      return { ...question, now: new Date(change.at) };
    case 'start-agent':
      return onNode(question, change.nodeId, ({ controlUrl }) => ({
        conditions: [isReadySince(question.now)],
        controlUrl: controlUrl ?? 'started',
      }));
    case 'tag-node':
      return onNode(question, change.nodeId, ({ tags }) => ({ tags: [...tags, ...change.tags] }));
    case 'repair-disk':
      return onDisk(question, change.diskId, () => ({ conditions: [isReadySince(question.now)] }));
    case 'enable-disk-scheduling':
      return onDisk(question, change.diskId, () => ({ allowScheduling: true }));
    case 'cancel-disk-eviction':
      return onDisk(question, change.diskId, () => ({ evictionRequested: false }));
    case 'tag-disk':
      return onDisk(question, change.diskId, ({ tags }) => ({ tags: [...tags, ...change.tags] }));
    case 'free-space':
      return onDisk(question, change.diskId, (disk) => ({
        storageAvailableBytes: disk.storageAvailableBytes + change.freeBytes,
        storageScheduledBytes: disk.storageScheduledBytes - change.releaseBytes,
      }));
    case 'lower-reserve':
      return onDisk(question, change.diskId, () => ({ storageReservedBytes: change.toBytes }));
    case 'remove-selector-tags':
      return onSpec(question, {
        [change.selector]: question.volume.spec[change.selector].filter((tag) => !change.tags.includes(tag)),
      });
    case 'add-selector-tags':
      return onSpec(question, {
        [change.selector]: [...question.volume.spec[change.selector], ...change.tags],
      });
    case 'set-override':
      return onSpec(question, { [change.field]: change.to });
    case 'set-setting': {
      const settings = { ...question.fleet.settings, [change.setting]: change.to };
      return { ...question, fleet: { ...question.fleet, settings } };
    }
    case 'add-disk':
      return withHardware(question, undefined, newDisk(change.nodeId, change));
    case 'add-node':
      return withHardware(question, newNode(question, change), newDisk(NEW_NODE_ID, change));
  }
}

function onNode(
  question: PlacementQuestion,
  id: NodeId,
  part: (node: StorageNode) => Partial<StorageNode>,
): PlacementQuestion {
  const nodes = question.fleet.nodes.map((node) => (node.id === id ? { ...node, ...part(node) } : node));
  return { ...question, fleet: { ...question.fleet, nodes } };
}

function onDisk(
  question: PlacementQuestion,
  id: DiskId,
  part: (disk: StorageDisk) => Partial<StorageDisk>,
): PlacementQuestion {
  const disks = question.fleet.disks.map((disk) => (disk.id === id ? { ...disk, ...part(disk) } : disk));
  return { ...question, fleet: { ...question.fleet, disks } };
}

function onSpec(question: PlacementQuestion, part: Partial<PlaceableVolume['spec']>): PlacementQuestion {
  return { ...question, volume: { ...question.volume, spec: { ...question.volume.spec, ...part } } };
}

function withHardware(
  question: PlacementQuestion,
  node: StorageNode | undefined,
  disk: StorageDisk,
): PlacementQuestion {
  const { fleet } = question;
  const nodes = node === undefined ? fleet.nodes : [...fleet.nodes, node];
  return { ...question, fleet: { ...fleet, nodes, disks: [...fleet.disks, disk] } };
}

function newNode(
  question: PlacementQuestion,
  change: Extract<CureChange, { kind: 'add-node' }>,
): StorageNode {
  return emptyNode({
    id: NEW_NODE_ID,
    clusterId: question.fleet.clusterId,
    name: 'new-node',
    zone: change.zone ?? worstZone(question),
    tags: change.tags,
    now: question.now,
  });
}

/**
 * Of the volume's own zones one, if it has any: a node that helps there helps anywhere. Which one makes no difference,
 * but the same answer must come of the same fleet in another order.
 */
function worstZone({ replicas, fleet }: PlacementQuestion): string | undefined {
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
