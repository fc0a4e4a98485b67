/**
 * Makes a field of the GraphQL API from a route: the handler runs as for a REST request, after the same checks, so that the two APIs can't
 * differ. Its path and query become arguments, its body `input`, a page a connection, an answer without a body `true`.
 */

import type { Action } from '@holdfast/access/permissions.js';
import { Bug } from '@holdfast/core/model/faults.js';
import type { Page } from '@holdfast/database/queries/list-rows.js';
import type { Type } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLObjectType,
} from 'graphql';
import { z } from 'zod';
import { assertAllowed, assertWithinClusters } from '../access/authenticator.js';
import { readTenant } from '../access/caller.js';
import { type HandlerParameter, handlerParameters, routeOptionsOf } from '../access/handler-parameters.js';
import type { RouteOptions } from '../access/route.decorator.js';
import type { Tenant } from '../access/tenant.js';
import { schemaOf } from '../http/dto.js';
import { readIfMatch } from '../http/request.js';
import { cursorsOf, ListQuery } from '../http/schemas.js';
import { bodyPointer, invalidRequest } from '../http/validation.pipe.js';
import { dryRunSchema } from '../resources/dry-runs/dry-run.schemas.js';
import { recordOf, rehearse, textsOf } from '../resources/dry-runs/rehearse.js';
import { CONNECTION_ARGUMENTS, connectionOf, connectionType, listRequestOf } from './connection.js';
import { type Field, fieldTenant, type GraphqlContext, ids, nothingThere } from './fields.js';
import { type GraphqlTypes, SafeInteger } from './zod-to-graphql.js';

/** Handler of a route: its controller, and the name of its method. */
export type RouteHandler = readonly [controller: Type, method: string];

/** Returns the process's instance of a controller's class. */
export type ControllerOf = (controller: Type) => object;

type Parts = {
  readonly parameters: readonly HandlerParameter[];
  readonly path: z.ZodObject;
  readonly body: z.ZodObject | undefined;
  /** Its query parameters; `undefined` for a list. */
  readonly query: z.ZodObject | undefined;
  readonly isList: boolean;
  readonly takesIfMatch: boolean;
};

/** @param name of the field: its input type has it too */
export function routeField(
  types: GraphqlTypes,
  name: string,
  route: RouteHandler,
  controllerOf: ControllerOf,
): Field {
  const { options, access, parts, handle } = handlingOf(name, route, controllerOf);
  const answer = answerOf(types, options, parts.isList);
  return {
    type: new GraphQLNonNull(answer.type),
    description: options.summary,
    args: argumentsOf(types, name, parts),
    async resolve(_source, given, context, info) {
      const tenant = callerOf(access, given, context, info);
      return answer.shown(await handle(tenant, given, context), given);
    },
  };
}

/** The field for a route's dry run: `undefined` for a route without a dry run. */
export function dryRunField(
  types: GraphqlTypes,
  name: string,
  route: RouteHandler,
  controllerOf: ControllerOf,
): Field | undefined {
  const { options, access, parts, handle } = handlingOf(name, route, controllerOf);
  const { dryRun } = options;
  if (dryRun === undefined) return undefined;
  return {
    type: new GraphQLNonNull(types.object(dryRunSchema)),
    description: `What would come of it, and nothing is changed: ${options.summary}`,
    args: argumentsOf(types, name, parts),
    async resolve(_source, given, context, info) {
      const tenant = callerOf(access, given, context, info);
      const { input, ...path } = given;
      const asked = { parameters: textsOf(path), body: recordOf(input) };
      return rehearse(tenant, dryRun, asked, (dry) => handle(dry, given, context));
    },
  };
}

type Handling = {
  readonly options: RouteOptions;
  readonly access: Action;
  readonly parts: Parts;
  readonly handle: (tenant: Tenant, given: Given, context: GraphqlContext) => Promise<unknown>;
};

function handlingOf(name: string, [controller, method]: RouteHandler, controllerOf: ControllerOf): Handling {
  const options = routeOptionsOf(controller, method);
  if (options === undefined) throw new Bug(`${controller.name} has no route ${method}`);
  const { access } = options;
  if (access === 'public' || access === 'agent') throw new Bug(`${name} would need no user`);
  const parts = partsOf(controller, method);
  const handle = async (tenant: Tenant, given: Given, context: GraphqlContext): Promise<unknown> => {
    const handler: unknown = controller.prototype[method];
    if (typeof handler !== 'function') throw new Bug(`${method} is no handler`);
    return Reflect.apply(handler, controllerOf(controller), valuesOf(parts, given, tenant, context));
  };
  return { options, access, parts, handle };
}

/** The caller of a field, checked as the guard checks the caller of the route. */
function callerOf(
  access: Action,
  given: Given,
  context: GraphqlContext,
  info: Parameters<typeof fieldTenant>[2],
): Tenant {
  const tenant = assertAllowed(context.tenant, access);
  assertWithinClusters(tenant, access, given);
  return fieldTenant(tenant, given, info);
}

