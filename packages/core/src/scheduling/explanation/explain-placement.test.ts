import { GIB, TIB } from '@holdfast/core/model/bytes.js';
import { A_SPEC, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { VolumeSpec } from '../../model/volume.js';
import { DETACHED } from '../../model/volume-lifecycle.js';
import { explainPlacement } from './explain-placement.js';
import type { PlacementExplanation } from './explanation.js';
import type { PlacementQuestion } from './placement-question.js';

const SPEC: VolumeSpec = { ...A_SPEC, sizeBytes: 10 * GIB, numberOfReplicas: 2 };

function aQuestion(
  part: Partial<PlacementQuestion> & Pick<PlacementQuestion, 'fleet'>,
  spec: Partial<VolumeSpec> = {},
): PlacementQuestion {
  return {
    volume: { spec: { ...SPEC, ...spec }, writtenBytes: 0, lifecycle: DETACHED },
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
  const explanation = explainPlacement(aQuestion({ fleet, replicas: [aReplicaOn('a-1')] }));

  test('names its place, its tier and how many competed', () => {
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
  const overdrawn = explainPlacement(aQuestion({ fleet })).scores.find(({ diskName }) => diskName === 'full');
  expect(overdrawn?.disk).toMatchObject({ usableBeforeBytes: -50 * GIB, usableAfterBytes: -60 * GIB });
  // −10 and 100 GiB are left: a range of 110 over a mean of 45.
  expect(overdrawn?.disk.absolute).toBeCloseTo(110 / 45, 12);
});

test('a node is scored as the choice counts it: what one disk is overdrawn by is not taken from the others', () => {
  const fleet = aFleet(
    {
      a: { disks: { full: { storageScheduledBytes: 150 * GIB }, 'a-1': {} } },
      b: { disks: { 'b-1': { bytes: 80 * GIB } } },
    },
    { 'storage-over-provisioning-percentage': 300 },
  );
  const [best] = explainPlacement(aQuestion({ fleet })).scores;
  expect(best).toMatchObject({ diskName: 'a-1', isChosen: true });
  // 90 and 80 GiB are left: a range of 10 over a mean of 85.
  expect(best?.node.absolute).toBeCloseTo(10 / 85, 12);
  expect(best?.node.usableBeforeBytes).toBe(50 * GIB);
});

test('the best few are shown: the chosen first, then by score, at most five', () => {
  const sizes = [50, 90, 60, 80, 100, 70];
  const nodes = Object.fromEntries(
    sizes.map((gib) => [
      `n${gib}`,
      { disks: { [`n${gib}-x`]: { bytes: gib * GIB }, [`n${gib}-y`]: { bytes: 20 * GIB } } },
    ]),
  );
  const { scores } = explainPlacement(aQuestion({ fleet: aFleet(nodes) }));
  expect(scores).toHaveLength(5);
  expect(scores.map(({ isChosen }) => isChosen)).toEqual([true, false, false, false, false]);
  expect(scores[0]?.diskName).toBe('n100-x');
  // The disks of the best node, then those of the next.
  expect(scores.map(({ diskName }) => diskName).slice(1)).toEqual(['n100-y', 'n90-x', 'n90-y', 'n80-x']);
  const ofNodes = scores.map(({ node }) => node.score);
  expect(ofNodes).toEqual([...ofNodes].sort((a, b) => a - b));
});

test('of many nodes those are scored that can be best, the chosen among them', () => {
  const nodes = Object.fromEntries(
    Array.from({ length: 100 }, (_, at) => [
      `n${at}`,
      { disks: { [`n${at}-d`]: { bytes: (at + 20) * GIB } } },
    ]),
  );
  const { scores } = explainPlacement(aQuestion({ fleet: aFleet(nodes) }));
  expect(scores.map(({ diskName }) => diskName)).toEqual(['n99-d', 'n98-d', 'n97-d', 'n96-d', 'n95-d']);
});

test('a score weighs bytes and shares by α', () => {
  const nodes = { a: { disks: { 'a-1': { bytes: 100 * GIB }, 'a-2': { bytes: 40 * GIB } } } };
  const [best] = explainPlacement(aQuestion({ fleet: aFleet(nodes, { 'balance-alpha': 0.25 }) })).scores;
  // 90 and 40 GiB are left: a range of 50 over a mean of 65; shares of 0.9 and 1: 0.1 over 0.95.
  expect(best).toMatchObject({ diskName: 'a-1', isChosen: true });
  expect(best?.disk.absolute).toBeCloseTo(50 / 65, 12);
  expect(best?.disk.ratio).toBeCloseTo(0.1 / 0.95, 12);
  expect(best?.disk.score).toBeCloseTo((0.25 * 50) / 65 + (0.75 * 0.1) / 0.95, 12);
});

test('of many nodes one with a large share of little is scored too, where shares decide', () => {
  const half = { bytes: 1000 * GIB, storageScheduledBytes: 500 * GIB };
  const nodes = {
    ...Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`n${at}`, { disks: { [`n${at}-d`]: half } }]),
    ),
    small: { disks: { 'small-d': { bytes: 60 * GIB } } },
  };
  const [best] = explainPlacement(aQuestion({ fleet: aFleet(nodes, { 'balance-alpha': 0 }) })).scores;
  expect(best).toMatchObject({ diskName: 'small-d', isChosen: true });
});

