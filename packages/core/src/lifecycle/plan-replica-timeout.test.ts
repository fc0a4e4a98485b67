import { AN_OWNER, anEngineReport, anIdleVolume, NOON, testId } from '@holdfast/testkit/builders.js';
import { aFleet } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import type { EngineReport } from '../model/agent-protocol.js';
import { asId, type NodeId, type VolumeId } from '../model/ids.js';
import { effectiveSettings } from '../settings/effective.js';
import { planReplicaTimeout } from './plan-replica-timeout.js';

const N1 = asId<NodeId>('n1');
const SETTINGS = effectiveSettings({ 'engine-replica-timeout': 20 });

test.each<{ name: string; report: Partial<EngineReport>; want: number | undefined }>([
  { name: 'under another timeout is told', report: { replicaTimeoutMs: 8_000 }, want: 20_000 },
  { name: 'under this timeout is left alone', report: { replicaTimeoutMs: 20_000 }, want: undefined },
  { name: 'that reports none is left alone', report: {}, want: undefined },
  {
    name: 'that has stopped is left alone',
    report: { replicaTimeoutMs: 8_000, state: 'stopped' },
    want: undefined,
  },
  {
    name: 'of an earlier epoch is left alone',
    report: { replicaTimeoutMs: 8_000, epoch: 1 },
    want: undefined,
  },
])('an engine $name', ({ report, want }) => {
  const volumeId = asId<VolumeId>(testId(1));
  const view = aVolumeView({
    volume: anIdleVolume(AN_OWNER, { epoch: 2, lifecycle: attachedOn(N1) }),
    fleet: { ...aFleet({ n1: { zone: 'a' } }), settings: SETTINGS },
    engine: {
      nodeId: N1,
      bootId: testId(401),
      at: NOON,
      report: anEngineReport({ volumeId, epoch: 2, ...report }),
    },
  });
  expect(planReplicaTimeout(view)).toEqual(
    want === undefined ? undefined : { kind: 'set-replica-timeout', replicaTimeoutMs: want },
  );
});
