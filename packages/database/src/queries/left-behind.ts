/** What members leave behind (core's `left-behind.ts`): whether its maker still has the right to it, and its end if not. */

import { endedWith, type LEFT_BEHIND, type LeftKind, mayHaveMade } from '@holdfast/access/left-behind.js';
import type { OrganizationRole } from '@holdfast/access/permissions.js';
import type { OrganizationId, UserId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';

export type Maker = {
  readonly organizationId: OrganizationId;
  /** `undefined`: the installation made it, or it is from before makers were noted. */
  readonly userId: UserId | undefined;
};

/**
 * May the maker have made such a thing at this moment? Until the end of the transaction the answer stays: a change of the maker's role
 * waits, and finds then what this transaction has made.
 */
export async function mayStill(sql: Sql, kind: LeftKind, maker: Maker): Promise<boolean> {
  if (maker.userId === undefined) return true;
  return mayHaveMade(kind, await holdRole(sql, { ...maker, userId: maker.userId }));
}

type Member = { readonly organizationId: OrganizationId; readonly userId: UserId };

async function holdRole(sql: Sql, { organizationId, userId }: Member): Promise<OrganizationRole | undefined> {
  const { rows } = await sql.query<{ role: OrganizationRole }>(
    `SELECT role FROM membership WHERE organization_id = $1 AND user_id = $2 AND disabled_at IS NULL FOR SHARE`,
    [organizationId, userId],
  );
  return rows[0]?.role;
}

/** Kinds that end in Postgres; the others are judged where they are used, or stay. */
type EndedKind = {
  [Kind in LeftKind]: (typeof LEFT_BEHIND)[Kind]['end'] extends 'judged' | 'stays' ? never : Kind;
}[LeftKind];

/** For the organization $1 and the maker $2. */
const ENDS: Readonly<Record<EndedKind, string>> = {
  invitation: `DELETE FROM invitation WHERE organization_id = $1 AND invited_by = $2 RETURNING id`,
  "owner's invitation": `DELETE FROM invitation
    WHERE organization_id = $1 AND invited_by = $2 AND role = 'owner' RETURNING id`,
  'join token': `DELETE FROM join_token
    WHERE organization_id = $1 AND made_by = $2 RETURNING id`,
  // One that has not begun ends where it would begin.
  silence: `UPDATE silence SET ends_at = greatest(starts_at, now()), version = version + 1
    WHERE organization_id = $1 AND author = $2::uuid::text AND ends_at > now() RETURNING id`,
  webhook: `UPDATE webhook SET is_enabled = false, version = version + 1,
      disabled_reason = 'its maker is not an admin of the organization any more'
    WHERE organization_id = $1 AND made_by = $2 AND is_enabled RETURNING id`,
  // Existing volumes stay, and their rebuilds continue.
  grant: `UPDATE cluster_grant SET volumes_max = 0, provisioned_bytes_max = 0, version = version + 1
    WHERE owner_organization_id = $1 AND made_by = $2
      AND (volumes_max IS DISTINCT FROM 0 OR provisioned_bytes_max IS DISTINCT FROM 0) RETURNING id`,
};

export type Ended = { readonly kind: LeftKind; readonly ids: readonly string[] };

/**
 * Ends what the member has made and may no longer make with its present role. Called in the transaction that changes or ends the
 * membership, after that: a concurrent creation holds the membership until it can be found.
 */
export async function endLeftBehind(sql: Sql, { organizationId, userId }: Member): Promise<Ended[]> {
  const role = await holdRole(sql, { organizationId, userId });
  const ended: Ended[] = [];
  for (const kind of endedWith(role)) {
    const statement = Object.entries(ENDS).find(([name]) => name === kind)?.[1];
    if (statement === undefined) continue;
    const { rows } = await sql.query<{ id: string }>(statement, [organizationId, userId]);
    if (rows.length > 0) ended.push({ kind, ids: rows.map(({ id }) => id) });
  }
  return ended;
}
