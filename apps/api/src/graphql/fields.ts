/** Base of the GraphQL API's fields: the role they need, how arguments are read, how lists are cut. */

import type { Action } from '@holdfast/access/permissions.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { Page } from '@holdfast/database/queries/list-rows.js';
import type { FastifyReply } from 'fastify';
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLID,
  type GraphQLInputType,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from 'graphql';
import type { z } from 'zod';
import { assertAllowed, assertWithinClusters } from '../access/authenticator.js';
import type { Tenant } from '../access/tenant.js';
import type { ListQuery } from '../http/schemas.js';
import { bodyPointer, invalidRequest } from '../http/validation.pipe.js';
import { ClusterPath } from '../resources/clusters/cluster.schemas.js';
import { VolumePath } from '../resources/volumes/volume.schemas.js';
import { CONNECTION_ARGUMENTS, connectionOf, connectionType, listRequestOf } from './connection.js';
import type { Loaders } from './loaders.js';

/** Context of every resolver: created by the plugin once per request, after the authentication. */
export type GraphqlContext = {
  readonly tenant: Tenant;
  readonly reply: FastifyReply;
  readonly loaders: Loaders;
  /** Start of the operation; for a subscription, of its latest message. */
  readonly startedAt: Date;
  /** Header of a subscription that is resumed; undefined: it is a new one, or no subscription. */
  readonly lastEventId: string | undefined;
};

export type Field = GraphQLFieldConfig<unknown, GraphqlContext>;
export type Fields = Record<string, Field>;

/** One field: the role it needs, the arguments' schema, and its resolver. */
export function field<Schema extends z.ZodType>(
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
    resolve(_source, given, { tenant: caller }, info) {
      const tenant = assertAllowed(caller, options.access);
      assertWithinClusters(caller, options.access, given);
      const parsed = options.schema.safeParse(given);
      if (!parsed.success) throw invalidRequest(parsed.error.issues, bodyPointer);
      return options.resolve(fieldTenant(tenant, given, info), parsed.data);
    },
  };
}

/** The caller of a field. A mutation stands in the audit log by its own name and target, as a REST action does by its address. */
export function fieldTenant(
  tenant: Tenant,
  given: Readonly<Record<string, unknown>>,
  { operation, fieldName }: Pick<GraphQLResolveInfo, 'operation' | 'fieldName'>,
): Tenant {
  return tenant.ofField(`${operation.operation} ${fieldName}`, given);
}

/** A list of the organization's objects, as a connection. */
export function tenantListField<Item>(
  node: GraphQLObjectType,
  options: {
    access: Action;
    list: (tenant: Tenant, request: ListQuery) => Promise<Page<Item>>;
    view: (item: Item) => unknown;
  },
): Field {
  return {
    type: new GraphQLNonNull(connectionType(node)),
    args: CONNECTION_ARGUMENTS,
    async resolve(_source, given, { tenant: caller }) {
      const tenant = assertAllowed(caller, options.access);
      const request = listRequestOf(given);
      return connectionOf(await options.list(tenant, request), request.cursor, options.view);
    },
  };
}

/** A list of a cluster's objects, as a connection. */
export function listField<Item>(
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
    async resolve(_source, given, { tenant: caller }) {
      const tenant = assertAllowed(caller, options.access);
      const path = ClusterPath.schema.safeParse(given);
      if (!path.success) throw nothingThere();
      const request = listRequestOf(given);
      const page = await options.list(tenant, path.data, request);
      return connectionOf(page, request.cursor, (item) => options.view(item, tenant));
    },
  };
}

/** A list of a volume's objects, as a connection. */
export function volumeListField<Item>(
  node: GraphQLObjectType,
  options: {
    access: Action;
    list: (tenant: Tenant, path: VolumePath, request: ListQuery) => Promise<Page<Item>>;
    view: (item: Item) => unknown;
  },
): Field {
  return {
    type: new GraphQLNonNull(connectionType(node)),
    args: { ...ids('clusterId', 'volumeId'), ...CONNECTION_ARGUMENTS },
    async resolve(_source, given, { tenant: caller }) {
      const tenant = assertAllowed(caller, options.access);
      const path = VolumePath.schema.safeParse(given);
      if (!path.success) throw nothingThere();
      const request = listRequestOf(given);
      return connectionOf(await options.list(tenant, path.data, request), request.cursor, options.view);
    },
  };
}

export function ids(...names: string[]): GraphQLFieldConfigArgumentMap {
  return Object.fromEntries(names.map((name) => [name, { type: new GraphQLNonNull(GraphQLID) }]));
}

export function withInput(input: GraphQLInputType, ...names: string[]): GraphQLFieldConfigArgumentMap {
  return { ...ids(...names), input: { type: new GraphQLNonNull(input) } };
}

export function nothingThere(): StorageFault {
  return new StorageFault('request.not_found', { publicMessage: 'there is nothing under this id' });
}
