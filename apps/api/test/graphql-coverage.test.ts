/** Every operation of the REST API has a field of the GraphQL API, or a reason why it has none. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  buildClientSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
} from 'graphql';
import { ApiFixture } from './api-fixture.js';
import { FIELDS, LEFT_OUT } from './graphql-table.js';
import { openApiDocument } from './openapi-document.js';

let api: ApiFixture;
let schema: GraphQLSchema;

beforeAll(async () => {
  api = await ApiFixture.start();
  const { body } = await api.graphql(getIntrospectionQuery());
  // The answer to the query above, by the library that makes both.
  schema = buildClientSchema(body.data as IntrospectionQuery);
});
afterAll(() => api?.stop());

test('every operation has a field, or a reason why it has none', () => {
  const { paths } = openApiDocument<{
    paths: Record<string, Record<string, { operationId: string }>>;
  }>();
  const operations = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect([...Object.keys(FIELDS), ...Object.keys(LEFT_OUT)].sort()).toEqual([...operations].sort());
});

test('every field that stands for an operation is there', () => {
  const known = new Set([
    ...[schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
      Object.keys(type?.getFields() ?? {}),
    ),
    ...Object.keys(schema.getSubscriptionType()?.getFields() ?? {}).map((name) => `subscription ${name}`),
  ]);
  expect(Object.values(FIELDS).filter((field) => !known.has(field))).toEqual([]);
});
