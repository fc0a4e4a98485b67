/** One dry run: the request's own work with transactions that are rolled back, and its effects. */
import { bytesOf } from '@holdfast/core/policy/copy-effects.js';
import type { DryRequest, DryRunPlanner, PlannedEffects } from '../../access/dry-run-planner.js';
import type { Rehearsed, Tenant } from '../../access/tenant.js';
import type { DryRunView } from './dry-run.schemas.js';

/** Copies in one answer; the sums are of all. */
const COPIES_MAX = 1_000;

/** @param work of the request, run as the given caller */
export async function rehearse(
  tenant: Tenant,
  plan: DryRunPlanner,
  asked: DryRequest,
  work: (dry: Tenant) => Promise<unknown>,
): Promise<DryRunView> {
  const dry = tenant.rehearsing();
  // First, since a refused request has no plan.
  await work(dry);
  const planned = await plan(dry, asked);
  await dry.noteDryRun();
  return viewOf(dry, planned);
}

function viewOf({ rehearsed }: Tenant, { copies, notes }: PlannedEffects): DryRunView {
  const { changes, events }: Rehearsed = rehearsed ?? { changes: [], events: [] };
  const { removed, copied } = bytesOf(copies);
  const last = changes.at(-1);
  return {
    dryRun: true,
    changes: changes.length > 0,
    before: last?.before ?? null,
    after: last?.after ?? null,
    events: events.map(({ type, message }) => ({ type, message })),
    copies: changes.length === 0 ? [] : copies.slice(0, COPIES_MAX).map(copyView),
    copyCount: changes.length === 0 ? 0 : copies.length,
    bytesRemoved: changes.length === 0 ? 0 : removed,
    bytesCopied: changes.length === 0 ? 0 : copied,
    notes: changes.length === 0 ? [] : [...notes],
  };
}

function copyView({
  replicaId,
  nodeId,
  diskId,
  ...copy
}: PlannedEffects['copies'][number]): DryRunView['copies'][number] {
  return { ...copy, replicaId: replicaId ?? null, nodeId: nodeId ?? null, diskId: diskId ?? null };
}

export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Parameters of an address, with ids in their stored spelling. */
export function textsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(recordOf(value)).map(([name, text]) => [name, String(text).toLowerCase()]),
  );
}
