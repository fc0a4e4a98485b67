import { A_SPEC, anEngineReport, aSettledVolume, NOON, testId } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import {
  asId,
  type ClusterId,
  type NodeId,
  type OrganizationId,
  type ProjectId,
  type VolumeId,
} from '../model/ids.js';
import { planObservation } from './plan-observation.js';
import type { EngineObservation, VolumeView } from './views.js';

const owner = {
  organizationId: asId<OrganizationId>(testId(1)),
  projectId: asId<ProjectId>(testId(2)),
  clusterId: asId<ClusterId>(testId(3)),
};
const VOLUME = asId<VolumeId>(testId(1));
const N1 = asId<NodeId>('n1');
const copies = [aReplicaOn('n1-disk', { mode: 'RW' }), aReplicaOn('n2-disk', { mode: 'RW' })];

/** Which replicas are found to have failed, when the engine of an attached volume lists these. */
function failed(listed: EngineObservation['report']['replicas']): string[] {
  const report = anEngineReport({ volumeId: VOLUME, epoch: 1, replicas: listed });
  const view: VolumeView = {
    volume: aSettledVolume(owner, {
      state: 'attached',
      epoch: 1,
      attachedNodeId: N1,
      spec: { ...A_SPEC, numberOfReplicas: 2 },
    }),
    replicas: copies,
    snapshots: [],
    clones: [],
    rebuilds: [],
    fleet: aFleet({ n1: { zone: 'a' }, n2: { zone: 'b' } }),
    engine: { nodeId: N1, bootId: testId(401), at: NOON, report },
  };
  const step = planObservation(view, NOON);
  if (step?.kind !== 'commit') return [];
  return step.changes.flatMap((change) =>
    change.kind === 'replica.patch' && change.patch.failedAt !== undefined ? [change.replicaId] : [],
  );
}

test.each([
  {
    name: 'all of them',
    listed: copies.map(({ id }) => ({ replicaId: id, mode: 'RW' as const, reason: '' })),
    want: [],
  },
  {
    name: 'only one',
    listed: [{ replicaId: 'on-n1-disk', mode: 'RW' as const, reason: '' }],
    want: ['on-n2-disk'],
  },
  { name: 'none, since its start has not ended', listed: [], want: [] },
])('an engine that lists $name', ({ listed, want }) => {
  expect(failed(listed)).toEqual(want);
});
