import type { OrganizationId, TokenId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';
import { asJson } from '../sql/table.js';

/** Longer than any request runs. After it a request may be repeated whose process died unseen, as with the machine under it. */
const LOCK_SECONDS = 90;
const KEPT_HOURS = 24;

export type IdempotentRequest = {
  organizationId: OrganizationId;
  tokenId: TokenId;
  key: string;
  requestHash: string;
  /** For what the request creates; a repeat gets the id of the first try. */
  resourceId: string;
  /** Lock of the process that carries it out; `undefined`: it has none now. */
  holder: string | undefined;
  now: Date;
};

export function lockEndsAt({ now }: Pick<IdempotentRequest, 'now'>): Date {
  return new Date(now.getTime() + LOCK_SECONDS * 1_000);
}

export type Reservation =
  | { kind: 'run'; resourceId: string }
  | { kind: 'replay'; status: number; body: unknown }
  | { kind: 'other-request' }
  | { kind: 'in-flight' };

type KeyRow = {
  request_hash: string;
  resource_id: string;
  locked: boolean;
  status: number | null;
  body: unknown;
};

/** Takes the key for this request, or returns the outcome of the earlier request with it. */
export async function reserveKey(sql: Sql, request: IdempotentRequest): Promise<Reservation> {
  const { organizationId, tokenId, key, now } = request;
  const holder = request.holder ?? null;
  await sql.query(
    `DELETE FROM idempotency_key WHERE created_at < $1::timestamptz - interval '${KEPT_HOURS} hours'`,
    [now],
  );
  const inserted = await sql.query(
    `INSERT INTO idempotency_key (organization_id, token_id, key, request_hash, resource_id, locked_until, created_at, holder)
     VALUES ($1, $2, $3, $4, $5, $6::timestamptz + interval '${LOCK_SECONDS} seconds', $6, $7)
     ON CONFLICT (organization_id, token_id, key) DO NOTHING`,
    [organizationId, tokenId, key, request.requestHash, request.resourceId, now, holder],
  );
  if (inserted.rowCount === 1) return { kind: 'run', resourceId: request.resourceId };
  const { rows } = await sql.query<KeyRow>(
    `SELECT request_hash, resource_id, status, body,
       locked_until > $4 AND NOT (holder IS NOT NULL AND pg_try_advisory_xact_lock(holder)) AS locked
     FROM idempotency_key WHERE organization_id = $1 AND token_id = $2 AND key = $3 FOR UPDATE`,
    [organizationId, tokenId, key, now],
  );
  const row = rows[0];
  if (row === undefined) return { kind: 'in-flight' };
  if (row.request_hash !== request.requestHash) return { kind: 'other-request' };
  if (row.status !== null) return { kind: 'replay', status: row.status, body: row.body };
  if (row.locked) return { kind: 'in-flight' };
  await sql.query(
    `UPDATE idempotency_key SET locked_until = $4::timestamptz + interval '${LOCK_SECONDS} seconds', holder = $5
     WHERE organization_id = $1 AND token_id = $2 AND key = $3`,
    [organizationId, tokenId, key, now, holder],
  );
  return { kind: 'run', resourceId: row.resource_id };
}

export async function storeAnswer(
  sql: Sql,
  request: IdempotentRequest,
  answer: { status: number; body: unknown },
): Promise<void> {
  await sql.query(
    `UPDATE idempotency_key SET status = $4, body = $5 WHERE organization_id = $1 AND token_id = $2 AND key = $3`,
    [request.organizationId, request.tokenId, request.key, answer.status, asJson(answer.body)],
  );
}

/** Its request ended without an answer: a repeat may be carried out. One that has it again by now keeps its lock. */
export async function unlockKey(sql: Sql, request: IdempotentRequest): Promise<void> {
  await sql.query(
    `UPDATE idempotency_key SET locked_until = '-infinity'
     WHERE organization_id = $1 AND token_id = $2 AND key = $3 AND locked_until = $4 AND status IS NULL`,
    [request.organizationId, request.tokenId, request.key, lockEndsAt(request)],
  );
}

/** A request that was refused changed nothing: the key is free again. */
export async function releaseKey(sql: Sql, request: IdempotentRequest): Promise<void> {
  await sql.query('DELETE FROM idempotency_key WHERE organization_id = $1 AND token_id = $2 AND key = $3', [
    request.organizationId,
    request.tokenId,
    request.key,
  ]);
}
