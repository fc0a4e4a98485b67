/** GraphQL fields of orphans (copies that belong to no replica), as in REST. */
import { OrphanPath, orphanSchema } from '../resources/orphans/orphan.schemas.js';
import type { OrphansService } from '../resources/orphans/orphans.service.js';
import { type Fields, field, ids, listField } from './fields.js';
import type { GraphqlTypes } from './zod-to-graphql.js';

export function orphanQueries(types: GraphqlTypes, orphans: OrphansService): Fields {
  const orphan = types.object(orphanSchema);
  return {
    orphans: listField(orphan, {
      access: 'node:read',
      list: (tenant, { clusterId }, request) => orphans.list(tenant, clusterId, request),
      view: (view) => view,
    }),
    orphan: field(orphan, {
      access: 'node:read',
      args: ids('clusterId', 'orphanId'),
      schema: OrphanPath.schema,
      resolve: (tenant, path) => orphans.get(tenant, path),
    }),
  };
}

export function orphanMutations(types: GraphqlTypes, orphans: OrphansService): Fields {
  return {
    deleteOrphan: field(types.object(orphanSchema), {
      access: 'node:write',
      args: ids('clusterId', 'orphanId'),
      schema: OrphanPath.schema,
      resolve: (tenant, path) => orphans.delete(tenant, path),
    }),
  };
}
