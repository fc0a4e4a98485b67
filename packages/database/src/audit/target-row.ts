/** Record of a changed object for the audit log: the fields of its row that differ, without secrets. */
import type { Sql } from '../sql/scope.js';

export type AuditTarget = { readonly kind: string; readonly id: string };
export type TargetRow = Readonly<Record<string, unknown>>;
export type FieldChanges = { readonly before: TargetRow | null; readonly after: TargetRow | null };

/** Kinds of targets, and the rows that they are. */
const ROWS: Readonly<Record<string, { readonly table: string; readonly key: string }>> = {
  organization: { table: 'organization', key: 'id' },
  signInProvider: { table: 'sign_in_provider', key: 'organization_id' },
  project: { table: 'project', key: 'id' },
  user: { table: 'membership', key: 'user_id' },
  serviceAccount: { table: 'membership', key: 'user_id' },
  token: { table: 'token', key: 'id' },
  cluster: { table: 'cluster', key: 'id' },
  grant: { table: 'cluster_grant', key: 'id' },
  node: { table: 'node', key: 'id' },
  disk: { table: 'disk', key: 'id' },
  volume: { table: 'volume', key: 'id' },
  replica: { table: 'replica', key: 'id' },
  snapshot: { table: 'snapshot', key: 'id' },
  rebuild: { table: 'rebuild', key: 'id' },
  orphan: { table: 'orphan', key: 'id' },
  silence: { table: 'silence', key: 'id' },
  webhook: { table: 'webhook', key: 'id' },
  setting: { table: 'setting', key: 'name' },
};
/** Only the fact of the change is recorded, not the value. A volume's endpoint holds its attachment's secret. */
const SECRET = /secret|password|_hash$|^endpoint$/;
/** Counters and marks that every change moves. */
const NOISE = new Set(['version', 'reconcile_due_at', 'reconcile_marks', 'last_used_at']);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const HIDDEN = '[hidden]';
/** For a longer one only its length is recorded: a log is no store of documents. */
const VALUE_CHARS_MAX = 4_096;

/** @param clusterId of a target that is named within its cluster */
export async function readTarget(
  sql: Sql,
  { kind, id }: AuditTarget,
  clusterId: string | undefined,
): Promise<TargetRow | undefined> {
  const found = Object.hasOwn(ROWS, kind) ? ROWS[kind] : undefined;
  if (found === undefined) return undefined;
  const { table, key } = found;
  const isNamed = key === 'name';
  if (!UUID.test(isNamed ? (clusterId ?? '') : id)) return undefined;
  const { rows } = await sql.query<{ row: TargetRow }>(
    `SELECT to_jsonb(t) AS row FROM ${table} t WHERE t.${key} = $1 ${isNamed ? 'AND t.cluster_id = $2' : ''} LIMIT 1`,
    isNamed ? [id, clusterId] : [id],
  );
  return rows[0]?.row;
}

/** The difference; for an object that was made or deleted, all its fields. */
export function changesBetween(before: TargetRow | undefined, after: TargetRow | undefined): FieldChanges {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(
    (name) => !NOISE.has(name) && JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]),
  );
  return { before: pick(before, names), after: pick(after, names) };
}

function pick(row: TargetRow | undefined, names: readonly string[]): TargetRow | null {
  if (row === undefined || names.length === 0) return null;
  return Object.fromEntries(names.map((name) => [name, shown(name, row[name])]));
}

function shown(name: string, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (SECRET.test(name)) return HIDDEN;
  const { length } = JSON.stringify(value);
  return length > VALUE_CHARS_MAX ? `${length} characters` : value;
}
