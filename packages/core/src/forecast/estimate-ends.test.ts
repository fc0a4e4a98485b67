/** The end of each rebuild, played forward by hand in small queues. */
import { MIB } from '@holdfast/core/model/bytes.js';
import { asId, type NodeId, type RebuildId } from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import { AN_OWNER, aRebuild, NOON } from '@holdfast/testkit/builders.js';
import { expect, test } from '@jest/globals';
import { effectiveSettings } from '../settings/effective.js';
import { estimateEnds } from './estimate-ends.js';

const FIXED = { fixedSeconds: 3, lateSeconds: 0 };
const PACES = {
  p50: { bytesPerSecond: 10 * MIB, ...FIXED },
  p90: { bytesPerSecond: 5 * MIB, ...FIXED },
};
/** A rebuild of 100 MiB takes so long, including its constant part. */
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

function ends(queued: Rebuild[], running: Rebuild[], limits: Record<string, unknown>, own = 0) {
  const spec = { dataEngine: 'v1', replicaRebuildingBandwidthLimit: own } as const;
  const volumes = new Map(
    [...queued, ...running].map(({ volumeId }) => [volumeId, { writtenBytes: 100 * MIB, spec }]),
  );
  const { clusterId } = AN_OWNER;
  const facts = { clusterId, settings: effectiveSettings(limits), queued, running, quotas: [], volumes };
  return Object.fromEntries(estimateEnds(facts, PACES, NOON));
}

const TARGET = 'concurrent-replica-rebuild-per-node-limit';

test('one after the other where one may run, the riskiest first', () => {
  const queued = [rebuild('b', { healthyCopies: 2 }), rebuild('a', { healthyCopies: 1 })];
  expect(ends(queued, [], { [TARGET]: 1 })).toEqual({ a: EACH, b: { p50Seconds: 26, p90Seconds: 46 } });
  expect(ends(queued, [], { [TARGET]: 2 })).toEqual({ a: EACH, b: EACH });
});

test('what runs is done by the share that is left, and no faster than its own limit', () => {
  const half = rebuild('a', { state: 'running', phase: 'copying', startedAt: NOON, percent: 50 });
  expect(ends([], [half], {})).toEqual({ a: { p50Seconds: 6.5, p90Seconds: 11.5 } });
  const slow = { ...half, bandwidthBytesPerSecond: MIB };
  expect(ends([], [slow], {})).toEqual({ a: { p50Seconds: 51.5, p90Seconds: 51.5 } });
});

test('rebuilds that write to one node share its bandwidth, and go on with more of it when one ends', () => {
  const queued = [rebuild('a'), rebuild('b')];
  const small = { ...rebuild('b'), bytes: { ...rebuild('b').bytes, total: 50 * MIB } };
  const shared = { 'replica-rebuilding-bandwidth-limit': 10 };
  expect(ends(queued, [], shared)).toMatchObject({ a: { p50Seconds: 23 }, b: { p50Seconds: 23 } });
  expect(ends([rebuild('a'), small], [], shared)).toMatchObject({
    a: { p50Seconds: 18 },
    b: { p50Seconds: 13 },
  });
  const ofOtherEngine = { 'replica-rebuilding-bandwidth-limit': { v2: 10 } };
  expect(ends(queued, [], ofOtherEngine)).toMatchObject({ a: { p50Seconds: 13 }, b: { p50Seconds: 13 } });
});

test('a rebuild is as fast as its volume says, whatever its cluster says', () => {
  const shared = { 'replica-rebuilding-bandwidth-limit': 10 };
  expect(ends([rebuild('a')], [], shared, 1)).toMatchObject({ a: { p50Seconds: 103 } });
});

test('one of a volume on its last copy goes first; the one that stands still for it goes on where it was', () => {
  const running = rebuild('a', { state: 'running', phase: 'copying', startedAt: NOON, healthyCopies: 2 });
  const last = rebuild('b', { healthyCopies: 1, volumeId: asId('other') });
  expect(ends([last], [running], { [TARGET]: 1 })).toMatchObject({
    b: { p50Seconds: 13 },
    a: { p50Seconds: 26 },
  });
});

test('nothing is said of what is paused, of what waits behind it, and of what may not start', () => {
  const paused = rebuild('a', { state: 'running', startedAt: NOON, paused: true });
  expect(ends([rebuild('b')], [paused], { [TARGET]: 1 })).toEqual({});
  expect(ends([rebuild('b', { paused: true })], [], {})).toEqual({});
  expect(ends([rebuild('b')], [], { [TARGET]: 0 })).toEqual({});
});
