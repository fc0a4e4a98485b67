/** Stamps of disks in a heartbeat, and what rows say of two disks of one identity. */
import type { DiskReport, HeartbeatReply } from '@holdfast/core/model/agent-protocol.js';
import { withCondition } from '@holdfast/core/model/condition.js';
import type { DiskStamp } from '@holdfast/core/model/disk-stamp.js';
import { diskEvent } from '@holdfast/core/policy/disk-events.js';
import { judgeHolder, setBackReport } from '@holdfast/core/policy/disk-identity.js';
import { diskDuplicatedNews, duplicatedMessage } from '@holdfast/core/policy/disk-move.js';
import { type DiskRow, readDisk } from '../rows/disk-row.js';
import { asJson } from '../sql/table.js';
import { insertEvent } from './events.js';
import type { HeartbeatContext } from './heartbeat-context.js';
import { type Arrivals, acceptedAs, senderOf } from './heartbeat-moved-disks.js';

type Confirmed = NonNullable<HeartbeatReply['stamps']>;

export type HeldDisks = {
  /** Stored state of this node's disks: a disk that was set back is not ready. */
  readonly reports: readonly DiskReport[];
  readonly stamps: ReadonlyMap<string, DiskStamp | undefined>;
  readonly confirmed: Confirmed;
};

/** Judges the disks of the report that are this node's, or new. */
export async function judgeHeld(
  context: HeartbeatContext,
  reports: readonly DiskReport[],
  known: ReadonlyMap<string, DiskRow>,
): Promise<HeldDisks> {
  const stamps = new Map<string, DiskStamp | undefined>();
  const confirmed: Confirmed = [];
  const held: DiskReport[] = [];
  for (const report of reports) {
    const { diskId, stamp: claim } = report;
    const row = known.get(diskId);
    const isOthers = row !== undefined && row.node_id !== context.nodeId;
    const disk = row === undefined || isOthers ? {} : await acceptedAs(context, row);
    const verdict =
      report.ready && !isOthers ? judgeHolder(disk, claim, senderOf(context)) : ({ kind: 'left' } as const);
    held.push(verdict.kind === 'set-back' ? setBackReport(report, verdict.message) : report);
    if (verdict.kind === 'set-back' || verdict.kind === 'left') continue;
    if (verdict.kind === 'stored') stamps.set(diskId, verdict.stamp);
    const isConfirmed = verdict.kind === 'stored' || verdict.isConfirmed;
    if (isConfirmed && claim !== undefined) confirmed.push({ diskId, stampId: claim.id });
  }
  return { reports: held, stamps, confirmed };
}

/** Stored with the report, before its answer permits the agent to write to the copies. */
export async function storeStamps(
  { sql, nodeId }: HeartbeatContext,
  stamps: HeldDisks['stamps'],
): Promise<void> {
  if (stamps.size === 0) return;
  const rows = [...stamps].map(([id, stamp]) => ({ id, stamp: stamp ?? null }));
  await sql.query(
    `UPDATE disk d SET stamp = nullif(x.stamp, 'null'), accepted_node_id = NULL
     FROM jsonb_to_recordset($2::jsonb) AS x(id uuid, stamp jsonb) WHERE d.id = x.id AND d.node_id = $1`,
    [nodeId, asJson(rows)],
  );
}

/** Says of the disks that are in use that there is a second one, and links its row to theirs. */
export async function storeDuplicates(
  context: HeartbeatContext,
  duplicates: Arrivals['duplicates'],
): Promise<void> {
  const { sql, clusterId, heartbeat, now, touched } = context;
  for (const { report, of } of duplicates) {
    await sql.query('UPDATE disk SET duplicate_of = $2 WHERE id = $1 AND duplicate_of IS NULL', [
      report.diskId,
      of.id,
    ]);
    const before = readDisk(of).conditions;
    if (before.some(({ type, status }) => type === 'Unique' && status === 'False')) continue;
    const message = duplicatedMessage(heartbeat.node.name, report.path);
    const said = { type: 'Unique' as const, status: 'False' as const, reason: 'DuplicateDisk', message };
    await storeConditions(context, of.id, withCondition(before, said, now));
    const news = diskDuplicatedNews(of.name, heartbeat.node.name, report.path);
    await insertEvent(sql, diskEvent(clusterId, of, news, now));
    touched.cluster(clusterId);
  }
}

/** Takes back what the disk that is in use says of a second one, once no row of one is left. */
export async function endDuplicates(context: HeartbeatContext, of: readonly string[]): Promise<void> {
  if (of.length === 0) return;
  const { rows } = await context.sql.query<DiskRow>(
    `SELECT * FROM disk d WHERE id = ANY($1) AND NOT EXISTS (SELECT FROM disk x WHERE x.duplicate_of = d.id)
     ORDER BY id FOR UPDATE`,
    [of],
  );
  for (const row of rows) {
    const left = readDisk(row).conditions.filter(({ type }) => type !== 'Unique');
    if (left.length !== row.conditions.length) await storeConditions(context, row.id, left);
  }
}

async function storeConditions(
  { sql }: HeartbeatContext,
  id: string,
  conditions: readonly unknown[],
): Promise<void> {
  await sql.query('UPDATE disk SET conditions = $2::jsonb, version = version + 1 WHERE id = $1', [
    id,
    asJson(conditions),
  ]);
}
