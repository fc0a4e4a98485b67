/** GraphQL fields of operations, as in REST; cancelling one is an action. */
import { z } from 'zod';
import { OperationPath, operationSchema } from '../resources/operations/operation.schemas.js';
import { readOperation, readOperations } from '../resources/operations/read-operation.js';
import { type Fields, field, ids, listField } from './fields.js';
import type { GraphqlTypes } from './zod-to-graphql.js';

export function operationQueries(types: GraphqlTypes): Fields {
  const operation = types.object(operationSchema);
  return {
    operations: listField(operation, {
      access: 'event:read',
      list: (tenant, { clusterId }, request) => readOperations(tenant, clusterId, request),
      view: (view) => view,
    }),
    operation: field(operation, {
      access: 'event:read',
      args: ids('clusterId', 'operationId'),
      schema: z.object(OperationPath.schema.shape),
      resolve: async (tenant, path) => (await readOperation(tenant, path)).view,
    }),
  };
}
