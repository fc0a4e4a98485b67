import type { CommitGuard } from '@holdfast/control/ports/store.js';
import { assertNever } from '@holdfast/core/model/faults.js';
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
