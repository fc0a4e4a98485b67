/**
 * Makes GraphQL types from the zod schemas that also describe REST, so that the two can't drift apart.
 *
 * Named schemas become types of that name, nested objects get their parent's name and their field's. Integers are up
 * to 2^53 − 1, which GraphQL's own Int is not.
 */
import { inspect } from 'node:util';
import { Bug } from '@holdfast/core/model/faults.js';
import {
  GraphQLBoolean,
  GraphQLError,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLID,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  GraphQLString,
} from 'graphql';
import { z } from 'zod';
import type { Fields, GraphqlContext } from './fields.js';

export const SafeInteger = new GraphQLScalarType<number, number>({
  name: 'SafeInteger',
  description: 'A whole number of at most 2^53 − 1 in size.',
  serialize: (value) => {
    if (isSafeInteger(value)) return value;
    throw new Bug(`${String(value)} is to be answered as a whole number`);
  },
  // An error of GraphQL's own kind: it is a mistake of the client, not a failure of the server.
  parseValue: (value) => {
    if (isSafeInteger(value)) return value;
    throw new GraphQLError(`${inspect(value)} is not a whole number of at most 2^53 − 1`);
  },
});

export const Value = new GraphQLScalarType({
  name: 'Value',
  description: 'A text, a number, true or false, or such values by name.',
});

/** What Relay calls a node: an object that is found by its id alone. */
export const NODE_INTERFACE = new GraphQLInterfaceType({
  name: 'Node',
  description: 'An object with an id that is unique over all kinds: `node(id:)` finds it.',
  fields: { id: { type: new GraphQLNonNull(GraphQLID) } },
});

function isSafeInteger(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}

/** Created types, by name: GraphQL needs each name to be unique. */
export class GraphqlTypes {
  private readonly outputs = new Map<string, GraphQLObjectType>();
  private readonly further = new Map<string, Fields>();

  /** @param globalTypes names of the types whose objects are found by their ids */
  constructor(private readonly globalTypes: ReadonlySet<string>) {}

  /** Adds fields to a type beside those of its schema, before the schema of the API is made. */
  extend(name: string, fields: Fields): void {
    this.further.set(name, { ...this.further.get(name), ...fields });
  }

  /** The type of an answer's schema, whose name is the schema's id. */
  object(schema: z.ZodObject): GraphQLObjectType {
    const name = idOf(schema);
    if (name === undefined) throw new Bug('a schema needs an id to become a GraphQL type');
    return this.objectNamed(schema, name);
  }

  input(schema: z.ZodType, name: string): GraphQLInputObjectType {
    if (!(schema instanceof z.ZodObject)) throw new Bug(`${name} is no object`);
    const fields = (): GraphQLInputFieldConfigMap =>
      Object.fromEntries(
        Object.entries(shapeOf(schema)).map(([field, part]) => [
          field,
          withDescription({ type: this.inputType(part, name + capitalised(field)) }, part),
        ]),
      );
    return new GraphQLInputObjectType({ name, fields });
  }

  /** Arguments of a field, one for each part of a query; those with a default may be left out. */
  arguments(query: z.ZodObject, name: string): GraphQLFieldConfigArgumentMap {
    return Object.fromEntries(
      Object.entries(shapeOf(query)).map(([field, part]) => [
        field,
        withDescription({ type: this.inputType(part, name + capitalised(field)) }, part),
      ]),
    );
  }

  private objectNamed(schema: z.ZodObject, name: string): GraphQLObjectType {
    const known = this.outputs.get(name);
    if (known !== undefined) return known;
    const fields = (): GraphQLFieldConfigMap<unknown, GraphqlContext> => ({
      ...Object.fromEntries(
        Object.entries(shapeOf(schema)).map(([field, part]) => [
          field,
          withDescription({ type: this.outputType(part, name + capitalised(field)) }, part),
        ]),
      ),
      ...this.further.get(name),
    });
    const interfaces = this.globalTypes.has(name) ? [NODE_INTERFACE] : [];
    const type = new GraphQLObjectType({ name, interfaces, fields });
    this.outputs.set(name, type);
    return type;
  }

