/** The GraphQL API: the same reads as REST, and what can be done with volumes and rebuilds, over the same services. */
import { findCluster, listClusters } from '@holdfast/database/queries/clusters.js';
import { listEvents } from '@holdfast/database/queries/events.js';
import { findDisk, findNode, listDisks, listNodes } from '@holdfast/database/queries/nodes.js';
import { GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { z } from 'zod';
import type { RefusedWrites } from '../access/refused-writes.js';
import { ClusterPath, clusterSchema } from '../resources/clusters/cluster.schemas.js';
import { clusterView } from '../resources/clusters/cluster.view.js';
import {
  clusterNotFound,
  requireCluster,
  requireUsableCluster,
} from '../resources/clusters/require-cluster.js';
import { eventSchema, eventView } from '../resources/events/event.schemas.js';
import type { EventStreams } from '../resources/events/event-streams.js';
import { DrainBody, drainPlanSchema } from '../resources/nodes/drain.schemas.js';
import { drainPlanView } from '../resources/nodes/drain.view.js';
import { DiskPath, diskSchema, NodePath, nodeSchema } from '../resources/nodes/node.schemas.js';
import { diskView, nodeView } from '../resources/nodes/node.view.js';
import type { OrphansService } from '../resources/orphans/orphans.service.js';
import type { PlacementsService } from '../resources/placements/placements.service.js';
import { SimulateBody, simulationSchema } from '../resources/placements/simulation.schemas.js';
import type { RebuildsService } from '../resources/rebuilds/rebuilds.service.js';
import type { RecurringSnapshotsService } from '../resources/snapshots/recurring-snapshots.service.js';
import type { SnapshotsService } from '../resources/snapshots/snapshots.service.js';
import { salvageAdviceSchema } from '../resources/volumes/salvage.schemas.js';
import { explanationSchema, VolumePath, volumeSchema } from '../resources/volumes/volume.schemas.js';
import { volumeView } from '../resources/volumes/volume.view.js';
import { volumeSettingSchema } from '../resources/volumes/volume-setting.schemas.js';
import type { VolumesService } from '../resources/volumes/volumes.service.js';
import { auditedMutations } from './audited-mutations.js';
import { addEdges } from './edges.js';
import {
  type Fields,
  field,
  type GraphqlContext,
  ids,
  listField,
  nothingThere,
  tenantListField,
  withInput,
} from './fields.js';
import { GLOBAL_TYPES, globalIdQueries } from './global-ids.js';
import { grantMutations, grantQueries } from './grant-fields.js';
import { operationQueries } from './operation-fields.js';
import { orphanMutations, orphanQueries } from './orphan-fields.js';
import { rebuildMutations, rebuildQueries } from './rebuild-fields.js';
import { type ControllerOf } from './route-field.js';
import {
  ACTION_MUTATIONS,
  dryRunFields,
  ROUTE_MUTATIONS,
  ROUTE_QUERIES,
  routeFields,
} from './route-fields.js';
import {
  recurringSnapshotMutations,
  recurringSnapshotQueries,
  snapshotMutations,
  snapshotQueries,
} from './snapshot-fields.js';
import { subscriptionFields } from './subscriptions.js';
import { alertQueries, settingMutations, settingQueries, tenancyQueries } from './tenancy-queries.js';
import { volumeMutations } from './volume-mutations.js';
import { GraphqlTypes } from './zod-to-graphql.js';

export type GraphqlServices = {
  volumes: VolumesService;
  rebuilds: RebuildsService;
  placements: PlacementsService;
  snapshots: SnapshotsService;
  recurring: RecurringSnapshotsService;
  orphans: OrphansService;
  refused: RefusedWrites;
  controllerOf: ControllerOf;
  streams: EventStreams;
};

export function graphqlSchema(services: GraphqlServices): GraphQLSchema {
  const { volumes, rebuilds, placements, snapshots, recurring, orphans, refused } = services;
  const types = new GraphqlTypes(GLOBAL_TYPES);
  addEdges(types);
  const queries = {
    ...tenancyQueries(types),
    ...clusterQueries(types),
    ...settingQueries(types),
    ...grantQueries(types),
    ...alertQueries(types),
    ...nodeQueries(types),
    ...volumeQueries(types, volumes),
    ...rebuildQueries(types, rebuilds),
    ...placementQueries(types, placements),
    ...snapshotQueries(types, snapshots),
    ...recurringSnapshotQueries(types, recurring),
    ...orphanQueries(types, orphans),
    ...operationQueries(types),
    ...routeFields(types, ROUTE_QUERIES, services.controllerOf),
  };
  return new GraphQLSchema({
    query: new GraphQLObjectType<unknown, GraphqlContext>({
      name: 'Query',
      fields: { ...globalIdQueries(queries), ...queries },
    }),
    subscription: new GraphQLObjectType<unknown, GraphqlContext>({
      name: 'Subscription',
      fields: subscriptionFields(types, services.streams),
    }),
    mutation: new GraphQLObjectType<unknown, GraphqlContext>({
      name: 'Mutation',
      fields: auditedMutations(
        {
          ...settingMutations(types),
          ...grantMutations(types),
          ...volumeMutations(types, volumes),
          ...rebuildMutations(types, rebuilds),
          ...snapshotMutations(types, snapshots),
          ...recurringSnapshotMutations(types, recurring),
          ...orphanMutations(types, orphans),
          ...routeFields(types, ROUTE_MUTATIONS, services.controllerOf),
          ...dryRunFields(types, services.controllerOf),
          ...routeFields(types, ACTION_MUTATIONS, services.controllerOf),
        },
        refused,
      ),
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
          await requireUsableCluster(sql, clusterId);
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
    storageNode: field(node, {
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

function volumeQueries(types: GraphqlTypes, volumes: VolumesService): Fields {
  const volume = types.object(volumeSchema);
  return {
    volumes: listField(volume, {
      access: 'volume:read',
      list: (tenant, { clusterId }, request) => volumes.list(tenant, clusterId, request),
      view: (item, tenant) => volumeView(item, tenant.actor),
    }),
    volume: field(volume, {
      access: 'volume:read',
      args: ids('clusterId', 'volumeId'),
      schema: VolumePath.schema,
      resolve: async (tenant, path) => volumeView(await volumes.get(tenant, path), tenant.actor),
    }),
    volumeSettings: field(new GraphQLList(new GraphQLNonNull(types.object(volumeSettingSchema))), {
      access: 'volume:read',
      args: ids('clusterId', 'volumeId'),
      schema: VolumePath.schema,
      resolve: (tenant, path) => volumes.settings(tenant, path),
    }),
    salvageAdvice: field(types.object(salvageAdviceSchema), {
      access: 'volume:read',
      args: ids('clusterId', 'volumeId'),
      schema: VolumePath.schema,
      resolve: (tenant, path) => volumes.adviseSalvage(tenant, path),
    }),
    explainVolume: field(types.object(explanationSchema), {
      access: 'volume:read',
      args: ids('clusterId', 'volumeId'),
      schema: VolumePath.schema,
      resolve: (tenant, path) => volumes.explain(tenant, path),
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
    drainPlan: field(types.object(drainPlanSchema), {
      access: 'placement:simulate',
      args: withInput(types.input(DrainBody.schema, 'DrainPlanInput'), 'clusterId', 'nodeId'),
      schema: z.object({ ...NodePath.schema.shape, input: DrainBody.schema }),
      resolve: async (tenant, { input, ...key }) =>
        drainPlanView(await placements.planDrain(tenant, { ...key, policy: input.policy })),
    }),
  };
}
