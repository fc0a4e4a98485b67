/** The GraphQL API: the same reads as REST, and what can be done with volumes and rebuilds, over the same services. */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { findCluster, listClusters } from '@holdfast/database/queries/clusters.js';
import { listEvents } from '@holdfast/database/queries/events.js';
import type { Page } from '@holdfast/database/queries/list-rows.js';
import { findNode, listDisks, listNodes } from '@holdfast/database/queries/nodes.js';
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLID,
  type GraphQLInputType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLSchema,
} from 'graphql';
import { z } from 'zod';
import { assertAllowed } from '../auth/authenticator.js';
import type { Action } from '../auth/permissions.js';
import { ClusterPath, clusterSchema } from '../clusters/cluster.schemas.js';
import { clusterView } from '../clusters/cluster.view.js';
import { clusterNotFound, requireCluster } from '../clusters/require-cluster.js';
import { eventSchema, eventView } from '../events/event.schemas.js';
import { diskSchema, NodePath, nodeSchema } from '../nodes/node.schemas.js';
import { diskView, nodeView } from '../nodes/node.view.js';
import type { ListQuery } from '../platform/schemas.js';
import type { Tenant } from '../platform/tenant.js';
import { bodyPointer, invalidRequest } from '../platform/validation.pipe.js';
import { RebuildPath, rebuildSchema } from '../rebuilds/rebuild.schemas.js';
import type { RebuildsService } from '../rebuilds/rebuilds.service.js';
import {
  AttachBody,
  CreateVolumeBody,
  DetachBody,
  PatchVolumeBody,
  VolumePath,
  verificationSchema,
  volumeSchema,
} from '../volumes/volume.schemas.js';
import { verificationView, volumeView } from '../volumes/volume.view.js';
import type { VolumesService } from '../volumes/volumes.service.js';
import { CONNECTION_ARGUMENTS, connectionOf, connectionType, listRequestOf } from './connection.js';
import { GraphqlTypes } from './zod-to-graphql.js';

/** What every resolver gets: made by the plugin once per request, after the sign-in was checked. */
export type GraphqlContext = { tenant: Tenant };
export type GraphqlServices = { volumes: VolumesService; rebuilds: RebuildsService };

type Field = GraphQLFieldConfig<unknown, GraphqlContext>;
type Fields = Record<string, Field>;

export function graphqlSchema({ volumes, rebuilds }: GraphqlServices): GraphQLSchema {
  const types = new GraphqlTypes();
  const volume = types.object(volumeSchema);
  const rebuild = types.object(rebuildSchema);
  return new GraphQLSchema({
    query: new GraphQLObjectType<unknown, GraphqlContext>({
      name: 'Query',
      fields: {
        ...clusterQueries(types),
        ...nodeQueries(types),
        ...volumeQueries(volume, volumes),
        ...rebuildQueries(rebuild, rebuilds),
      },
    }),
    mutation: new GraphQLObjectType<unknown, GraphqlContext>({
      name: 'Mutation',
      fields: { ...volumeMutations(types, volume, volumes), ...rebuildMutations(rebuild, rebuilds) },
    }),
  });
}

/** One field: who may ask, the arguments' schema, and what it does. */
function field<Schema extends z.ZodType>(
  type: GraphQLOutputType,
  options: {
    access: Action;
    args: GraphQLFieldConfigArgumentMap;
    schema: Schema;
    resolve: (tenant: Tenant, args: z.output<Schema>) => unknown;
  },
): Field {
  return {
    type: new GraphQLNonNull(type),
    args: options.args,
    resolve(_source, given, { tenant }) {
      assertAllowed(tenant, options.access);
      const parsed = options.schema.safeParse(given);
      if (!parsed.success) throw invalidRequest(parsed.error.issues, bodyPointer);
      return options.resolve(tenant, parsed.data);
    },
  };
}

/** A list of a cluster's things, as a connection. */
function listField<Item>(
  node: GraphQLObjectType,
  options: {
    access: Action;
    list: (tenant: Tenant, path: ClusterPath, request: ListQuery) => Promise<Page<Item>>;
    view: (item: Item, tenant: Tenant) => unknown;
  },
): Field {
  return {
    type: new GraphQLNonNull(connectionType(node)),
    args: { ...ids('clusterId'), ...CONNECTION_ARGUMENTS },
    async resolve(_source, given, { tenant }) {
      assertAllowed(tenant, options.access);
      const path = ClusterPath.schema.safeParse(given);
      if (!path.success) throw nothingThere();
      const request = listRequestOf(given);
      const page = await options.list(tenant, path.data, request);
      return connectionOf(page, request.cursor, (item) => options.view(item, tenant));
    },
  };
}

function ids(...names: string[]): GraphQLFieldConfigArgumentMap {
  return Object.fromEntries(names.map((name) => [name, { type: new GraphQLNonNull(GraphQLID) }]));
}

function withInput(input: GraphQLInputType, ...names: string[]): GraphQLFieldConfigArgumentMap {
  return { ...ids(...names), input: { type: new GraphQLNonNull(input) } };
}

function nothingThere(): StorageFault {
  return new StorageFault('request.not_found', { publicMessage: 'there is nothing under this id' });
}

function clusterQueries(types: GraphqlTypes): Fields {
  const cluster = types.object(clusterSchema);
  return {
    clusters: {
      type: new GraphQLNonNull(connectionType(cluster)),
      args: CONNECTION_ARGUMENTS,
      async resolve(_source, given, { tenant }) {
        assertAllowed(tenant, 'cluster:read');
        const request = listRequestOf(given);
        const page = await tenant.read((sql) => listClusters(sql, request));
        return connectionOf(page, request.cursor, clusterView);
      },
    },
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
    disks: listField(types.object(diskSchema), {
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

function volumeQueries(volume: GraphQLObjectType, volumes: VolumesService): Fields {
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
