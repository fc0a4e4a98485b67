/** The GraphQL API: the same reads as REST, and what can be done with volumes and rebuilds, over the same services. */
import { findCluster, listClusters } from '@holdfast/database/queries/clusters.js';
import { listEvents } from '@holdfast/database/queries/events.js';
import { findDisk, findNode, listDisks, listNodes } from '@holdfast/database/queries/nodes.js';
import { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { z } from 'zod';
import { ClusterPath, clusterSchema } from '../clusters/cluster.schemas.js';
import { clusterView } from '../clusters/cluster.view.js';
import { clusterNotFound, requireCluster } from '../clusters/require-cluster.js';
import { eventSchema, eventView } from '../events/event.schemas.js';
import { DiskPath, diskSchema, NodePath, nodeSchema } from '../nodes/node.schemas.js';
import { diskView, nodeView } from '../nodes/node.view.js';
import type { PlacementsService } from '../placements/placements.service.js';
import { SimulateBody, simulationSchema } from '../placements/simulation.schemas.js';
import { RebuildPath, rebuildSchema } from '../rebuilds/rebuild.schemas.js';
import type { RebuildsService } from '../rebuilds/rebuilds.service.js';
import { SnapshotPath, snapshotSchema } from '../snapshots/snapshot.schemas.js';
import type { SnapshotsService } from '../snapshots/snapshots.service.js';
import {
  AttachBody,
  CreateVolumeBody,
  DetachBody,
  explanationSchema,
  PatchVolumeBody,
  VolumePath,
  verificationSchema,
  volumeSchema,
} from '../volumes/volume.schemas.js';
import { verificationView, volumeView } from '../volumes/volume.view.js';
import type { VolumesService } from '../volumes/volumes.service.js';
import {
  type Fields,
  field,
  type GraphqlContext,
  ids,
  listField,
  nothingThere,
  tenantListField,
  volumeListField,
  withInput,
} from './fields.js';
import { settingQueries, tenancyQueries } from './tenancy-queries.js';
import { GraphqlTypes } from './zod-to-graphql.js';

export type GraphqlServices = {
  volumes: VolumesService;
  rebuilds: RebuildsService;
  placements: PlacementsService;
  snapshots: SnapshotsService;
};

export function graphqlSchema({ volumes, rebuilds, placements, snapshots }: GraphqlServices): GraphQLSchema {
  const types = new GraphqlTypes();
  const volume = types.object(volumeSchema);
  const rebuild = types.object(rebuildSchema);
  return new GraphQLSchema({
    query: new GraphQLObjectType<unknown, GraphqlContext>({
      name: 'Query',
      fields: {
        ...tenancyQueries(types),
        ...clusterQueries(types),
        ...settingQueries(types),
        ...nodeQueries(types),
        ...volumeQueries(types, volume, volumes),
        ...rebuildQueries(rebuild, rebuilds),
        ...placementQueries(types, placements),
        ...snapshotQueries(types, snapshots),
      },
    }),
    mutation: new GraphQLObjectType<unknown, GraphqlContext>({
      name: 'Mutation',
      fields: { ...volumeMutations(types, volume, volumes), ...rebuildMutations(rebuild, rebuilds) },
    }),
  });
}

function clusterQueries(types: GraphqlTypes): Fields {
  const cluster = types.object(clusterSchema);
  return {
    clusters: tenantListField(cluster, {
      access: 'cluster:read',
      list: (tenant, request) => tenant.read((sql) => listClusters(sql, request)),
      view: clusterView,
    }),
    cluster: field(cluster, {
      access: 'cluster:read',
      args: ids('clusterId'),
      schema: ClusterPath.schema,
      resolve: async (tenant, { clusterId }) => {
        const found = await tenant.read((sql) => findCluster(sql, clusterId));
        if (found === undefined) throw clusterNotFound(clusterId);
        return clusterView(found);
      },
    }),
    events: listField(types.object(eventSchema), {
      access: 'event:read',
      list: (tenant, { clusterId }, request) =>
        tenant.read(async (sql) => {
          await requireCluster(sql, clusterId);
          return listEvents(sql, clusterId, request);
        }),
      view: eventView,
    }),
  };
}

function nodeQueries(types: GraphqlTypes): Fields {
  const node = types.object(nodeSchema);
  const disk = types.object(diskSchema);
  return {
    nodes: listField(node, {
      access: 'node:read',
      list: (tenant, { clusterId }, request) =>
        tenant.read(async (sql) => {
          await requireCluster(sql, clusterId);
          return listNodes(sql, clusterId, request);
        }),
      view: nodeView,
    }),
    node: field(node, {
      access: 'node:read',
      args: ids('clusterId', 'nodeId'),
      schema: NodePath.schema,
      resolve: async (tenant, path) => {
        const found = await tenant.read((sql) => findNode(sql, path));
        if (found === undefined) throw nothingThere();
        return nodeView(found);
      },
    }),
    disk: field(disk, {
      access: 'node:read',
      args: ids('clusterId', 'nodeId', 'diskId'),
      schema: DiskPath.schema,
      resolve: async (tenant, path) => {
        const found = await tenant.read((sql) => findDisk(sql, path));
        if (found === undefined) throw nothingThere();
        return diskView(found);
      },
    }),
    disks: listField(disk, {
      access: 'node:read',
      list: (tenant, { clusterId }, request) =>
        tenant.read(async (sql) => {
          await requireCluster(sql, clusterId);
          return listDisks(sql, { clusterId }, request);
        }),
      view: diskView,
    }),
  };
}

function volumeQueries(types: GraphqlTypes, volume: GraphQLObjectType, volumes: VolumesService): Fields {
  return {
    volumes: listField(volume, {
      access: 'volume:read',
      list: (tenant, { clusterId }, request) => volumes.list(tenant, clusterId, request),
      view: (item, tenant) => volumeView(item, tenant.actor.role),
    }),
    volume: field(volume, {
      access: 'volume:read',
      args: ids('clusterId', 'volumeId'),
      schema: VolumePath.schema,
      resolve: async (tenant, path) => volumeView(await volumes.get(tenant, path), tenant.actor.role),
    }),
    explainVolume: field(types.object(explanationSchema), {
      access: 'volume:read',
      args: ids('clusterId', 'volumeId'),
      schema: VolumePath.schema,
      resolve: (tenant, path) => volumes.explain(tenant, path),
    }),
  };
}

function rebuildQueries(rebuild: GraphQLObjectType, rebuilds: RebuildsService): Fields {
  return {
    rebuilds: listField(rebuild, {
      access: 'rebuild:read',
      list: (tenant, { clusterId }, request) => rebuilds.list(tenant, clusterId, request),
      view: (view) => view,
    }),
    rebuild: field(rebuild, {
      access: 'rebuild:read',
      args: ids('clusterId', 'rebuildId'),
      schema: RebuildPath.schema,
      resolve: (tenant, path) => rebuilds.get(tenant, path),
    }),
  };
}

function snapshotQueries(types: GraphqlTypes, snapshots: SnapshotsService): Fields {
  const snapshot = types.object(snapshotSchema);
  return {
    snapshots: volumeListField(snapshot, {
      access: 'volume:read',
      list: (tenant, path, request) => snapshots.list(tenant, path, request),
      view: (view) => view,
    }),
    snapshot: field(snapshot, {
      access: 'volume:read',
      args: ids('clusterId', 'volumeId', 'snapshotId'),
      schema: SnapshotPath.schema,
      resolve: (tenant, path) => snapshots.get(tenant, path),
    }),
  };
}

function placementQueries(types: GraphqlTypes, placements: PlacementsService): Fields {
  return {
    simulatePlacements: field(types.object(simulationSchema), {
      access: 'placement:simulate',
      args: withInput(types.input(SimulateBody.schema, 'SimulateInput'), 'clusterId'),
      schema: z.object({ ...ClusterPath.schema.shape, input: SimulateBody.schema }),
      resolve: (tenant, { clusterId, input }) => placements.simulate(tenant, clusterId, input),
    }),
  };
}

function volumeMutations(types: GraphqlTypes, volume: GraphQLObjectType, volumes: VolumesService): Fields {
  const write = 'volume:write' as const;
  const path = VolumePath.schema.shape;
  return {
    createVolume: field(volume, {
      access: write,
      args: withInput(types.input(CreateVolumeBody.schema, 'CreateVolumeInput'), 'clusterId'),
      schema: z.object({ ...ClusterPath.schema.shape, input: CreateVolumeBody.schema }),
      resolve: async (tenant, { clusterId, input }) =>
        volumeView(await volumes.create(tenant, clusterId, input), tenant.actor.role),
    }),
    patchVolume: field(volume, {
      access: write,
      args: withInput(types.input(PatchVolumeBody.schema, 'PatchVolumeInput'), 'clusterId', 'volumeId'),
      schema: z.object({ ...path, input: PatchVolumeBody.schema }),
      resolve: async (tenant, { input, ...key }) =>
        volumeView(await volumes.patch(tenant, key, input, undefined), tenant.actor.role),
    }),
    deleteVolume: field(volume, {
      access: write,
      args: ids('clusterId', 'volumeId'),
      schema: VolumePath.schema,
      resolve: async (tenant, key) =>
        volumeView(await volumes.delete(tenant, key, undefined), tenant.actor.role),
    }),
    attachVolume: field(volume, {
      access: write,
      args: withInput(types.input(AttachBody.schema, 'AttachVolumeInput'), 'clusterId', 'volumeId'),
      schema: z.object({ ...path, input: AttachBody.schema }),
      resolve: async (tenant, { input, ...key }) =>
        volumeView(
          await volumes.attach(tenant, key, input.nodeId ?? undefined, undefined),
          tenant.actor.role,
        ),
    }),
    detachVolume: field(volume, {
      access: write,
      args: withInput(types.input(DetachBody.schema, 'DetachVolumeInput'), 'clusterId', 'volumeId'),
      schema: z.object({ ...path, input: DetachBody.schema }),
      resolve: async (tenant, { input, ...key }) =>
        volumeView(await volumes.detach(tenant, key, input.force, undefined), tenant.actor.role),
    }),
    verifyVolume: field(types.object(verificationSchema), {
      access: write,
      args: ids('clusterId', 'volumeId'),
      schema: VolumePath.schema,
      resolve: async (tenant, key) => verificationView(await volumes.verify(tenant, key, () => true)),
    }),
  };
}

function rebuildMutations(rebuild: GraphQLObjectType, rebuilds: RebuildsService): Fields {
  return {
    cancelRebuild: field(rebuild, {
      access: 'rebuild:write',
      args: ids('clusterId', 'rebuildId'),
      schema: RebuildPath.schema,
      resolve: (tenant, key) => rebuilds.cancel(tenant, key),
    }),
  };
}
