import type { Action } from '@holdfast/access/permissions.js';
import type { FaultCode } from '@holdfast/core/model/faults.js';
import { applyDecorators, HttpCode, SetMetadata } from '@nestjs/common';
import type { DtoClass } from '../http/dto.js';
import type { DryRunPlanner } from './dry-run-planner.js';

/**
 * Callers that a route admits. `public`: callers without a token too. `agent`: a node's agent, by its certificate. Otherwise the action
 * that a user's role must allow.
 */
export type RouteAccess = 'public' | 'agent' | Action;

export type RouteOptions = {
  access: RouteAccess;
  /** An agent's route whose work compares the certificate with the node's identity, in its own statement. */
  comparesIdentity?: true;
  summary: string;
  /** The answer's DTO; left out when the answer has no body. */
  answer?: DtoClass;
  status?: number;
  /** It may answer 202, with the same body, while the worker carries it out. */
  mayAccept?: true;
  /** It begins an operation, or reads one, and takes `Prefer: wait` for its end. */
  mayWait?: true;
  /** The answer holds a secret that is shown once: it is not kept for a repeat with the same Idempotency-Key. */
  answersSecret?: true;
  /** It moves or destroys data, so it takes `dryRun`: plans the effects on copies and data. */
  dryRun?: DryRunPlanner;
  /** Media types of an answer that is not JSON. */
  produces?: readonly string[];
  /**
   * Fault codes of its refusals, for the OpenAPI document. `refusalsOf` adds those that follow from the route's inputs. The API's tests
   * compare each refusal with the document.
   */
  refuses?: readonly FaultCode[];
};

/** Metadata key of a route's options, for the guard and the OpenAPI document. */
export const ROUTE_OPTIONS = 'holdfast:route';

/** Declares a route: the access it needs, and its part of the OpenAPI document. */
export function Route(options: RouteOptions): MethodDecorator {
  return applyDecorators(SetMetadata(ROUTE_OPTIONS, options), HttpCode(options.status ?? 200));
}
