/** GraphQL requests by chance, made of the schema that the API tells of itself. */
import fc from 'fast-check';
import {
  buildClientSchema,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  getIntrospectionQuery,
  getNamedType,
  type IntrospectionQuery,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { ApiFixture } from '../api-fixture.js';
import { HOSTILE } from './values.js';

export type GraphqlRequest = { readonly query: string; readonly variables: Record<string, unknown> };
type Root = {
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly field: GraphQLField<unknown, unknown>;
};

const UNKNOWN_IDS = ['0193a1b2-0000-7000-8000-000000000000'];
/** Of nested objects: what is deeper is asked about by fields of its own. */
const DEPTH_MAX = 2;

export async function graphqlRequests(
  api: ApiFixture,
  kinds: readonly Root['kind'][],
  { requests, seed }: { requests: number; seed: number },
): Promise<GraphqlRequest[]> {
  const { body } = await api.graphql(getIntrospectionQuery());
  // The answer to the query above, by the library that makes both.
  const schema = buildClientSchema(body.data as IntrospectionQuery);
  const types = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  };
  const roots: Root[] = kinds.flatMap((kind) =>
    Object.values(types[kind]?.getFields() ?? {}).map((field) => ({ kind, field })),
  );
  const known = await knownIds(api);
  return roots.flatMap((root, index) =>
    fc.sample(requestOf(root, known), { seed: seed + index, numRuns: Math.ceil(requests / roots.length) }),
  );
}

/** Ids of what the fixture has made, by the names of arguments. */
async function knownIds(api: ApiFixture): Promise<Readonly<Record<string, readonly string[]>>> {
  const ids = async (path: string) =>
    ((await api.call('GET', path)).body.items ?? []).map(({ id }) => String(id));
  const volumeIds = await ids(api.volumes);
  const [volumeId] = volumeIds;
  return {
    clusterId: [api.seed.clusterId],
    volumeId: volumeIds,
    nodeId: await ids(`/clusters/${api.seed.clusterId}/nodes`),
    replicaId: await ids(`${api.volumes}/${volumeId}/replicas`),
  };
}

function requestOf(
  { kind, field }: Root,
  known: Readonly<Record<string, readonly string[]>>,
): fc.Arbitrary<GraphqlRequest> {
  const values = Object.fromEntries(field.args.map(({ name, type }) => [name, inputOf(type, name, known)]));
  const required = field.args.filter(({ type }) => isNonNullType(type)).map(({ name }) => name);
  const declared = field.args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const given = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
  const head = declared === '' ? field.name : `${field.name}(${given})`;
  const query = `${kind} ${declared === '' ? '' : `(${declared})`} { ${head} ${selectionOf(field.type, 0)} }`;
  const spoil = fc.tuple(fc.nat(9), fc.nat(20), fc.constantFrom(...HOSTILE));
  return fc
    .tuple(fc.record(values, { requiredKeys: required }), spoil)
    .map(([variables, [what, at, hostile]]) => {
      const name = field.args[at % Math.max(1, field.args.length)]?.name;
      return {
        query,
        variables: what === 0 && name !== undefined ? { ...variables, [name]: hostile } : variables,
      };
    });
}

function selectionOf(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (isInterfaceType(named)) return '{ __typename id }';
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields()).filter(
    ({ args }) => !args.some((arg) => isNonNullType(arg.type)),
  );
  const parts = fields.flatMap((field) => {
    const isObject = isObjectType(getNamedType(field.type));
    if (isObject && depth >= DEPTH_MAX) return [];
    return [`${field.name} ${selectionOf(field.type, depth + 1)}`];
  });
  return `{ __typename ${parts.join(' ')} }`;
}

function inputOf(
  type: GraphQLInputType,
  name: string,
  known: Readonly<Record<string, readonly string[]>>,
): fc.Arbitrary<unknown> {
  if (isNonNullType(type)) return inputOf(type.ofType, name, known);
  if (isListType(type))
    return fc.array(inputOf(type.ofType, name.replace(/s$/, ''), known), { maxLength: 3 });
  if (isEnumType(type)) return fc.constantFrom(...type.getValues().map((value) => value.name));
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields());
    const values = Object.fromEntries(
      fields.map((field) => [field.name, inputOf(field.type, field.name, known)]),
    );
    const requiredKeys = fields.filter((field) => isNonNullType(field.type)).map((field) => field.name);
    return fc.record(values, { requiredKeys });
  }
  const isId = name.endsWith('Id');
  return scalarOf(type.name, known[name] ?? (isId ? UNKNOWN_IDS : []));
}

function scalarOf(type: string, known: readonly string[]): fc.Arbitrary<unknown> {
  if (type === 'Boolean') return fc.boolean();
  if (type === 'Int' || type === 'Float') return fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer());
  const text = fc.oneof(
    fc.uuid(),
    fc.stringMatching(/^[a-z][a-z0-9-]{0,10}$/),
    fc.string({ unit: 'grapheme' }),
  );
  if (type !== 'String' && type !== 'ID')
    return fc.oneof(fc.integer({ min: 1, max: 2 ** 40 }), fc.date({ noInvalidDate: true }).map(String), text);
  return known.length === 0
    ? text
    : fc.oneof({ arbitrary: fc.constantFrom(...known), weight: 6 }, { arbitrary: text, weight: 1 });
}
