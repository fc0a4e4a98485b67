/** GraphQL fields of rebuilds: read, pause, resume, limit and cancel, as in REST. */
import { z } from 'zod';
import { PatchRebuildBody, RebuildPath, rebuildSchema } from '../rebuilds/rebuild.schemas.js';
import type { RebuildsService } from '../rebuilds/rebuilds.service.js';
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
  const common = {
    access: 'rebuild:write' as const,
    args: ids('clusterId', 'rebuildId'),
    schema: RebuildPath.schema,
  };
  return {
    pauseRebuild: field(rebuild, {
      ...common,
      resolve: (tenant, key) => rebuilds.tune(tenant, key, { paused: true }),
    }),
    resumeRebuild: field(rebuild, {
      ...common,
      resolve: (tenant, key) => rebuilds.tune(tenant, key, { paused: false }),
    }),
    cancelRebuild: field(rebuild, { ...common, resolve: (tenant, key) => rebuilds.cancel(tenant, key) }),
    patchRebuild: field(rebuild, {
      access: 'rebuild:write',
      args: withInput(types.input(PatchRebuildBody.schema, 'PatchRebuildInput'), 'clusterId', 'rebuildId'),
      schema: z.object({ ...RebuildPath.schema.shape, input: PatchRebuildBody.schema }),
      resolve: (tenant, { input, ...key }) => rebuilds.tune(tenant, key, input),
    }),
  };
}
