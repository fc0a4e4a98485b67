import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import { asId, type NodeId } from '@holdfast/core/model/ids.js';
import { NO_RELOCATIONS } from '@holdfast/core/model/relocation.js';
import type { EngineObservation, VolumeView } from '@holdfast/core/model/views.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { AN_OWNER, anEngineReport, aVolume, NOON, testId } from './builders.js';
import { aFleet, aReplicaOn } from './fleet-builder.js';
import { attachingOn } from './lifecycle-builder.js';

/** A reconciler's view of a volume without replicas, snapshots and rebuilds, whose engine is in no report. */
export function aVolumeView(part: Partial<VolumeView> = {}): VolumeView {
  return {
    volume: aVolume(AN_OWNER),
    replicas: [],
    snapshots: [],
    rebuilds: [],
    clones: [],
    fleet: aFleet({}),
    engine: undefined,
    relocations: NO_RELOCATIONS,
    ...part,
  };
}

/** The view of a volume with copies on the ready nodes a, b and c, granted to node a under epoch 1. */
export function aGrantedView({
  volume,
  ...part
}: Partial<Omit<VolumeView, 'volume'>> & { volume?: Partial<Volume> } = {}): VolumeView {
  return aVolumeView({
    volume: aVolume(AN_OWNER, { lifecycle: attachingOn('a'), epoch: 1, ...volume }),
    replicas: ['a', 'b', 'c'].map((name) => aReplicaOn(`${name}-disk`)),
    fleet: aFleet({ a: {}, b: {}, c: {} }),
    ...part,
  });
}

/** The engine of volume 1 under epoch 1, as its node reported it at noon. */
export function anEngineOn(
  node: string,
  report: Partial<Heartbeat['engines'][number]> = {},
): EngineObservation {
  return {
    nodeId: asId<NodeId>(node),
    bootId: testId(401),
    at: NOON,
    report: anEngineReport({ volumeId: asId(testId(1)), epoch: 1, ...report }),
  };
}
