/** Consequences of requests that change a volume's layers, in sentences for a plan. They repeat the rules of a purge and of a revert. */
import { formatBytes } from '../model/bytes.js';
import type { SnapshotId } from '../model/ids.js';
import type { Snapshot } from '../model/snapshot.js';
import type { Volume } from '../model/volume.js';

export type Layers = {
  readonly volume: Pick<Volume, 'chain'> & { readonly spec: Pick<Volume['spec'], 'sizeBytes'> };
  readonly snapshots: readonly Pick<Snapshot, 'id' | 'name' | 'parentId' | 'sizeBytes' | 'state'>[];
};

/** What becomes of the data of a snapshot that is deleted. Empty for one that no copy has. */
export function deletionNotes({ volume, snapshots }: Layers, snapshotId: SnapshotId): string[] {
  const snapshot = snapshots.find(({ id }) => id === snapshotId);
  if (snapshot === undefined || snapshot.state === 'failed') return [];
  const above = snapshots.filter(({ parentId, state }) => parentId === snapshotId && state !== 'failed');
  const isUnderHead = volume.chain?.headParentId === snapshotId;
  const [only] = above;
  const own = formatBytes(snapshot.sizeBytes);
  const last = 'the volume can not be reverted to it any more, and that can not be undone';
  if (above.length + Number(isUnderHead) > 1)
    return [`its ${own} stay on each copy: more than one later layer stands on them`, last];
  if (isUnderHead)
    return [`its ${own} stay on each copy until writes cover them or a later snapshot is taken`, last];
  if (only === undefined) return [`its ${own} are removed from each copy: nothing stands on them`, last];
  return [
    `its ${own} are merged with snapshot ${only.name}, which goes on reading as it does; what both have written is freed`,
    last,
  ];
}

/** What is lost when the volume is taken back to a snapshot, and what stays. */
export function revertNotes({ volume: { chain }, snapshots }: Layers, snapshotId: SnapshotId): string[] {
  const isOn = chain?.headParentId;
  const hasNewer = isOn !== snapshotId && snapshots.some(({ id }) => id === isOn);
  return [
    chain === undefined
      ? 'what was written since the last snapshot is lost, on all copies'
      : `${formatBytes(chain.headBytes)} that were written since the last snapshot are lost, on all copies`,
    ...(hasNewer ? ['later snapshots stay as a branch that the volume can be reverted to'] : []),
  ];
}

/** How much larger the volume becomes. */
export function growthNotes({ volume }: Pick<Layers, 'volume'>, sizeBytes: number): string[] {
  return [
    `it has ${formatBytes(volume.spec.sizeBytes)} and gets ${formatBytes(sizeBytes)}`,
    'a volume can not be made smaller again; clients see the new size when they connect again',
  ];
}
