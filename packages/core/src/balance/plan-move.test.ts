import { A_SPEC, AN_OWNER, anIdleVolume, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { asId, type ReplicaId } from '../model/ids.js';
import { moveCandidates } from './plan-move.js';

/** More disks than a plan names. */
const FULL_NODES = 250;

test('a plan on a large cluster names the disk with room, which comes last by its id', () => {
  const nodes: Record<string, NodePart> = { n1: {} };
  for (let i = 0; i < FULL_NODES; i += 1) {
    const name = `n2-${String(i).padStart(3, '0')}`;
    nodes[name] = { disks: { [`${name}-disk`]: { storageAvailableBytes: 0 } } };
  }
  const id = asId<ReplicaId>('r1');
  const view = aVolumeView({
    volume: anIdleVolume(AN_OWNER, {
      lifecycle: attachedOn('n1'),
      spec: { ...A_SPEC, numberOfReplicas: 1 },
    }),
    replicas: [aReplicaOn('n1-disk', { id, mode: 'RW' })],
    fleet: aFleet({ ...nodes, n3: {} }),
  });
  const [first, ...others] = moveCandidates(view, { replicaId: id }, NOON);
  expect(first).toMatchObject({ diskName: 'n3-disk', refusal: undefined });
  expect(others.every(({ refusal }) => refusal !== undefined)).toBe(true);
});
