import { aDiskReport, anEngineReport, aRebuildReport, NOON, testId } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import type { DiskReport, EngineReport } from '../model/agent-protocol.js';
import { asId, type DiskId, type ReplicaId, type VolumeId } from '../model/ids.js';
import { NO_BYTES } from '../model/rebuild.js';
import { applyDiskReport, engineSignature, livesBefore, percentAfterReport } from './conclude-heartbeat.js';

const VOLUME = asId<VolumeId>(testId(1));
const REPLICA = asId<ReplicaId>(testId(2));
const DISK = asId<DiskId>(testId(3));
const engine = (part: Partial<EngineReport> = {}) =>
  anEngineReport({
    volumeId: VOLUME,
    epoch: 3,
    replicas: [{ replicaId: REPLICA, mode: 'RW', reason: '' }],
    ...part,
  });

describe('a report of an engine', () => {
  test.each<{ name: string; part: Partial<EngineReport> }>([
    { name: 'another epoch', part: { epoch: 4 } },
    { name: 'another grant', part: { grantId: testId(9) } },
    { name: 'another state', part: { state: 'stopped' } },
    { name: 'a higher record', part: { record: { ...engine().record, dataGeneration: 99 } } },
    { name: 'a dropped copy', part: { replicas: [{ replicaId: REPLICA, mode: 'ERR', reason: '' }] } },
    { name: 'a rebuild', part: { rebuilds: [aRebuildReport({ rebuildId: testId(5) })] } },
  ])('is news with $name', ({ part }) => {
    expect(engineSignature(engine(part))).not.toBe(engineSignature(engine()));
  });

  test('is no news with more bytes written, because its volume has nothing to do for them', () => {
    expect(engineSignature(engine({ writtenBytes: 4096 }))).toBe(engineSignature(engine()));
  });
});

describe('a report of a disk', () => {
  const first = applyDiskReport(undefined, aDiskReport(DISK), NOON);
  const after = (part: Partial<DiskReport>) =>
    applyDiskReport(first?.facts, { ...aDiskReport(DISK), ...part }, NOON);

  test('makes the cluster look at a disk that it did not know, and concerns no replica', () => {
    expect(first).toMatchObject({ isCounted: false, concernsCluster: true, concernsReplicas: false });
  });

  test('is nothing to store when it says what is known', () => {
    expect(after({})).toBeUndefined();
  });

  test.each<{ name: string; part: Partial<DiskReport>; want: readonly [boolean, boolean, boolean] }>([
    {
      name: 'less free space concerns no reconciler',
      part: { availableBytes: 1 },
      want: [false, false, false],
    },
    { name: 'another size concerns the cluster', part: { maximumBytes: 1 }, want: [true, true, false] },
    { name: 'another name concerns the cluster', part: { name: 'other' }, want: [false, true, false] },
    { name: 'a lost disk concerns its replicas too', part: { ready: false }, want: [true, true, true] },
  ])('tells whom it concerns: $name', ({ part, want }) => {
    const news = after(part);
    expect([news?.isCounted, news?.concernsCluster, news?.concernsReplicas]).toEqual(want);
  });
});

test('the percentage of a rebuild counts what is copied and what is verified behind it, and never falls', () => {
  const at = (phase: 'copying' | 'verifying', compared: number, previous = 0, verified = 0) => {
    const bytes = { ...NO_BYTES, total: 100, compared, verified };
    return percentAfterReport(aRebuildReport({ rebuildId: testId(5), phase, bytes }), previous);
  };
  expect(at('copying', 50)).toBeLessThan(at('copying', 100));
  expect(at('copying', 50)).toBeLessThan(at('copying', 50, 0, 40));
  expect(at('copying', 100, 0, 90)).toBe(at('verifying', 100, 0, 90));
  expect(at('verifying', 100, 0, 100)).toBe(99);
  expect(at('verifying', 100, 0, 50)).toBeLessThan(at('verifying', 100, 0, 100));
  // An agent of an earlier version counts verified bytes as compared.
  expect(at('verifying', 150)).toBe(at('verifying', 100, 0, 50));
  expect(at('copying', 10, 70)).toBe(70);
});

test('the lives of an agent that are over are kept, the last one first, and not without bound', () => {
  expect(livesBefore(undefined, [])).toEqual([]);
  expect(livesBefore('b', ['a'])).toEqual(['b', 'a']);
  expect(livesBefore('new', Array.from({ length: 100 }, String)).length).toBeLessThan(100);
});
