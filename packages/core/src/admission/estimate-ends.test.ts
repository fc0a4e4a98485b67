/** The end of each rebuild, played forward by hand in small queues. */
import { MIB } from '@holdfast/core/model/bytes.js';
import { asId, type NodeId, type RebuildId } from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import { aRebuild, NOON } from '@holdfast/testkit/builders.js';
import { expect, test } from '@jest/globals';
import { effectiveSettings } from '../settings/effective.js';
import { estimateEnds, ratesOf } from './estimate-ends.js';

const RATES = { p50: 10 * MIB, p90: 5 * MIB };
/** A rebuild of 100 MiB takes so long, with what is the same for each. */
const EACH = { p50Seconds: 13, p90Seconds: 23 };

function rebuild(id: string, part: Partial<Rebuild> = {}): Rebuild {
  return aRebuild({
    id: asId<RebuildId>(id),
    targetNodeId: asId<NodeId>('n1'),
    sourceNodeIds: [asId<NodeId>('n2')],
    sizeBytes: 1024 * MIB,
    ...part,
  });
}

function ends(queued: Rebuild[], running: Rebuild[], limits: Record<string, number>) {
  const writtenBytes = new Map([...queued, ...running].map(({ id }) => [id, 100 * MIB]));
  const facts = { settings: effectiveSettings(limits), nodes: [], queued, running, writtenBytes };
  return Object.fromEntries(estimateEnds(facts, RATES));
}

const TARGET = 'concurrent-replica-rebuild-per-node-limit';

test('one after the other where one may run, the riskiest first', () => {
  const queued = [rebuild('b', { healthyCopies: 2 }), rebuild('a', { healthyCopies: 1 })];
  expect(ends(queued, [], { [TARGET]: 1 })).toEqual({ a: EACH, b: { p50Seconds: 26, p90Seconds: 46 } });
  expect(ends(queued, [], { [TARGET]: 2 })).toEqual({ a: EACH, b: EACH });
});

test('what runs is done by the share that is left, and no faster than it was granted', () => {
  const half = rebuild('a', { state: 'running', startedAt: NOON, percent: 50 });
  expect(ends([], [half], {})).toEqual({ a: { p50Seconds: 8, p90Seconds: 13 } });
  const slow = { ...half, grantedBytesPerSecond: MIB };
  expect(ends([], [slow], {})).toEqual({ a: { p50Seconds: 53, p90Seconds: 53 } });
});

test('nothing is said of what is paused, of what waits behind it, and of what may not start', () => {
  const paused = rebuild('a', { state: 'running', startedAt: NOON, paused: true });
  expect(ends([rebuild('b')], [paused], { [TARGET]: 1 })).toEqual({});
  expect(ends([rebuild('b', { paused: true })], [], {})).toEqual({});
  expect(ends([rebuild('b')], [], { [TARGET]: 0 })).toEqual({});
});

test('rates are the median, and what nine in ten reached; without any they are assumed', () => {
  const samples = Array.from({ length: 11 }, (_, index) => ({ bytes: (index + 1) * MIB, seconds: 1 }));
  expect(ratesOf([...samples, { bytes: 0, seconds: 5 }])).toEqual({ p50: 6 * MIB, p90: 2 * MIB });
  expect(ratesOf([])).toEqual({ p50: 100 * MIB, p90: 25 * MIB });
});
