import { GIB } from '@holdfast/core/model/bytes.js';
import { A_SPEC, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { VolumeSpec } from '../../model/volume.js';
import { explainPlacement } from './explain-placement.js';
import type { PlacementExplanation } from './explanation.js';
import type { Scene } from './scene.js';

const SPEC: VolumeSpec = { ...A_SPEC, sizeBytes: 10 * GIB, numberOfReplicas: 2 };

function aScene(part: Partial<Scene> & Pick<Scene, 'fleet'>, spec: Partial<VolumeSpec> = {}): Scene {
  return {
    volume: { spec: { ...SPEC, ...spec }, writtenBytes: 0, attachedNodeId: undefined },
    replicas: [],
    now: NOON,
    ...part,
  };
}

function row({ filters }: PlacementExplanation, name: string) {
  const found = filters.find((filter) => filter.name === name);
  return found === undefined ? undefined : `${found.rejected} of ${found.asked}`;
}

describe('a replica that fits', () => {
  const fleet = aFleet({
    a: { zone: 'east', disks: { 'a-1': {}, 'a-2': { bytes: 50 * GIB } } },
    b: { zone: 'west', disks: { 'b-1': { bytes: 60 * GIB }, 'b-2': { bytes: 80 * GIB } } },
    c: { zone: 'west', cordoned: true },
    d: { zone: 'west', disks: {} },
  });
  const explanation = explainPlacement(aScene({ fleet, replicas: [aReplicaOn('a-1')] }));

  test('names its place, its rung and how many competed', () => {
    expect(explanation.outcome).toBe('placed');
    expect(explanation.sentence).toBe(
      'A replica would go to disk b-2 of node b in zone west, a node and a zone without a replica of the volume; it is the best of 2 disks there.',
    );
    expect(explanation.cures).toEqual([]);
  });

  test('counts what each rule was asked and refused, in their order', () => {
    expect(row(explanation, 'node-ready')).toBe('0 of 4');
    expect(row(explanation, 'node-schedulable')).toBe('1 of 4');
    expect(row(explanation, 'node-allow-scheduling')).toBe('0 of 3');
    expect(row(explanation, 'node-anti-affinity')).toBe('1 of 3');
    expect(row(explanation, 'node-has-disk')).toBe('1 of 2');
    expect(row(explanation, 'disk-ready')).toBe('0 of 2');
    expect(explanation.tiers.map(({ outcome }) => outcome)).toEqual(['won', 'not-needed', 'not-needed']);
  });

  test('scores the chosen first, each part apart', () => {
    const [best, next] = explanation.scores;
    expect(best).toMatchObject({ diskName: 'b-2', isChosen: true });
    // Both disks end with 60 and 70 GiB: (70 − 60) / 65.
    expect(best?.disk.absolute).toBeCloseTo(10 / 65, 12);
    expect(best?.disk).toMatchObject({ usableBeforeBytes: 80 * GIB, usableAfterBytes: 70 * GIB });
    expect(next).toMatchObject({ diskName: 'b-1', isChosen: false });
    expect(next?.disk.absolute).toBeCloseTo(30 / 65, 12);
  });
});

test('an overdrawn disk is scored as one that has nothing left, and shown as it is', () => {
  const disks = { full: { storageScheduledBytes: 150 * GIB }, free: {} };
  const fleet = aFleet({ a: { disks } }, { 'storage-over-provisioning-percentage': 300 });
  const overdrawn = explainPlacement(aScene({ fleet })).scores.find(({ diskName }) => diskName === 'full');
  expect(overdrawn?.disk).toMatchObject({ usableBeforeBytes: -50 * GIB, usableAfterBytes: -60 * GIB });
  // −10 and 100 GiB are left: a range of 110 over a mean of 45.
  expect(overdrawn?.disk.absolute).toBeCloseTo(110 / 45, 12);
});

describe('a replica that fits nowhere', () => {
  test('tells the numbers that were compared', () => {
    const fleet = aFleet({ a: { disks: { 'a-1': { storageScheduledBytes: 95 * GIB } } } });
    const explanation = explainPlacement(aScene({ fleet }));
    const [rejection] =
      explanation.filters.find(({ name }) => name === 'provisionable-space')?.rejections ?? [];
    expect(rejection?.numbers).toEqual({
      requiredBytes: 10 * GIB,
      availableBytes: 5 * GIB,
      thresholdBytes: 100 * GIB,
    });
    expect(explanation).toMatchObject({ outcome: 'unplaced', place: null, tier: null, scores: [] });
    expect(explanation.sentence).toBe(
      'No disk can take this replica of 10 GiB: 1 disk has too little left to give; the smallest cure is to move replicas of 5 GiB (5368709120 bytes) off disk a-1 of node a.',
    );
  });

  test('a fleet without nodes says so, and that hardware helps', () => {
    const explanation = explainPlacement(aScene({ fleet: aFleet({}) }));
    expect(explanation.sentence).toContain('the cluster has no node; the smallest cure is to add a node');
  });

  test('answers the same whatever the order of nodes and disks', () => {
    const fleet = aFleet({
      a: { cordoned: true },
      b: { disks: { 'b-1': { storageAvailableBytes: 5 * GIB }, 'b-2': { storageScheduledBytes: 99 * GIB } } },
      c: { allowScheduling: false },
    });
    const turned = { ...fleet, nodes: [...fleet.nodes].reverse(), disks: [...fleet.disks].reverse() };
    expect(explainPlacement(aScene({ fleet: turned }))).toEqual(explainPlacement(aScene({ fleet })));
  });
});
