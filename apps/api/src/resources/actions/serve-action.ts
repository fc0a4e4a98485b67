/**
 * Actions on one object: `POST …/volumes/{id}/attach` in REST, `attachVolume` in GraphQL. Each is declared once, as a value, from which the
 * route, the mutation and the OpenAPI document are made.
 */

import type { Action as Permission } from '@holdfast/access/permissions.js';
import type { FaultCode } from '@holdfast/core/model/faults.js';
import { Body, Controller, Param, Post, Res, type Type } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { CurrentTenant } from '../../access/caller.js';
import type { DryRunPlanner } from '../../access/dry-run-planner.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import type { DtoClass } from '../../http/dto.js';
import { etagOf, IfMatch } from '../../http/request.js';
import { operationAddress } from './operation-address.js';

/** The kind of object that actions act on: its address, and how it is read and shown. */
export type ActionTarget<Path extends z.ZodObject, Found, View extends object> = {
  /** Used in the names of operations and mutations: `volumes_attach`, `attachVolume`. */
  readonly plural: string;
  readonly noun: string;
  /** Its address, with parameters in Nest's syntax. */
  readonly address: string;
  readonly path: DtoClass<Path>;
  readonly access: Permission;
  readonly answer: DtoClass & { readonly schema: z.ZodObject };
  /** @throws StorageFault when none exists under this key */
  read(tenant: Tenant, key: z.output<Path>): Promise<Found>;
  /** The caller's view of it. */
  view(found: Found, tenant: Tenant): View;
};

export type ActionRequest<Key, Found, Body> = {
  readonly tenant: Tenant;
  readonly key: Key;
  /** The object before the action. */
  readonly before: Found;
  readonly body: Body;
  /** The version that `If-Match` names, for actions that take it; undefined: any. */
  readonly ifVersion: number | undefined;
};

export type ActionSpec<Path extends z.ZodObject, Found, View extends object, Body extends z.ZodObject> = {
  /** The verb: the end of the address, unless `at` is set, and the beginning of the mutation's name. */
  readonly name: string;
  readonly at?: string;
  /** The mutation's name, if not verb and noun. */
  readonly mutation?: string;
  readonly summary: string;
  readonly body: DtoClass<Body>;
  readonly refuses: readonly FaultCode[];
  readonly takesIfMatch?: boolean;
  /** It moves or destroys data: plans the effects on copies and data (`?dryRun=true`). */
  readonly dryRun?: DryRunPlanner;
  /** Commits the intent. The worker does the rest, so it never waits. */
  act(request: ActionRequest<z.output<Path>, Found, z.output<Body>>): Promise<unknown>;
  /** Id of the operation that the action has started; undefined: none. Used where the answer is 202. */
  operation?(found: Found): string | undefined;
  /** Is the desired state reached? If so 200, otherwise 202 while the worker reaches it. Left out: never at once. */
  isDone?(view: View, body: z.output<Body>): boolean;
};

/** An action ready to be served. */
export type ServedAction = {
  readonly controller: Type;
  /** Name of the controller's one handler. */
  readonly method: string;
  /** Name of the GraphQL mutation made from the route. */
  readonly mutation: string;
};

export function serveAction<Path extends z.ZodObject, Found, View extends object, Body extends z.ZodObject>(
  target: ActionTarget<Path, Found, View>,
  spec: ActionSpec<Path, Found, View, Body>,
): ServedAction {
  const run: Run<Path, View, Body> = async (tenant, key, body, ifVersion) => {
    const before = await target.read(tenant, key);
    await spec.act({ tenant, key, before, body, ifVersion });
    const found = await target.read(tenant, key);
    return { view: target.view(found, tenant), operation: spec.operation?.(found) };
  };
  return {
    controller: controllerOf(target, spec, run),
    method: spec.name,
    mutation: spec.mutation ?? `${spec.name}${target.noun}`,
  };
}

type Run<Path extends z.ZodObject, View, Body extends z.ZodObject> = (
  tenant: Tenant,
  key: z.output<Path>,
  body: z.output<Body>,
  ifVersion?: number,
) => Promise<{ view: View; operation: string | undefined }>;

/** A controller with this one route. Nest reads decorators' metadata, which are set here as decorators would. */
function controllerOf<Path extends z.ZodObject, Found, View extends object, Body extends z.ZodObject>(
  target: ActionTarget<Path, Found, View>,
  spec: ActionSpec<Path, Found, View, Body>,
  run: Run<Path, View, Body>,
): Type {
  const { name, at = name, summary, refuses, isDone } = spec;
  class ActionController {
    async [name](
      tenant: Tenant,
      key: z.output<Path>,
      body: z.output<Body>,
      reply: FastifyReply,
      ifVersion: number | undefined,
    ): Promise<View> {
      const { view, operation } = await run(tenant, key, body, ifVersion);
      const isAccepted = isDone === undefined || !isDone(view, body);
      if (isAccepted) void reply.code(202);
      if (isAccepted && operation !== undefined)
        void reply.header('location', operationAddress(key, operation));
      if ('version' in view && typeof view.version === 'number')
        void reply.header('etag', etagOf(view.version));
      return view;
    }
  }
  const { prototype } = ActionController;
  const handler = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
  Object.defineProperty(ActionController, 'name', { value: `${target.plural}Controller` });
  Reflect.defineMetadata(
    'design:paramtypes',
    [Object, target.path, spec.body, Object, Number],
    prototype,
    name,
  );
  CurrentTenant()(prototype, name, 0);
  Param()(prototype, name, 1);
  Body()(prototype, name, 2);
  Res({ passthrough: true })(prototype, name, 3);
  if (spec.takesIfMatch === true) IfMatch()(prototype, name, 4);
  Post(at)(prototype, name, handler);
  const status = isDone === undefined ? ({ status: 202 } as const) : ({ mayAccept: true } as const);
  const { access, answer } = target;
  const dryRun = spec.dryRun === undefined ? {} : { dryRun: spec.dryRun };
  const wait = spec.operation === undefined ? {} : ({ mayWait: true } as const);
  Route({ access, summary, answer, ...status, ...wait, ...dryRun, refuses })(prototype, name, handler);
  Controller(target.address)(ActionController);
  return ActionController;
}
