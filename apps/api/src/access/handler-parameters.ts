/**
 * Sources of the parameters of a controller's handlers, from the metadata of Nest's decorators. Used for the OpenAPI document and for
 * GraphQL fields made from routes.
 */
import type { Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { ROUTE_OPTIONS, type RouteOptions } from './route.decorator.js';

export type HandlerParameter = {
  readonly index: number;
  /** Part of the request; custom for decorators of our own. */
  readonly from: 'body' | 'query' | 'path' | 'reply' | 'custom' | 'other';
  /** Class of its type; a DTO's class has the schema. */
  readonly type: unknown;
  /** The function of a decorator of our own. */
  readonly factory: unknown;
};

const SOURCES = new Map<number, HandlerParameter['from']>([
  [RouteParamtypes.BODY, 'body'],
  [RouteParamtypes.QUERY, 'query'],
  [RouteParamtypes.PARAM, 'path'],
  [RouteParamtypes.RESPONSE, 'reply'],
]);

export function handlerParameters(controller: Type, name: string): HandlerParameter[] {
  const types: unknown[] = Reflect.getMetadata('design:paramtypes', controller.prototype, name) ?? [];
  const noted: Record<string, { index: number; factory?: unknown }> =
    Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {};
  return Object.entries(noted).map(([key, { index, factory }]) => ({
    index,
    from: factory === undefined ? (SOURCES.get(Number.parseInt(key, 10)) ?? 'other') : 'custom',
    type: types[index],
    factory,
  }));
}

/** The handler's `@Route` options; undefined for other methods. */
export function routeOptionsOf(controller: Type, name: string): RouteOptions | undefined {
  const handler: unknown = controller.prototype[name];
  return typeof handler === 'function' ? Reflect.getMetadata(ROUTE_OPTIONS, handler) : undefined;
}
