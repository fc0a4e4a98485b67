/** Due times of volumes, and the fan-outs that mark them: the same as in Postgres, over the tables in memory. */
import type { DuePage, DuePlace, DueVolume, FanOutBatch } from '@holdfast/control/ports/store.js';
import { compareIds, type VolumeId } from '@holdfast/core/model/ids.js';
import { holderOf, requestOf } from '@holdfast/core/model/volume-lifecycle.js';
import { laneOf, partyOf } from '@holdfast/core/policy/work-lane.js';
import type { FanOutRow, Tables, Transaction } from './tables.js';

export function dueVolumes({ dues, volumes }: Tables, { now, limit, after, lane }: DuePage): DueVolume[] {
  const found: DueVolume[] = [];
  for (const [volumeId, { at }] of dues) {
    const volume = volumes.get(volumeId);
    if (at === undefined || at > now || volume === undefined) continue;
    if (lane !== undefined && laneOf(volume) !== lane) continue;
    if (after === undefined || compareDue({ volumeId, at }, after) > 0)
      found.push({ volumeId, at, party: partyOf(volume) });
  }
  return found.sort(compareDue).slice(0, limit);
}

function compareDue(a: DuePlace, b: DuePlace): number {
  return a.at.getTime() - b.at.getTime() || compareIds(a.volumeId, b.volumeId);
}

export function recordDue(
  { dues, volumes }: Tables,
  volumeId: VolumeId,
  { at, ifMarks }: { at: Date | undefined; ifMarks: number },
): boolean {
  if (!volumes.has(volumeId) || dues.get(volumeId)?.marks !== ifMarks) return false;
  dues.set(volumeId, { at, marks: ifMarks });
  return true;
}

export function runFanOut(
  transaction: Transaction,
  clusterId: FanOutRow['clusterId'],
  limit: number,
): FanOutBatch | undefined {
  const { fanOuts } = transaction.tables;
  const own = [...fanOuts.values()].filter((row) => row.clusterId === clusterId);
  const row = own.find(({ of }) => of !== 'cluster') ?? own[0];
  if (row === undefined) return undefined;
  const volumeIds = concernedVolumes(transaction.tables, row).slice(0, limit);
  const isEnd = volumeIds.length < limit;
  if (isEnd && !row.again) transaction.remove(fanOuts, row.subjectId);
  else {
    const afterId = isEnd ? undefined : volumeIds.at(-1);
    transaction.put(fanOuts, row.subjectId, { ...row, afterId, again: !isEnd && row.again });
  }
  for (const volumeId of volumeIds) transaction.touchVolume(volumeId);
  return { of: row.of, isDone: isEnd && !row.again };
}

function concernedVolumes({ volumes, replicas }: Tables, row: FanOutRow): VolumeId[] {
  const { of, subjectId, afterId } = row;
  const there = of === 'cluster' ? [] : replicas.by(of, subjectId);
  const holders = new Set(there.map(({ volumeId }) => volumeId));
  return [...volumes.values()]
    .filter((volume) => {
      if (volume.clusterId !== row.clusterId) return false;
      if (of === 'cluster' || holders.has(volume.id)) return true;
      const isAwaitingNode = requestOf(volume) !== undefined && holderOf(volume) === undefined;
      return of === 'node' && (holderOf(volume) === subjectId || isAwaitingNode);
    })
    .map(({ id }) => id)
    .filter((id) => afterId === undefined || compareIds(id, afterId) > 0)
    .sort(compareIds);
}