test('a place that the replica fills leaves nothing to balance: its score is even', () => {
  const fleet = aFleet({ a: { disks: { 'a-1': { bytes: 10 * GIB } } } });
  const [only] = explainPlacement(aQuestion({ fleet })).scores;
  expect(only?.disk).toMatchObject({ usableAfterBytes: 0, absolute: 0, ratio: 0, score: 0 });
});

describe('the sentence says what the refused lack', () => {
  test.each<{
    name: string;
    node: NodePart;
    spec?: Partial<VolumeSpec>;
    settings?: Record<string, boolean>;
    want: string;
  }>([
    {
      name: 'of the disk that has most to give',
      node: { disks: { x: { bytes: 5 * GIB }, y: { bytes: 8 * GIB }, z: { bytes: 2 * GIB } } },
      want: '3 disks have too little left to give (8 GiB at most)',
    },
    {
      name: 'of one that is overdrawn',
      node: { disks: { x: { storageScheduledBytes: 120 * GIB } } },
      want: '1 disk has too little left to give (0 B at most)',
    },
    {
      name: 'of the disk that has most free above its minimum',
      node: {
        disks: {
          x: { bytes: 400 * GIB, storageAvailableBytes: 60 * GIB },
          y: { storageAvailableBytes: 20 * GIB },
        },
      },
      want: '2 disks have too little free space (at most 20 GiB would stay free, and more than 25 GiB must)',
    },
    {
      name: 'the tags of the selector',
      node: {},
      spec: { nodeSelector: ['ssd', 'fast'] },
      want: '1 node does not match the node selector (ssd, fast)',
    },
    {
      name: 'that there is none',
      node: { disks: { x: { tags: ['ssd'] }, y: { tags: ['ssd'] } } },
      settings: { 'allow-empty-disk-selector-volume': false },
      want: '2 disks do not match the disk selector (it is empty, and tagged ones are kept)',
    },
    {
      name: 'the type of disk',
      node: {},
      spec: { dataEngine: 'v2' },
      want: '1 disk is of the wrong type (engine v2 needs a block disk)',
    },
    {
      name: 'the size of files',
      node: { disks: { x: { fileSystem: 'ext4', bytes: 64 * TIB } } },
      spec: { sizeBytes: 16 * TIB },
      want: '1 disk can not hold so large a file (files below 16 TiB only)',
    },
  ])('$name', ({ node, spec = {}, settings = {}, want }) => {
    const { sentence } = explainPlacement(aQuestion({ fleet: aFleet({ n: node }, settings) }, spec));
    expect(sentence).toContain(`: ${want}; the smallest cure is to `);
  });
});

describe('a replica that fits nowhere', () => {
  test('lists first what lacks the fewest bytes', () => {
    const disks = { a: { bytes: 5 * GIB }, b: { bytes: 8 * GIB }, c: { bytes: 2 * GIB } };
    const { filters } = explainPlacement(aQuestion({ fleet: aFleet({ n: { disks } }) }));
    const { rejections } = filters.find(({ name }) => name === 'provisionable-space') ?? { rejections: [] };
    expect(rejections.map(({ diskName }) => diskName)).toEqual(['b', 'a', 'c']);
  });

  test('tells the numbers that were compared', () => {
    const fleet = aFleet({ a: { disks: { 'a-1': { storageScheduledBytes: 95 * GIB } } } });
    const explanation = explainPlacement(aQuestion({ fleet }));
    const [rejection] =
      explanation.filters.find(({ name }) => name === 'provisionable-space')?.rejections ?? [];
    expect(rejection?.numbers).toEqual({
      requiredBytes: 10 * GIB,
      availableBytes: 5 * GIB,
      thresholdBytes: 100 * GIB,
    });
    expect(explanation).toMatchObject({ outcome: 'unplaced', place: null, tier: null, scores: [] });
    expect(explanation.sentence).toBe(
      'No disk can take this replica of 10 GiB: 1 disk has too little left to give (5 GiB at most); the smallest cure is to move replicas of at least 5 GiB off disk a-1 of node a.',
    );
  });

  test('a fleet without nodes says so, and that hardware helps', () => {
    const explanation = explainPlacement(aQuestion({ fleet: aFleet({}) }));
    expect(explanation.sentence).toContain('the cluster has no node; the smallest cure is to add a node');
  });

  test('answers the same whatever the order of nodes and disks', () => {
    const fleet = aFleet({
      a: { cordoned: true },
      b: { disks: { 'b-1': { storageAvailableBytes: 5 * GIB }, 'b-2': { storageScheduledBytes: 99 * GIB } } },
      c: { allowScheduling: false },
    });
    const turned = { ...fleet, nodes: [...fleet.nodes].reverse(), disks: [...fleet.disks].reverse() };
    expect(explainPlacement(aQuestion({ fleet: turned }))).toEqual(explainPlacement(aQuestion({ fleet })));
  });
});
