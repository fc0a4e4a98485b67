/** GraphQL fields of rebuilds: read, and limited in their bandwidth, as in REST. */
import { z } from 'zod';
import { PatchRebuildBody, RebuildPath, rebuildSchema } from '../resources/rebuilds/rebuild.schemas.js';
import type { RebuildsService } from '../resources/rebuilds/rebuilds.service.js';
import { type Fields, field, ids, listField, withInput } from './fields.js';
import type { GraphqlTypes } from './zod-to-graphql.js';

export function rebuildQueries(types: GraphqlTypes, rebuilds: RebuildsService): Fields {
  const rebuild = types.object(rebuildSchema);
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

export function rebuildMutations(types: GraphqlTypes, rebuilds: RebuildsService): Fields {
  const rebuild = types.object(rebuildSchema);
  return {
    patchRebuild: field(rebuild, {
      access: 'rebuild:write',
      args: withInput(types.input(PatchRebuildBody.schema, 'PatchRebuildInput'), 'clusterId', 'rebuildId'),
      schema: z.object({ ...RebuildPath.schema.shape, input: PatchRebuildBody.schema }),
      resolve: (tenant, { input, ...key }) => rebuilds.tune(tenant, key, input),
    }),
  };
}
