import { GIB } from '@holdfast/core/model/bytes.js';
import {
  asId,
  type ClusterId,
  type OrganizationId,
  type ProjectId,
  type ReplicaId,
} from '@holdfast/core/model/ids.js';
import { A_SPEC, aReplica, aVolume, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import type { Replica } from '../../model/replica.js';
import { explainVolume } from './explain-volume.js';

const owner = {
  organizationId: asId<OrganizationId>('o'),
  projectId: asId<ProjectId>('p'),
  clusterId: asId<ClusterId>('c'),
};
const volume = aVolume(owner, { name: 'pg', spec: { ...A_SPEC, sizeBytes: 10 * GIB, numberOfReplicas: 2 } });
const UNPLACED = aReplica({ id: asId<ReplicaId>('unplaced'), volumeId: volume.id });

function explain(nodes: Record<string, NodePart>, replicas: Replica[]) {
  return explainVolume({ volume, replicas, fleet: aFleet(nodes) }, NOON);
}

/** Booked to the last byte by the replica that lies there. */
const EXACTLY = { bytes: 10 * GIB, storageScheduledBytes: 10 * GIB };

test('a replica is where the scheduler would put it today, its own booking not counted against it', () => {
  const { sentence, replicas } = explain({ a: { disks: { 'a-d': EXACTLY } }, b: {} }, [
    aReplicaOn('a-d', { sizeBytes: 10 * GIB }),
    aReplicaOn('b-disk'),
  ]);
  expect(sentence).toBe('All 2 replicas of pg have a place.');
  expect(replicas[0]).toMatchObject({
    outcome: 'placed',
    place: { diskName: 'a-d' },
    sentence: 'The replica is on disk a-d of node a. Asked today, the scheduler chooses the same disk.',
  });
});

test('a replica whose node was cordoned since is told where it would go, and that it stays', () => {
  const { replicas } = explain({ a: { cordoned: true }, b: {} }, [aReplicaOn('a-disk')]);
  expect(replicas[0]).toMatchObject({
    outcome: 'placed',
    place: { nodeName: 'a' },
    sentence:
      'The replica is on disk a-disk of node a. Asked today, the scheduler would choose disk b-disk of node b because node a is cordoned; it stays where it is.',
  });
});

test('a replica that failed has its place still, and is told of', () => {
  const failed = aReplicaOn('b-disk', { failedAt: NOON });
  const { sentence } = explain({ a: {}, b: {} }, [aReplicaOn('a-disk'), failed]);
  expect(sentence).toBe('All 2 replicas of pg have a place; 1 failed.');
});

test('a replica without a place has the same explanation as the next one', () => {
  const { sentence, replicas, next } = explain({ a: {} }, [aReplicaOn('a-disk'), UNPLACED]);
  expect(sentence).toBe(`1 of 2 replicas of pg have a place. ${next.sentence}`);
  expect(next.sentence).toContain(
    '1 node holds a replica of it; the smallest cure is to set replicaSoftAntiAffinity',
  );
  expect(replicas[1]).toEqual({ ...next, replicaId: 'unplaced' });
});
