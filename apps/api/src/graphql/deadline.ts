/**
 * Time limit of a GraphQL operation. Its cost is bounded before it runs, by the usual lengths of lists; the duration of its reads is only
 * known afterwards. Past the limit no further field is resolved, so that the operation ends with its running statement, which Postgres
 * bounds. A mutation that has not started is not run.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { type GraphQLSchema, isObjectType } from 'graphql';
import type { GraphqlContext } from './fields.js';

/** The longest operations of tests and programs take a tenth of it. */
const OPERATION_SECONDS_MAX = 10;

/** Has each resolver of the schema check the time first. Fields without a resolver only read loaded data. */
export function withDeadline(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    // A subscription lives for hours; each of its messages has the time of an operation.
    if (!isObjectType(type) || type === schema.getSubscriptionType()) continue;
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field;
      if (resolve === undefined || type.name.startsWith('__')) continue;
      field.resolve = (source, given, context: GraphqlContext, info) => {
        assertInTime(context);
        return resolve(source, given, context, info);
      };
    }
  }
  return schema;
}

function assertInTime({ tenant, startedAt }: GraphqlContext): void {
  if (tenant.now.getTime() - startedAt.getTime() <= OPERATION_SECONDS_MAX * 1_000) return;
  throw new StorageFault('request.timed_out', {
    publicMessage: `the operation was ended after ${OPERATION_SECONDS_MAX} seconds, before it came to this field`,
    cures: ['ask for fewer items with first', 'ask in several requests'],
  });
}
