/** Fields that lead from one object to others: from a cluster to its volumes, from a copy to its node and disk. */
import type { ClusterId, DiskId, NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import { asId, isId } from '@holdfast/core/model/ids.js';
import type { GraphQLObjectType } from 'graphql';
import type { ListQuery } from '../http/schemas.js';
import { clusterSchema } from '../resources/clusters/cluster.schemas.js';
import { diskSchema, nodeSchema } from '../resources/nodes/node.schemas.js';
import { snapshotSchema } from '../resources/snapshots/snapshot.schemas.js';
import { volumeSchema } from '../resources/volumes/volume.schemas.js';
import { CONNECTION_ARGUMENTS, connectionType, listRequestOf } from './connection.js';
import type { Field } from './fields.js';
import type { Loaders } from './loaders.js';
import type { GraphqlTypes } from './zod-to-graphql.js';

/** Adds the fields to types made from schemas, which refer to their neighbours by ids only. */
export function addEdges(types: GraphqlTypes): void {
  const cluster = types.object(clusterSchema);
  const node = types.object(nodeSchema);
  const disk = types.object(diskSchema);
  const volume = types.object(volumeSchema);
  const ofCluster = one(cluster, 'clusterId', (loaders, id) => loaders.cluster.load(asId<ClusterId>(id)));
  const ofVolume = one(volume, 'volumeId', (loaders, id) => loaders.volume.load(asId<VolumeId>(id)));
  const nodeBy = (name: string) => one(node, name, (loaders, id) => loaders.node.load(asId<NodeId>(id)));
  const diskBy = (name: string) => one(disk, name, (loaders, id) => loaders.disk.load(asId<DiskId>(id)));

  types.extend('Cluster', {
    nodesConnection: list(node, (loaders, request, { id }) =>
      loaders.nodesOf.load({ owner: asId<ClusterId>(id), request }),
    ),
    disksConnection: list(disk, (loaders, request, { id }) =>
      loaders.disksOf.load({ owner: { clusterId: asId<ClusterId>(id) }, request }),
    ),
    volumesConnection: list(volume, (loaders, request, { id }) =>
      loaders.volumesOf.load({ owner: asId<ClusterId>(id), request }),
    ),
  });
  types.extend('StorageNode', {
    cluster: ofCluster,
    disksConnection: list(disk, (loaders, request, { id, clusterId }) =>
      loaders.disksOf.load({
        owner: { clusterId: asId<ClusterId>(clusterId), nodeId: asId<NodeId>(id) },
        request,
      }),
    ),
  });
  types.extend('Disk', { node: nodeBy('nodeId') });
  types.extend('Volume', {
    cluster: ofCluster,
    attachedNode: nodeBy('attachedNodeId'),
    snapshotsConnection: list(types.object(snapshotSchema), (loaders, request, { id, clusterId }) =>
      loaders.snapshotsOf.load({
        owner: { clusterId: asId<ClusterId>(clusterId), volumeId: asId<VolumeId>(id) },
        request,
      }),
    ),
  });
  types.extend('Replica', { volume: ofVolume, node: nodeBy('nodeId'), disk: diskBy('diskId') });
  types.extend('Snapshot', { volume: ofVolume });
  types.extend('Rebuild', { cluster: ofCluster, volume: ofVolume, targetNode: nodeBy('targetNodeId') });
  types.extend('Event', { cluster: ofCluster, volume: ofVolume });
  types.extend('Operation', { cluster: ofCluster, volume: ofVolume, node: nodeBy('nodeId') });
  types.extend('Alert', { cluster: ofCluster });
}

/** The object that a field names; null: it names none, or one that the caller does not see. */
function one(
  type: GraphQLObjectType,
  idField: string,
  load: (loaders: Loaders, id: string) => Promise<unknown>,
): Field {
  return {
    type,
    description: `The object of \`${idField}\`; null: there is none, or it is not the caller's to see.`,
    resolve(source, _given, { loaders }) {
      const id = partOf(source, idField);
      return isId(id) ? load(loaders, id) : null;
    },
  };
}

type Owner = { readonly id: string; readonly clusterId: string };

/** A list of an object's parts. Null: the caller's role does not allow it. */
function list(
  type: GraphQLObjectType,
  load: (loaders: Loaders, request: ListQuery, owner: Owner) => Promise<unknown>,
): Field {
  return {
    type: connectionType(type),
    args: CONNECTION_ARGUMENTS,
    resolve: (source, given, { loaders }) =>
      load(loaders, listRequestOf(given), {
        id: partOf(source, 'id'),
        clusterId: partOf(source, 'clusterId'),
      }),
  };
}

/** A text of the field's object; empty: none. */
function partOf(source: unknown, name: string): string {
  const value: unknown =
    typeof source === 'object' && source !== null ? Reflect.get(source, name) : undefined;
  return typeof value === 'string' ? value : '';
}
