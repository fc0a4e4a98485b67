/** GraphQL fields of grants: those of a cluster, and those that the organization has received; as in REST. */

import { z } from 'zod';
import { ClusterPath } from '../resources/clusters/cluster.schemas.js';
import {
  CreateGrantBody,
  GrantPath,
  grantSchema,
  grantView,
  PatchGrantBody,
  receivedGrantSchema,
  receivedGrantView,
} from '../resources/grants/grant.schemas.js';
import {
  changeGrant,
  endGrant,
  grantsOf,
  makeGrant,
  readGrant,
  receivedGrants,
} from '../resources/grants/grants.service.js';
import { type Fields, field, ids, listField, tenantListField, withInput } from './fields.js';
import type { GraphqlTypes } from './zod-to-graphql.js';

export function grantQueries(types: GraphqlTypes): Fields {
  const grant = types.object(grantSchema);
  return {
    grants: listField(grant, {
      access: 'grant:read',
      list: (tenant, { clusterId }, request) => grantsOf(tenant, clusterId, request),
      view: grantView,
    }),
    grant: field(grant, {
      access: 'grant:read',
      args: ids('clusterId', 'grantId'),
      schema: GrantPath.schema,
      resolve: async (tenant, path) => grantView(await readGrant(tenant, path)),
    }),
    receivedGrants: tenantListField(types.object(receivedGrantSchema), {
      access: 'cluster:read',
      list: (tenant, request) => receivedGrants(tenant, request),
      view: receivedGrantView,
    }),
  };
}

export function grantMutations(types: GraphqlTypes): Fields {
  const grant = types.object(grantSchema);
  const access = 'grant:write' as const;
  return {
    createGrant: field(grant, {
      access,
      args: withInput(types.input(CreateGrantBody.schema, 'CreateGrantInput'), 'clusterId'),
      schema: z.object({ ...ClusterPath.schema.shape, input: CreateGrantBody.schema }),
      resolve: async (tenant, { clusterId, input }) => grantView(await makeGrant(tenant, clusterId, input)),
    }),
    updateGrant: field(grant, {
      access,
      args: withInput(types.input(PatchGrantBody.schema, 'GrantInput'), 'clusterId', 'grantId'),
      schema: z.object({ ...GrantPath.schema.shape, input: PatchGrantBody.schema }),
      resolve: async (tenant, { input, ...key }) =>
        grantView(await changeGrant(tenant, key, { patch: input, ifVersion: undefined })),
    }),
    deleteGrant: field(grant, {
      access,
      args: ids('clusterId', 'grantId'),
      schema: GrantPath.schema,
      resolve: async (tenant, key) => {
        const before = await readGrant(tenant, key);
        await endGrant(tenant, key, undefined);
        return grantView(before);
      },
    }),
  };
}
