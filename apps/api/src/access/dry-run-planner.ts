/** Planner of a route's dry run: its effects on copies and data. */
import type { CopyEffect } from '@holdfast/core/policy/copy-effects.js';
import type { Tenant } from './tenant.js';

/** The ids in the address, and the body as sent: both have been validated by the route. */
export type DryRequest = {
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
};
export type PlannedEffects = { readonly copies: readonly CopyEffect[]; readonly notes: readonly string[] };
export type DryRunPlanner = (tenant: Tenant, request: DryRequest) => Promise<PlannedEffects>;
