import type { CommitGuard } from '@holdfast/control/ports/store.js';
import { assertNever } from '@holdfast/core/model/faults.js';
import type { NodeId } from '@holdfast/core/model/ids.js';
import { conflict } from '../sql/errors.js';
import type { Sql } from '../sql/scope.js';

/**
 * Checks what the commit was planned from and counts it up, which also locks the row until the commit. So of two
 * commits planned from one state the second fails, whatever each of them changes.
 */
export async function takeGuard(sql: Sql, guard: CommitGuard): Promise<void> {
  switch (guard.kind) {
    case 'volume':
      return countUp(sql, { table: 'volume', column: 'version', id: guard.volumeId, from: guard.ifVersion });
    case 'node':
      if (guard.countsOn !== undefined) await holdBoth(sql, guard.nodeId, guard.countsOn);
      return countUp(sql, { table: 'node', column: 'version', id: guard.nodeId, from: guard.ifVersion });
    case 'admission':
      return countUp(sql, {
        table: 'cluster',
        column: 'rebuild_queue_version',
        id: guard.clusterId,
        from: guard.ifVersion,
      });
    case 'orphan':
      return countUp(sql, { table: 'orphan', column: 'version', id: guard.orphanId, from: guard.ifVersion });
    case 'new':
      return;
    default:
      return assertNever(guard);
  }
}

/**
 * Locks the node and the one that it counts on in the order of their ids: two commits that count on each other's node would otherwise
 * deadlock.
 */
async function holdBoth(
  sql: Sql,
  nodeId: NodeId,
  countsOn: { readonly id: NodeId; readonly version: number },
): Promise<void> {
  const { rows } = await sql.query<{ id: NodeId; version: number }>(
    'SELECT id, version FROM node WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE',
    [[nodeId, countsOn.id]],
  );
  if (rows.find(({ id }) => id === countsOn.id)?.version === countsOn.version) return;
  throw conflict(`node ${countsOn.id} is gone or has another version than ${countsOn.version}`);
}

async function countUp(
  sql: Sql,
  row: { table: string; column: string; id: string; from: number },
): Promise<void> {
  const { rowCount } = await sql.query(
    `UPDATE ${row.table} SET ${row.column} = ${row.column} + 1 WHERE id = $1 AND ${row.column} = $2`,
    [row.id, row.from],
  );
  if (rowCount === 0)
    throw conflict(`${row.table} ${row.id} is gone or has another version than ${row.from}`);
}
