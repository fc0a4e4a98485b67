/** All root fields of the GraphQL API that name an object, each as a request. */
import {
  buildClientSchema,
  type GraphQLField,
  getNamedType,
  type IntrospectionQuery,
  isLeafType,
  isRequiredArgument,
} from 'graphql';

export type FieldToAsk = {
  /** With its kind, as people read it. */
  readonly name: string;
  readonly query: string;
  /** Its required arguments; `undefined` for an id, which is the caller's to fill in. */
  readonly variables: Readonly<Record<string, unknown>>;
};

/** @param inputOf the input of a mutation, by its name */
export function fieldsWithIds(
  introspection: IntrospectionQuery,
  inputOf: (field: string) => object,
): FieldToAsk[] {
  const schema = buildClientSchema(introspection);
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
  ] as const;
  return roots.flatMap(([kind, type]) =>
    Object.values(type?.getFields() ?? {}).flatMap((field) => requestOf(kind, field, inputOf) ?? []),
  );
}

/** `undefined` for a field that names nothing: it is about what is the caller's own. */
function requestOf(
  kind: string,
  { name, args, type }: GraphQLField<unknown, unknown>,
  inputOf: (field: string) => object,
): FieldToAsk | undefined {
  const needed = args.filter((arg) => isRequiredArgument(arg));
  if (needed.every((arg) => arg.name === 'input')) return undefined;
  const declared = needed.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
  const given = needed.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const selection = isLeafType(getNamedType(type)) ? '' : '{ __typename }';
  const variables = needed.map(
    (arg) => [arg.name, arg.name === 'input' ? inputOf(name) : undefined] as const,
  );
  return {
    name: `${kind} ${name}`,
    query: `${kind} (${declared}) { ${name}(${given}) ${selection} }`,
    variables: Object.fromEntries(variables),
  };
}
