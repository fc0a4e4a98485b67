/** What a route says that a dry run of it would come to. */
import type { CopyEffect } from '@holdfast/core/policy/copy-effects.js';
import type { Tenant } from './tenant.js';

/** The ids in the address, and the body as it was sent: both have been checked by the route itself. */
export type DryRequest = {
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
};
export type PlannedEffects = { readonly copies: readonly CopyEffect[]; readonly notes: readonly string[] };
export type DryRunPlanner = (tenant: Tenant, request: DryRequest) => Promise<PlannedEffects>;
