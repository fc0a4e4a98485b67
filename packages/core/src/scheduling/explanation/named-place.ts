import type { NodeId } from '../../model/ids.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { NamedPlace } from './explanation.js';

/** @param nodesById holds the disk's node; an unknown one is named by its id */
export function namedPlace(
  disk: Pick<StorageDisk, 'id' | 'name' | 'nodeId'>,
  nodesById: ReadonlyMap<NodeId, StorageNode>,
): NamedPlace {
  const node = nodesById.get(disk.nodeId);
  return {
    nodeId: disk.nodeId,
    nodeName: node?.name ?? disk.nodeId,
    zone: node?.zone ?? null,
    diskId: disk.id,
    diskName: disk.name,
  };
}

/** `disk d of node n in zone z` */
export function placeInWords({ diskName, nodeName, zone }: Omit<NamedPlace, 'nodeId' | 'diskId'>): string {
  return `disk ${diskName} of node ${nodeName}${zone === null ? '' : ` in zone ${zone}`}`;
}