function partsOf(controller: Type, method: string): Parts {
  const parameters = handlerParameters(controller, method);
  const typed = (from: HandlerParameter['from']) =>
    parameters.find((parameter) => parameter.from === from)?.type;
  const body = schemaOf(typed('body'));
  const query = typed('query');
  const isList = query === ListQuery;
  const own = isList ? undefined : schemaOf(query);
  return {
    parameters,
    path: objectOf(schemaOf(typed('path')) ?? z.object({})),
    body: body === undefined ? undefined : objectOf(body),
    query: own === undefined ? undefined : objectOf(own),
    isList,
    takesIfMatch: parameters.some(({ factory }) => factory === readIfMatch),
  };
}

function objectOf(schema: z.ZodType): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema;
  throw new Bug('a path or a body is no object');
}

function argumentsOf(
  types: GraphqlTypes,
  name: string,
  { path, body, query, isList, takesIfMatch }: Parts,
): GraphQLFieldConfigArgumentMap {
  const hasInput = body !== undefined && Object.keys(body.shape).length > 0;
  const inputName = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
  return {
    ...ids(...Object.keys(path.shape)),
    ...(isList ? CONNECTION_ARGUMENTS : {}),
    ...(query === undefined ? {} : types.arguments(query, name)),
    ...(hasInput ? { input: { type: new GraphQLNonNull(types.input(body, inputName)) } } : {}),
    ...(takesIfMatch
      ? {
          ifVersion: {
            type: SafeInteger,
            description: 'The version that was read; refused when it is another.',
          },
        }
      : {}),
  };
}

type Given = Readonly<Record<string, unknown>>;

/** The handler's arguments, in its order. */
function valuesOf(parts: Parts, given: Given, tenant: Tenant, context: GraphqlContext) {
  const { parameters, path, body, query } = parts;
  const values: unknown[] = [];
  for (const { index, from, factory } of parameters) {
    if (from === 'path') values[index] = readPath(path, given);
    else if (from === 'query')
      values[index] = query === undefined ? listRequestOf(given) : readQuery(query, given);
    else if (from === 'body') values[index] = readBody(body ?? z.object({}), given.input ?? {});
    else if (from === 'reply') values[index] = withoutHeaders(context.reply);
    else if (factory === readTenant) values[index] = tenant;
    else if (factory === readIfMatch) values[index] = given.ifVersion ?? undefined;
    else throw new Bug('a handler asks for what a field does not have');
  }
  return values;
}

/** A malformed id can not exist, as in an address. */
function readPath(schema: z.ZodObject, given: Given): unknown {
  const result = schema.safeParse(given);
  if (!result.success) throw nothingThere();
  return result.data;
}

function readQuery(schema: z.ZodObject, given: Given): unknown {
  const asked = Object.entries(given).filter(([name, value]) => name in schema.shape && value !== null);
  const result = schema.safeParse(Object.fromEntries(asked));
  if (result.success) return result.data;
  throw invalidRequest(result.error.issues, bodyPointer);
}

function readBody(schema: z.ZodObject, input: unknown): unknown {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw invalidRequest(result.error.issues, (path) => bodyPointer(['input', ...path]));
}

/** The reply as handlers know it. Tags and addresses that they set belong to one object, which a GraphQL answer is not. */
function withoutHeaders(reply: FastifyReply): FastifyReply {
  const ignored = { value: (): FastifyReply => silent };
  const silent: FastifyReply = Object.create(reply, { header: ignored, code: ignored });
  return silent;
}

type Answer = {
  readonly type:
    | GraphQLNonNull<GraphQLObjectType>
    | GraphQLObjectType
    | typeof GraphQLBoolean
    | GraphQLList<GraphQLNonNull<GraphQLObjectType>>;
  shown(result: unknown, given: Given): unknown;
};

function answerOf(types: GraphqlTypes, { answer }: RouteOptions, isList: boolean): Answer {
  if (answer === undefined) return { type: GraphQLBoolean, shown: () => true };
  const schema = objectOf(answer.schema);
  const item = itemOf(schema);
  if (item === undefined) return { type: types.object(schema), shown: (result) => result };
  const type = types.object(item);
  if (!isList)
    return { type: new GraphQLList(new GraphQLNonNull(type)), shown: (page) => requirePage(page).items };
  return {
    type: connectionType(type),
    shown(result, given) {
      const { cursor } = listRequestOf(given);
      return connectionOf(requirePage(result), cursor, (view) => view);
    },
  };
}

/** Schema of a page's items; undefined for other answers. */
function itemOf({ shape }: z.ZodObject): z.ZodObject | undefined {
  const { items, nextCursor } = shape;
  if (nextCursor === undefined || !(items instanceof z.ZodArray)) return undefined;
  const { element } = items;
  return element instanceof z.ZodObject ? element : undefined;
}

function requirePage(result: unknown): Page<unknown> {
  if (typeof result === 'object' && result !== null && 'items' in result && 'nextCursor' in result) {
    const { items, nextCursor } = result;
    if (Array.isArray(items) && (typeof nextCursor === 'string' || nextCursor === null))
      return { items, nextCursor, cursors: () => cursorsOf(result) };
  }
  throw new Bug('a route with a page has answered with something else');
}
