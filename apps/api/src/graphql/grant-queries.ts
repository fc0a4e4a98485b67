/** GraphQL queries of grants: those of a cluster, and those that the organization has received. */
import {
  GrantPath,
  grantSchema,
  grantView,
  receivedGrantSchema,
  receivedGrantView,
} from '../grants/grant.schemas.js';
import { grantsOf, readGrant, receivedGrants } from '../grants/grants.service.js';
import { type Fields, field, ids, listField, tenantListField } from './fields.js';
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
