import type { Page } from '@holdfast/database/queries/list-rows.js';
import {
  GraphQLBoolean,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { z } from 'zod';
import { ListQuery } from '../http/schemas.js';
import { invalidRequest } from '../http/validation.pipe.js';

const pageInfo = new GraphQLObjectType({
  name: 'PageInfo',
  fields: {
    hasNextPage: { type: new GraphQLNonNull(GraphQLBoolean) },
    hasPreviousPage: { type: new GraphQLNonNull(GraphQLBoolean) },
    startCursor: { type: GraphQLString },
    endCursor: { type: GraphQLString },
  },
});

/** Created connection types, by their items' type: several fields share one. */
const CONNECTIONS = new WeakMap<GraphQLObjectType, GraphQLObjectType>();

/** The connection of one type, as Relay specifies it. Lists go forward only. */
export function connectionType(node: GraphQLObjectType): GraphQLObjectType {
  const made = CONNECTIONS.get(node) ?? makeConnection(node);
  CONNECTIONS.set(node, made);
  return made;
}

function makeConnection(node: GraphQLObjectType): GraphQLObjectType {
  const edge = new GraphQLObjectType({
    name: `${node.name}Edge`,
    fields: {
      cursor: { type: new GraphQLNonNull(GraphQLString) },
      node: { type: new GraphQLNonNull(node) },
    },
  });
  return new GraphQLObjectType({
    name: `${node.name}Connection`,
    fields: {
      edges: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(edge))) },
      pageInfo: { type: new GraphQLNonNull(pageInfo) },
    },
  });
}

export const CONNECTION_ARGUMENTS = {
  first: { type: GraphQLInt },
  after: { type: GraphQLString },
  filter: { type: GraphQLString, description: '`field=value AND field>value …`' },
  sort: { type: GraphQLString, description: 'A field name, with a minus in front for descending.' },
};

const connectionArguments = z.object({
  first: z.int().nullish(),
  after: z.string().nullish(),
  filter: z.string().nullish(),
  sort: z.string().nullish(),
});

/** The same list request as in REST, with the same bounds. */
export function listRequestOf(given: unknown): ListQuery {
  const { first, after, filter, sort } = connectionArguments.parse(given);
  const parsed = ListQuery.schema.safeParse({
    ...(first === null || first === undefined ? {} : { limit: first }),
    cursor: after ?? undefined,
    filter: filter ?? undefined,
    sort: sort ?? undefined,
  });
  if (!parsed.success) throw invalidRequest(parsed.error.issues, (path) => path.join('.'));
  return parsed.data;
}

export function connectionOf<Item, View>(
  page: Page<Item>,
  after: string | undefined,
  view: (item: Item) => View,
) {
  const cursors = page.cursors();
  return {
    edges: page.items.map((item, index) => ({ node: view(item), cursor: cursors[index] ?? '' })),
    pageInfo: {
      hasNextPage: page.nextCursor !== null,
      hasPreviousPage: after !== undefined,
      startCursor: cursors[0] ?? null,
      endCursor: cursors.at(-1) ?? null,
    },
  };
}
