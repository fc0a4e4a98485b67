import type { Action } from '@holdfast/access/permissions.js';
import type { FaultCode } from '@holdfast/core/model/faults.js';
import { applyDecorators, HttpCode, SetMetadata } from '@nestjs/common';
import type { DtoClass } from '../http/dto.js';
import type { DryRunPlanner } from './dry-run-planner.js';

/** Whom a route lets in. `public`: callers without a token too. `agent`: a node's agent, by its certificate. Else what a user's role must allow. */
export type RouteAccess = 'public' | 'agent' | Action;

export type RouteOptions = {
  access: RouteAccess;
  /** An agent's route whose work compares the certificate with the node's identity, in the statement that it is made of. */
  comparesIdentity?: true;
  summary: string;
  /** The answer's DTO; left out when the answer has no body. */
  answer?: DtoClass;
  status?: number;
  /** It may answer 202, with the same body, while the worker makes things so. */
  mayAccept?: true;
  /** It begins an operation, or reads one, and takes `Prefer: wait` for its end. */
  mayWait?: true;
  /** The answer holds a secret that is shown once: it is not kept for a repeat with the same Idempotency-Key. */
  answersSecret?: true;
  /** It moves or destroys data, so it takes `dryRun`: what of copies and data it would come to. */
  dryRun?: DryRunPlanner;
  /** Media types of an answer that is no JSON. */
  produces?: readonly string[];
  /**
   * Fault codes that it may refuse with, for the OpenAPI document. Those that follow from what the route takes are added
   * by `refusalsOf`. The API's tests compare each refusal that they get with the document.
   */
  refuses?: readonly FaultCode[];
};

/** Metadata key under which the guard and the OpenAPI document find what a route says of itself. */
export const ROUTE_OPTIONS = 'holdfast:route';

/** What every route declares: the access it needs, and its part of the OpenAPI document. */
export function Route(options: RouteOptions): MethodDecorator {
  return applyDecorators(SetMetadata(ROUTE_OPTIONS, options), HttpCode(options.status ?? 200));
}
