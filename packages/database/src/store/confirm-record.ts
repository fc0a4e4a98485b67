import { type CopyRecord, compareRecords } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { NodeId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import { requireMembersOf } from '@holdfast/core/policy/known-members.js';
import type { Sql } from '../sql/scope.js';
import { asJson } from '../sql/table.js';
import { WakeUpSet, writeOutbox } from './wake-up-set.js';

type VolumeRow = {
  epoch: number;
  grant_id: string | null;
  record: CopyRecord | null;
  attached_node_id: NodeId | null;
};

/**
 * Records smaller members for an engine that may not shrink them alone. I/O of the volume waits for this, and from
 * the commit on only these members can ever be believed.
 */
export async function confirmRecord(
  sql: Sql,
  volumeId: VolumeId,
  record: CopyRecord,
  { grantId, askedBy }: { grantId?: string | undefined; askedBy?: NodeId | undefined } = {},
): Promise<void> {
  const { rows } = await sql.query<VolumeRow>(
    'SELECT epoch, grant_id, record, attached_node_id FROM volume WHERE id = $1 FOR UPDATE',
    [volumeId],
  );
  const current = rows[0];
  if (current === undefined || current.epoch !== record.epoch)
    throw stale(volumeId, 'a newer attachment exists');
  const isOther = grantId !== undefined && current.grant_id !== null && current.grant_id !== grantId;
  if (isOther) throw stale(volumeId, 'its epoch was granted once more');
  if (askedBy !== undefined && current.attached_node_id !== askedBy)
    throw stale(volumeId, 'the volume is not attached to the node that asks');
  if (askedBy !== undefined) await requireKnownMembers(sql, volumeId, { record, before: current.record });
  if (current.record !== null) {
    const order = compareRecords(current.record, record);
    if (order > 0) throw stale(volumeId, 'a newer record exists');
    // The answer to the first call may have been lost; the same record again is confirmed again.
    if (order === 0 && !sameMembers(current.record, record))
      throw stale(volumeId, 'the record is another one');
    if (order === 0) return;
  }
  if (record.members.length === 0) throw stale(volumeId, 'a record needs members');
  await sql.query('UPDATE volume SET record = $2, version = version + 1 WHERE id = $1', [
    volumeId,
    asJson(record),
  ]);
  const touched = new WakeUpSet('safety');
  touched.volume(volumeId);
  await writeOutbox(sql, touched);
}

async function requireKnownMembers(
  sql: Sql,
  volumeId: VolumeId,
  { record, before }: { record: CopyRecord; before: CopyRecord | null },
): Promise<void> {
  const { rows } = await sql.query<{ id: ReplicaId }>('SELECT id FROM replica WHERE volume_id = $1', [
    volumeId,
  ]);
  requireMembersOf(
    rows.map(({ id }) => id),
    record,
    before ?? undefined,
  );
}

function sameMembers(a: CopyRecord, b: CopyRecord): boolean {
  return [...a.members].sort().join() === [...b.members].sort().join();
}

function stale(volumeId: VolumeId, why: string): StorageFault {
  return new StorageFault('engine.stale_epoch', {
    publicMessage: `the record was not taken over: ${why}`,
    context: { volumeId },
  });
}
