import { asId, type NodeId } from '@holdfast/core/model/ids.js';
import type { VolumeView } from '@holdfast/core/model/views.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { aVolume, testId } from './builders.js';
import { aFleet, aReplicaOn } from './fleet-builder.js';

/** Belongings of a volume, for tests that do not care. */
export const AN_OWNER = {
  organizationId: asId<Volume['organizationId']>(testId(1)),
  projectId: asId<Volume['projectId']>(testId(2)),
  clusterId: asId<Volume['clusterId']>(testId(3)),
};

export type ViewPart = Partial<Omit<VolumeView, 'volume'>> & { volume?: Partial<Volume> };

/** A volume with copies on the ready nodes a, b and c, granted to node a under epoch 1; no engine has reported. */
export function aVolumeView({ volume, ...part }: ViewPart = {}): VolumeView {
  return {
    volume: aVolume(AN_OWNER, { attachedNodeId: asId<NodeId>('a'), epoch: 1, ...volume }),
    replicas: ['a', 'b', 'c'].map((name) => aReplicaOn(`${name}-disk`)),
    snapshots: [],
    clones: [],
    rebuilds: [],
    fleet: aFleet({ a: {}, b: {}, c: {} }),
    engine: undefined,
    ...part,
  };
}
