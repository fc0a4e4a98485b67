import { GIB } from '@holdfast/core/model/bytes.js';
import { A_FORECAST } from '@holdfast/testkit/a-forecast.js';
import { expect, test } from '@jest/globals';
import type { OutputOptions } from '../output/format.js';
import type { Simulation } from '../types.js';
import { describeSimulation } from './simulation-text.js';

const NARROW: OutputOptions = { output: 'table', headers: true, color: false };
const WIDE: OutputOptions = { ...NARROW, output: 'wide' };

const place = (nodeName: string) => ({
  nodeId: nodeName,
  nodeName,
  zone: null,
  diskId: `${nodeName}-d`,
  diskName: 'd',
});

/** A simulation's answer: twelve volumes that fit, and one lost copy that is rebuilt elsewhere. */
const SIMULATION: Simulation = {
  sentence: 'All 12 new volumes fit.',
  allFit: true,
  shapes: [
    {
      shape: 0,
      sizeBytes: 5 * GIB,
      numberOfReplicas: 2,
      asked: 12,
      fit: 12,
      placed: Array.from({ length: 12 }, (_, at) => ({
        number: at + 1,
        places: [place('a'), place(`n${at}`)],
      })),
      firstFailure: null,
      howManyMore: { count: 3, isAtLeast: true, limitedBy: null },
    },
  ],
  existing: {
    volumesHit: 1,
    replicasLost: 1,
    replicasStranded: 0,
    volumesLost: 0,
    replaced: { total: 1, shown: [{ volumeId: 'v', volumeName: 'pg', replicaId: 'r', place: place('b') }] },
    stranded: { total: 0, shown: [] },
    firstStranded: null,
    lostVolumes: { total: 0, shown: [] },
  },
  zones: [],
  nodes: { total: 0, shown: [] },
  lost: { nodes: 1, disks: 1 },
  forecast: A_FORECAST,
};

test('lists the first ten places, and how many more there are', () => {
  const lines = describeSimulation(SIMULATION, NARROW).split('\n');
  expect(lines).toContain('  5 GiB, no. 1: a/d, n0/d');
  expect(lines).toContain('  5 GiB, no. 10: a/d, n9/d');
  expect(lines).not.toContain('  5 GiB, no. 11: a/d, n10/d');
  expect(lines).toContain('  … and 2 more');
  expect(lines).toContain('  → pg: b/d');
  expect(lines.join()).toContain('at least 3');
});

test('lists all places with -o wide', () => {
  const lines = describeSimulation(SIMULATION, WIDE).split('\n');
  expect(lines).toContain('  5 GiB, no. 12: a/d, n11/d');
  expect(lines.join()).not.toContain('more\n');
});

test('says how long it takes, how few copies are left, and what becomes of the worst volumes', () => {
  const text = describeSimulation(SIMULATION, NARROW);
  expect(text).toContain('  builds 1 replica, 1 GiB, in 90 s to 10 min (by the last rebuilds)');
  expect(text).toContain('  leaves 2 volumes with 1 healthy copy at the fewest');
  expect(text).toMatch(/pg-0 +waiting +2 +1 +1 of 2 +1 GiB +it is detached/);
  expect(text).toContain('… and 2 more');
  expect(describeSimulation(SIMULATION, WIDE)).toContain('pg-21');
  const forecast = { ...SIMULATION.forecast, lowWater: null };
  expect(describeSimulation({ ...SIMULATION, forecast }, NARROW)).not.toContain('What becomes');
});

test('says nothing of places where nothing fits', () => {
  const none = SIMULATION.shapes.map((shape) => ({ ...shape, fit: 0, placed: [] }));
  expect(describeSimulation({ ...SIMULATION, shapes: none }, NARROW)).not.toContain('Where they go');
});
