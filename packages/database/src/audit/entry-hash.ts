/**
 * Hash of a link in the chain of audit entries, over the entry as it is stored and the hash of the link before it. Whoever changes
 * an entry changes the hashes of all links after it.
 */
import { createHash } from 'node:crypto';
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';

/** An entry as its row has it. */
export type AuditRow = {
  id: number;
  organization_id: OrganizationId;
  actor_kind: string;
  actor_id: string;
  address: string;
  action: string;
  target_kind: string;
  target_id: string;
  result: 'done' | 'refused';
  reason: string;
  request_id: string;
  trace_id: string;
  detail: Record<string, unknown>;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  at: Date;
};

/** A place in a chain. */
export type ChainHead = { readonly sequence: number; readonly hash: string };

export const AUDIT_COLUMNS = `e.id, e.organization_id, e.actor_kind, e.actor_id, e.address, e.action, e.target_kind,
  e.target_id, e.result, e.reason, e.request_id, e.trace_id, e.detail, e.before, e.after, e.at`;

/** Before the first link. */
export const GENESIS: ChainHead = { sequence: 0, hash: '' };

/** The link after another one. */
export function nextLink(previous: ChainHead, row: AuditRow): ChainHead {
  const sequence = previous.sequence + 1;
  const content = [
    sequence,
    previous.hash,
    row.id,
    row.organization_id,
    row.actor_kind,
    row.actor_id,
    row.address,
    row.action,
    row.target_kind,
    row.target_id,
    row.result,
    row.reason,
    row.request_id,
    row.trace_id,
    row.detail,
    row.before,
    row.after,
    row.at.toISOString(),
  ];
  return { sequence, hash: createHash('sha256').update(canonicalJson(content)).digest('hex') };
}

/** First link after pruning. */
export async function readAnchor(sql: Sql, organizationId: OrganizationId): Promise<ChainHead> {
  const { rows } = await sql.query<ChainHead>(
    'SELECT sequence, hash FROM audit_anchor WHERE organization_id = $1',
    [organizationId],
  );
  return rows[0] ?? GENESIS;
}

/** The chain's last link. */
export async function readHead(sql: Sql, organizationId: OrganizationId): Promise<ChainHead> {
  const { rows } = await sql.query<ChainHead>(
    'SELECT sequence, hash FROM audit_link WHERE organization_id = $1 ORDER BY sequence DESC LIMIT 1',
    [organizationId],
  );
  return rows[0] ?? readAnchor(sql, organizationId);
}

/** One text for equal values: fields in the order of their names, no spaces. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