  private outputType(schema: z.ZodType, name: string): GraphQLOutputType {
    const { core, isRequired } = unwrap(schema);
    const type = this.outputCore(core, name);
    return isRequired ? new GraphQLNonNull(type) : type;
  }

  private outputCore(schema: z.ZodType, name: string) {
    if (schema instanceof z.ZodArray) return new GraphQLList(this.outputType(partOf(schema.element), name));
    if (schema instanceof z.ZodObject) {
      return this.objectNamed(schema, KEPT_NAMES.has(name) ? name : (idOf(schema) ?? name));
    }
    return scalarOf(schema);
  }

  private inputType(schema: z.ZodType, name: string): GraphQLInputType {
    const { core, isRequired } = unwrap(schema);
    const type = this.inputCore(core, name);
    return isRequired ? new GraphQLNonNull(type) : type;
  }

  private inputCore(schema: z.ZodType, name: string) {
    if (schema instanceof z.ZodArray) return new GraphQLList(this.inputType(partOf(schema.element), name));
    return schema instanceof z.ZodObject ? this.input(schema, name) : scalarOf(schema);
  }
}

/** Unwraps optional, default and transform schemas. */
function unwrap(schema: z.ZodType): { core: z.ZodType; isRequired: boolean } {
  let core = schema;
  let isRequired = true;
  for (;;) {
    if (core instanceof z.ZodOptional || core instanceof z.ZodNullable || core instanceof z.ZodDefault) {
      isRequired = false;
      core = partOf(core.unwrap());
    } else if (core instanceof z.ZodPipe) {
      core = partOf(core.in);
    } else {
      return { core, isRequired };
    }
  }
}

function scalarOf(schema: z.ZodType): GraphQLScalarType {
  if (schema instanceof z.ZodNumberFormat) return SafeInteger;
  if (schema instanceof z.ZodNumber) return schema.isInt ? SafeInteger : GraphQLFloat;
  if (schema instanceof z.ZodBoolean) return GraphQLBoolean;
  if (schema instanceof z.ZodLiteral && typeof schema.value === 'boolean') return GraphQLBoolean;
  if (schema instanceof z.ZodUUID) return GraphQLID;
  // Values like `best-effort` are no names in GraphQL, so enumerations stay texts.
  if (schema instanceof z.ZodEnum || schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) {
    return GraphQLString;
  }
  if (schema instanceof z.ZodUnion || schema instanceof z.ZodRecord) return Value;
  throw new Bug(`${schema.def.type} has no GraphQL type`);
}

/** zod types the parts of a schema as its core's interface, which every schema made by `z` extends. */
function partOf(part: unknown): z.ZodType {
  if (part instanceof z.ZodType) return part;
  throw new Bug('a schema has a part that is no schema');
}

function shapeOf(schema: z.ZodObject): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(schema.shape).map(([field, part]) => [field, partOf(part)]));
}

function withDescription<Config extends object>(config: Config, schema: z.ZodType): Config {
  return schema.description === undefined ? config : { ...config, description: schema.description };
}

/** Type names that clients know although their field only describes a named schema anew. */
const KEPT_NAMES = new Set(['ExplanationNext']);

/** Schemas whose name means something else in GraphQL: there a node is any object with an id. */
const RENAMED = new Map([['Node', 'StorageNode']]);

/** The name of a schema; a field that only describes one anew (`.describe`) has the name of what it describes. */
function idOf(schema: z.core.$ZodType): string | undefined {
  const id = z.globalRegistry.get(schema)?.id;
  if (typeof id === 'string') return RENAMED.get(id) ?? id;
  const { parent } = schema._zod;
  return parent === undefined ? undefined : idOf(parent);
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
