/** Nodes and disks that a what-if adds. New things have their names for ids: real ids are UUIDs, so the two can't meet. */

import { asId, type DiskId, type NodeId } from '../../model/ids.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { FleetView } from '../../model/views.js';
import { emptyDisk, emptyNode } from '../explanation/new-hardware.js';
import { invalid } from './check-request.js';
import type { AddedDisk, AddedNode, DisksForNode } from './simulation.js';

type Added = { readonly node: StorageNode; readonly disks: readonly StorageDisk[] };

/**
 * @param fleet as it is, what is to be lost included: a name stands for one node only
 * @throws StorageFault `request.invalid` for a name that is taken
 */
export function addedNodes(wanted: readonly AddedNode[], fleet: FleetView, now: Date): Added[] {
  const taken = new Set(fleet.nodes.flatMap(({ id, name }): string[] => [id, name]));
  return wanted.flatMap((node, index) =>
    Array.from({ length: node.count ?? 1 }, (_, number) => {
      const name = number === 0 ? node.name : `${node.name}-${number + 1}`;
      if (taken.has(name)) {
        throw invalid([{ pointer: `/add/nodes/${index}/name`, detail: `is taken: ${name}` }]);
      }
      taken.add(name);
      return addedNode(name, node, fleet, now);
    }),
  );
}

function addedNode(name: string, { zone, tags = [], disks }: AddedNode, fleet: FleetView, now: Date): Added {
  const node = emptyNode({ id: asId<NodeId>(name), clusterId: fleet.clusterId, name, zone, tags, now });
  return { node, disks: disks.map((disk, index) => addedDisk(node, `disk-${index + 1}`, disk, now)) };
}

/**
 * @param fleet without what is lost: a lost node takes no disks
 * @throws StorageFault `request.invalid` for a node that is not there
 */
export function addedDisks(wanted: readonly DisksForNode[], fleet: FleetView, now: Date): StorageDisk[] {
  const taken = new Set(fleet.disks.map(({ nodeId, name }) => `${nodeId}/${name}`));
  return wanted.flatMap(({ node: nodeName, count = 1, ...disk }, index) => {
    const node = fleet.nodes.find(({ id, name }) => id === nodeName || name === nodeName);
    if (node === undefined) {
      throw invalid([
        { pointer: `/add/disks/${index}/node`, detail: `names no node that is left: ${nodeName}` },
      ]);
    }
    return Array.from({ length: count }, () => addedDisk(node, freeName(node, taken), disk, now));
  });
}

/** Ends after as many names as the node has disks. */
function freeName({ id }: StorageNode, taken: Set<string>): string {
  let number = 1;
  while (taken.has(`${id}/new-disk-${number}`)) number += 1;
  taken.add(`${id}/new-disk-${number}`);
  return `new-disk-${number}`;
}

function addedDisk(node: StorageNode, name: string, disk: AddedDisk, now: Date): StorageDisk {
  const { sizeBytes, type = 'filesystem', tags = [], reservedBytes = 0 } = disk;
  const id = asId<DiskId>(`${node.name}/${name}`);
  return emptyDisk({ id, nodeId: node.id, name, type, tags, bytes: sizeBytes, reservedBytes, now });
}
