/** Verification of an organization's audit chain: computes every hash anew, and finds the first link that does not hold. */
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { type Scope, snapshot } from '../sql/scope.js';
import { AUDIT_COLUMNS, type AuditRow, type ChainHead, GENESIS, nextLink, readAnchor } from './entry-hash.js';

/** Links per query: hashed within some milliseconds, after which other requests run. */
const BATCH = 1_000;

export type BrokenLink = {
  readonly sequence: number;
  readonly entryId: number | undefined;
  readonly why: 'entry-missing' | 'entry-changed' | 'entry-unlinked' | 'link-missing' | 'other-head';
};

export type ChainReport = {
  /** Links that were checked. */
  readonly checked: number;
  /** Where the check began: after a link that was pruned, or that the caller named. */
  readonly from: ChainHead;
  /** The last link that holds. */
  readonly through: ChainHead;
  readonly broken: BrokenLink | undefined;
  /** More is to be checked: ask again after `through`. */
  readonly more: boolean;
  /** Entries that are not in the chain yet. */
  readonly unsealed: number;
};

type LinkRow = { sequence: number; entry_id: number; hash: string; id: number | null } & Omit<AuditRow, 'id'>;

export type ChainQuestion = {
  readonly organizationId: OrganizationId;
  /** Begins after this link, which an earlier report ended with; left out: with the first one. */
  readonly after?: number | undefined;
  /** A link that was written down earlier, which must still be there with this hash. */
  readonly expected?: ChainHead | undefined;
  /** Links to check at most. */
  readonly limit: number;
};

export async function verifyChain(scope: Scope, question: ChainQuestion): Promise<ChainReport> {
  const { organizationId, limit } = question;
  const anchor = await snapshot(scope, (sql) => readAnchor(sql, organizationId));
  const from = await startOf(scope, question, anchor);
  let through = from;
  let checked = 0;
  let broken = await judgeExpected(scope, question, anchor);
  let more = true;
  while (broken === undefined && more && checked < limit) {
    const rows = await readLinks(scope, organizationId, through.sequence);
    for (const row of rows) {
      broken = judgeLink(through, row);
      if (broken !== undefined) break;
      through = { sequence: row.sequence, hash: row.hash };
      checked += 1;
    }
    more = rows.length === BATCH;
  }
  if (broken === undefined && !more) broken = await findUnlinked(scope, organizationId, through);
  const unsealed = await countUnsealed(scope, organizationId);
  return { checked, from, through, broken, more: broken === undefined && more, unsealed };
}

/** A link that the caller names may have been pruned meanwhile. */
async function startOf(
  scope: Scope,
  { organizationId, after }: ChainQuestion,
  anchor: ChainHead,
): Promise<ChainHead> {
  if (after === undefined || after <= anchor.sequence) return anchor;
  return (await findLink(scope, organizationId, after)) ?? { ...GENESIS, sequence: after };
}

async function judgeExpected(
  scope: Scope,
  { organizationId, expected }: ChainQuestion,
  anchor: ChainHead,
): Promise<BrokenLink | undefined> {
  if (expected === undefined || expected.sequence < anchor.sequence) return undefined;
  const found =
    expected.sequence === anchor.sequence ? anchor : await findLink(scope, organizationId, expected.sequence);
  if (found?.hash === expected.hash) return undefined;
  return { sequence: expected.sequence, entryId: undefined, why: 'other-head' };
}

function judgeLink(previous: ChainHead, row: LinkRow): BrokenLink | undefined {
  const { sequence, entry_id: entryId } = row;
  if (sequence !== previous.sequence + 1)
    return { sequence: previous.sequence + 1, entryId: undefined, why: 'link-missing' };
  if (row.id === null) return { sequence, entryId, why: 'entry-missing' };
  const { hash } = nextLink(previous, { ...row, id: row.id });
  return hash === row.hash ? undefined : { sequence, entryId, why: 'entry-changed' };
}

async function readLinks(scope: Scope, organizationId: OrganizationId, after: number): Promise<LinkRow[]> {
  const { rows } = await snapshot(scope, (sql) =>
    sql.query<LinkRow>(
      `SELECT l.sequence, l.entry_id, l.hash, ${AUDIT_COLUMNS}
       FROM audit_link l LEFT JOIN audit_entry e ON e.id = l.entry_id
       WHERE l.organization_id = $1 AND l.sequence > $2 ORDER BY l.sequence LIMIT ${BATCH}`,
      [organizationId, after],
    ),
  );
  return rows;
}

async function findLink(
  scope: Scope,
  organizationId: OrganizationId,
  sequence: number,
): Promise<ChainHead | undefined> {
  const { rows } = await snapshot(scope, (sql) =>
    sql.query<ChainHead>(
      'SELECT sequence, hash FROM audit_link WHERE organization_id = $1 AND sequence = $2',
      [organizationId, sequence],
    ),
  );
  return rows[0];
}

/** An entry that was kept out of the chain. */
async function findUnlinked(
  scope: Scope,
  organizationId: OrganizationId,
  { sequence }: ChainHead,
): Promise<BrokenLink | undefined> {
  const { rows } = await snapshot(scope, (sql) =>
    sql.query<{ id: number }>(
      `SELECT e.id FROM audit_entry e
       LEFT JOIN audit_link l ON l.entry_id = e.id
       LEFT JOIN audit_unsealed u ON u.entry_id = e.id AND u.organization_id = e.organization_id
       WHERE e.organization_id = $1 AND l.entry_id IS NULL AND u.entry_id IS NULL ORDER BY e.id LIMIT 1`,
      [organizationId],
    ),
  );
  const [row] = rows;
  return row === undefined ? undefined : { sequence: sequence + 1, entryId: row.id, why: 'entry-unlinked' };
}

async function countUnsealed(scope: Scope, organizationId: OrganizationId): Promise<number> {
  const { rows } = await snapshot(scope, (sql) =>
    sql.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM audit_unsealed WHERE organization_id = $1',
      [organizationId],
    ),
  );
  return rows[0]?.count ?? 0;
}
