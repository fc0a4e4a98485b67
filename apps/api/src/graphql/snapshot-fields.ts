/** GraphQL fields of snapshots and of their schedules, as in REST. */
import { GraphQLList, GraphQLNonNull, GraphQLString } from 'graphql';
import { z } from 'zod';
import type { RecurringSnapshotsService } from '../resources/snapshots/recurring-snapshots.service.js';
import { CreateSnapshotBody, SnapshotPath, snapshotSchema } from '../resources/snapshots/snapshot.schemas.js';
import type { SnapshotsService } from '../resources/snapshots/snapshots.service.js';
import {
  RecurringSnapshotBody,
  RecurringSnapshotPath,
  recurringSnapshotSchema,
} from '../resources/volumes/recurring-snapshot.schemas.js';
import { VolumePath } from '../resources/volumes/volume.schemas.js';
import { type Fields, field, ids, volumeListField, withInput } from './fields.js';
import type { GraphqlTypes } from './zod-to-graphql.js';

export function snapshotQueries(types: GraphqlTypes, snapshots: SnapshotsService): Fields {
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

export function snapshotMutations(types: GraphqlTypes, snapshots: SnapshotsService): Fields {
  const snapshot = types.object(snapshotSchema);
  const access = 'volume:write' as const;
  return {
    createSnapshot: field(snapshot, {
      access,
      args: withInput(types.input(CreateSnapshotBody.schema, 'CreateSnapshotInput'), 'clusterId', 'volumeId'),
      schema: z.object({ ...VolumePath.schema.shape, input: CreateSnapshotBody.schema }),
      resolve: (tenant, { input, ...key }) => snapshots.create(tenant, key, input.name),
    }),
    deleteSnapshot: field(snapshot, {
      access,
      args: ids('clusterId', 'volumeId', 'snapshotId'),
      schema: SnapshotPath.schema,
      resolve: (tenant, key) => snapshots.delete(tenant, key),
    }),
  };
}

const nameArgument = { recurringName: { type: new GraphQLNonNull(GraphQLString) } };

export function recurringSnapshotQueries(types: GraphqlTypes, recurring: RecurringSnapshotsService): Fields {
  const one = types.object(recurringSnapshotSchema);
  return {
    recurringSnapshots: field(new GraphQLList(new GraphQLNonNull(one)), {
      access: 'volume:read',
      args: ids('clusterId', 'volumeId'),
      schema: VolumePath.schema,
      resolve: (tenant, key) => recurring.list(tenant, key),
    }),
    recurringSnapshot: field(one, {
      access: 'volume:read',
      args: { ...ids('clusterId', 'volumeId'), ...nameArgument },
      schema: RecurringSnapshotPath.schema,
      resolve: async (tenant, key) => (await recurring.get(tenant, key)).view,
    }),
  };
}

export function recurringSnapshotMutations(
  types: GraphqlTypes,
  recurring: RecurringSnapshotsService,
): Fields {
  const one = types.object(recurringSnapshotSchema);
  const access = 'volume:write' as const;
  const input = types.input(RecurringSnapshotBody.schema, 'RecurringSnapshotInput');
  return {
    setRecurringSnapshot: field(one, {
      access,
      args: { ...withInput(input, 'clusterId', 'volumeId'), ...nameArgument },
      schema: z.object({ ...RecurringSnapshotPath.schema.shape, input: RecurringSnapshotBody.schema }),
      resolve: async (tenant, { input: body, ...key }) =>
        (await recurring.set(tenant, key, body, undefined)).view,
    }),
    deleteRecurringSnapshot: field(one, {
      access,
      args: { ...ids('clusterId', 'volumeId'), ...nameArgument },
      schema: RecurringSnapshotPath.schema,
      resolve: (tenant, key) => recurring.delete(tenant, key, undefined),
    }),
  };
}
