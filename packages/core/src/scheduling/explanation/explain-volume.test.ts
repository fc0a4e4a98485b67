import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { A_SPEC, AN_OWNER, aReplica, aVolume, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import type { Replica } from '../../model/replica.js';
import { explainVolume } from './explain-volume.js';

const volume = aVolume(AN_OWNER, {
  name: 'pg',
  spec: { ...A_SPEC, sizeBytes: 10 * GIB, numberOfReplicas: 2 },
});
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
    '1 node holds a replica of it; the smallest cure is to set "Copies may share a node"',
  );
  expect(replicas[1]).toEqual({ ...next, replicaId: 'unplaced' });
});

test('only its own disk is looked at as if the replica were not there', () => {
  // Less 10 GiB the other disk would be the roomier one.
  const other = { bytes: 20 * GIB, storageScheduledBytes: 15 * GIB };
  const nodes = { a: { disks: { 'a-d': EXACTLY } }, b: { disks: { 'b-d': other } } };
  const { replicas } = explain(nodes, [aReplicaOn('a-d', { sizeBytes: 10 * GIB })]);
  expect(replicas[0]?.sentence).toContain('Asked today, the scheduler chooses the same disk.');
});

test('more copies than are wanted have places all the same; one without a place speaks for the next', () => {
  const nodes = { a: {}, b: {}, c: {} };
  const three = [aReplicaOn('a-disk'), aReplicaOn('b-disk'), aReplicaOn('c-disk')];
  expect(explain(nodes, three).sentence).toBe('All 3 replicas of pg have a place.');
  expect(explain(nodes, three).next.replicaId).toBeNull();
  const { sentence, next } = explain(nodes, [...three, UNPLACED]);
  expect(sentence).toMatch(/^3 of 4 replicas of pg have a place\. /);
  expect(next.replicaId).toBe('unplaced');
});

test('nothing is explained on a broken fleet', () => {
  expect(() => explain({ a: {} }, [aReplicaOn('z-disk')])).toThrow(
    'is on node z, which the fleet does not have',
  );
});

test('only what refuses its own place is a reason to go elsewhere', () => {
  const nodes = { a: {}, b: { cordoned: true }, c: { disks: { 'c-d': { bytes: 200 * GIB } } } };
  const { replicas } = explain(nodes, [aReplicaOn('a-disk')]);
  expect(replicas[0]?.sentence).toBe(
    'The replica is on disk a-disk of node a. Asked today, the scheduler would choose disk c-d of node c; it stays where it is.',
  );
});

test('a replica that would find no disk today stays, and is told why', () => {
  const disks = { 'a-d': { storageReservedBytes: 95 * GIB, storageScheduledBytes: 10 * GIB } };
  const { replicas } = explain({ a: { disks }, b: { cordoned: true } }, [
    aReplicaOn('a-d', { sizeBytes: 10 * GIB }),
  ]);
  expect(replicas[0]).toMatchObject({
    outcome: 'placed',
    sentence:
      'The replica is on disk a-d of node a. Asked today, it would find no disk because disk a-d has 5 GiB of 5 GiB left to give and the replica needs 10 GiB; it stays where it is.',
  });
});

test('what a replica has written is free space of its own disk, for the question of where it would go', () => {
  const writtenBytes = 10 * GIB;
  const disks = { 'a-d': { storageAvailableBytes: 30 * GIB, storageScheduledBytes: 10 * GIB, writtenBytes } };
  const { replicas } = explainVolume(
    {
      volume: { ...volume, writtenBytes },
      replicas: [aReplicaOn('a-d', { sizeBytes: 10 * GIB, writtenBytes })],
      fleet: aFleet({ a: { disks } }),
    },
    NOON,
  );
  expect(replicas[0]?.sentence).toContain('chooses the same disk');
  // 40 GiB are free without it, nothing is booked.
  expect(replicas[0]?.scores[0]?.disk.usableBeforeBytes).toBe(40 * GIB);
});
