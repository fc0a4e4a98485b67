import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, NodeId } from '@holdfast/core/model/ids.js';
import { findNode, type NodeWithStorage } from '@holdfast/database/queries/nodes.js';
import type { Tenant } from '../../access/tenant.js';

export type NodeAddress = { clusterId: ClusterId; nodeId: NodeId };

/** @throws StorageFault `node.not_found` */
export async function readNode(tenant: Tenant, address: NodeAddress): Promise<NodeWithStorage> {
  const found = await tenant.read((sql) => findNode(sql, address));
  if (found === undefined) throw nodeNotFound(address);
  return found;
}

export function nodeNotFound({ nodeId }: NodeAddress): StorageFault {
  return new StorageFault('node.not_found', { publicMessage: `there is no node ${nodeId}` });
}
