/**
 * Bounds of a GraphQL request, checked before anything of it runs. All are counted with fragments expanded: a fragment that is
 * used ten times costs ten times.
 */
import {
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';

/** The deepest useful query goes through a connection to a volume's replicas: seven. */
export const QUERY_DEPTH_MAX = 10;
/** Tools' introspection queries unwrap a type level by level, thirteen deep; the types are few. */
export const INTROSPECTION_DEPTH_MAX = 16;
/** Characters of a query: the console's longest has a tenth of it. Bounds the work of reading it. */
export const QUERY_CHARS_MAX = 20_000;
/** Fields in one request, aliases included. */
const FIELDS_MAX = 500;
/** Each root field is a query of the database, or several. */
const ROOT_FIELDS_MAX = 20;
/** Fields of all objects that may come back: ten full pages of two hundred objects with ten fields each. */
const COST_MAX = 20_000;
/** Assumed objects of a page if the request names no number. */
const PAGE_ITEMS = 50;
/** Assumed objects if the number is a variable, which is not evaluated here. */
const PAGE_ITEMS_MAX = 200;
/** Assumed objects of a list that is not a page, such as the copies of a volume: a few more than usual. */
const LIST_ITEMS = 4;
/** Objects that one request may name by their ids: each is a read of its own. */
export const IDS_MAX = 20;

type Fragments = Pick<ValidationContext, 'getFragment'>;
type Weight = { fields: number; depth: number; cost: number };
/** Place of a selection in the query. */
type Place = {
  /** Type that it selects from; `undefined`: an unknown one, which GraphQL's own rules refuse. */
  readonly type: GraphQLNamedType | undefined;
  /** Enclosing fragments: one that spreads itself is refused by those rules as well. */
  readonly open: ReadonlySet<string>;
};

/** Refuses a request that is too large. */
export function boundedRequest(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(node) {
      const roots = rootFields(context, node.selectionSet, new Set());
      const type = context.getSchema().getRootType(node.operation) ?? undefined;
      const { fields, depth, cost } = weigh(context, node.selectionSet, { type, open: new Set() });
      const wrong = [
        roots > ROOT_FIELDS_MAX && `an operation may have ${ROOT_FIELDS_MAX} root fields`,
        fields > FIELDS_MAX && `a request may have ${FIELDS_MAX} fields`,
        depth > QUERY_DEPTH_MAX && `a request may be ${QUERY_DEPTH_MAX} fields deep`,
        cost > COST_MAX && `the request may return ${COST_MAX} fields in all: ask for fewer items with first`,
      ].find((text) => text !== false);
      if (wrong !== undefined) context.reportError(new GraphQLError(wrong, { nodes: [node] }));
    },
  };
}

/** Root fields of a document's largest operation, fragments expanded; at most one above the bound. */
export function rootFieldsOf({ definitions }: DocumentNode): number {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const each of definitions) {
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
  }
  const find = { getFragment: (name: string) => fragments.get(name) };
  const counts = definitions.map((each) =>
    each.kind === Kind.OPERATION_DEFINITION ? rootFields(find, each.selectionSet, new Set()) : 0,
  );
  return Math.max(0, ...counts);
}

const NOTHING: Weight = { fields: 0, depth: 0, cost: 0 };

/**
 * Each fragment is weighed where it is spread. The sums are cut off at the bounds, so that fragments which double each other
 * are not walked to their end.
 */
function weigh(context: ValidationContext, set: SelectionSetNode, place: Place): Weight {
  let sum = NOTHING;
  for (const selection of set.selections) {
    if (sum.fields > FIELDS_MAX || sum.cost > COST_MAX) break;
    if (selection.kind === Kind.FIELD) {
      sum = added(sum, fieldWeight(context, selection, place));
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      const { typeCondition, selectionSet } = selection;
      const type = typeCondition === undefined ? place.type : typeNamed(context, typeCondition.name.value);
      sum = added(sum, weigh(context, selectionSet, { ...place, type }));
    } else {
      const fragment = fragmentOf(context, selection.name.value, place.open);
      if (fragment === undefined) continue;
      const type = typeNamed(context, fragment.typeCondition.name.value);
      const open = new Set([...place.open, selection.name.value]);
      sum = added(sum, weigh(context, fragment.selectionSet, { type, open }));
    }
  }
  return sum;
}

function fieldWeight(context: ValidationContext, node: FieldNode, { type, open }: Place): Weight {
  if (node.selectionSet === undefined) return { fields: 1, depth: 1, cost: 1 };
  const found = fieldOf(type, node.name.value);
  const below = found === undefined ? undefined : getNamedType(found.type);
  const inner = weigh(context, node.selectionSet, { type: below, open });
  const isIntrospection = node.name.value.startsWith('__');
  const spared = isIntrospection ? INTROSPECTION_DEPTH_MAX - QUERY_DEPTH_MAX : 0;
  const depth = Math.max(1, inner.depth + 1 - spared);
  return { fields: inner.fields + 1, depth, cost: 1 + itemsOf(type, found, node) * inner.cost };
}

/**
 * Number of times that the fields below are returned. It follows from the field's type, since the selection may be in a fragment: for a
 * connection its argument `first`, for a list the number of named objects, or the usual number.
 */
function itemsOf(
  parent: GraphQLNamedType | undefined,
  field: GraphQLField<unknown, unknown> | undefined,
  { arguments: given = [] }: FieldNode,
): number {
  if (field === undefined) return 1;
  const argument = (name: string) => given.find((one) => one.name.value === name)?.value;
  if (isConnection(getNamedType(field.type))) {
    const first = argument('first');
    if (first === undefined) return PAGE_ITEMS;
    return first.kind === Kind.INT
      ? Math.min(Math.max(1, Number(first.value)), PAGE_ITEMS_MAX)
      : PAGE_ITEMS_MAX;
  }
  // Edges are counted where their connection is.
  if (!isListType(getNullableType(field.type)) || isConnection(parent)) return 1;
  const ids = argument('ids');
  if (ids === undefined) return LIST_ITEMS;
  return ids.kind === Kind.LIST ? Math.max(1, ids.values.length) : IDS_MAX;
}

function isConnection(type: GraphQLNamedType | undefined): boolean {
  return isObjectType(type) && type.name.endsWith('Connection');
}

function fieldOf(
  type: GraphQLNamedType | undefined,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}

function typeNamed(context: ValidationContext, name: string): GraphQLNamedType | undefined {
  return context.getSchema().getType(name);
}

function rootFields(context: Fragments, set: SelectionSetNode, open: ReadonlySet<string>): number {
  let count = 0;
  for (const selection of set.selections) {
    if (count > ROOT_FIELDS_MAX) break;
    if (selection.kind === Kind.FIELD) count += 1;
    else if (selection.kind === Kind.INLINE_FRAGMENT)
      count += rootFields(context, selection.selectionSet, open);
    else {
      const fragment = fragmentOf(context, selection.name.value, open);
      const within = new Set([...open, selection.name.value]);
      if (fragment !== undefined) count += rootFields(context, fragment.selectionSet, within);
    }
  }
  return count;
}

function fragmentOf(
  context: Fragments,
  name: string,
  open: ReadonlySet<string>,
): FragmentDefinitionNode | undefined {
  return open.has(name) ? undefined : (context.getFragment(name) ?? undefined);
}

function added(a: Weight, b: Weight): Weight {
  return { fields: a.fields + b.fields, depth: Math.max(a.depth, b.depth), cost: a.cost + b.cost };
}
