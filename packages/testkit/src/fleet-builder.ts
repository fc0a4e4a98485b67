/** Fleets for placement tests, in which only what matters is said. Names are ids, so that failures read well. */

import { GIB } from '@holdfast/core/model/bytes.js';
import {
  asId,
  type ClusterId,
  type DiskId,
  type NodeId,
  type ReplicaId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import type { StorageDisk, StorageNode } from '@holdfast/core/model/node.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { SettingName } from '@holdfast/core/model/setting.js';
import type { FleetView } from '@holdfast/core/model/views.js';
import type { Placement } from '@holdfast/core/scheduling/framework/framework.js';
import type { PlacementRequest } from '@holdfast/core/scheduling/framework/placement-request.js';
import { effectiveSettings, type SettingValue } from '@holdfast/core/settings/effective.js';
import { aReplica, NOON } from './builders.js';

const READY = { type: 'Ready', status: 'True', reason: '', message: '', lastTransitionAt: NOON } as const;
const NOT_READY = { ...READY, status: 'False' } as const;

export type DiskPart = Partial<Omit<StorageDisk, 'id' | 'nodeId' | 'conditions'>> & {
  ready?: boolean;
  /** Sets maximum and available at once. */
  bytes?: number;
};
export type NodePart = Partial<Omit<StorageNode, 'id' | 'conditions'>> & {
  ready?: boolean;
  disks?: Record<string, DiskPart>;
};

export function aFleet(
  nodes: Record<string, NodePart>,
  settings: Partial<Record<SettingName, SettingValue>> = {},
): FleetView {
  return {
    clusterId: asId<ClusterId>('cluster'),
    settings: effectiveSettings(settings),
    settingsVersion: 1,
    nodes: Object.entries(nodes).map(([name, part]) => aNode(name, part)),
    disks: Object.entries(nodes).flatMap(([nodeName, { disks = { [`${nodeName}-disk`]: {} } }]) =>
      Object.entries(disks).map(([name, part]) => aDisk(nodeName, name, part)),
    ),
  };
}

export function aNode(name: string, { ready = true, disks: _disks, ...part }: NodePart = {}): StorageNode {
  return {
    id: asId<NodeId>(name),
    clusterId: asId<ClusterId>('cluster'),
    name,
    zone: undefined,
    region: undefined,
    tags: [],
    allowScheduling: true,
    cordoned: false,
    evictionRequested: false,
    maintenance: undefined,
    drain: undefined,
    drainStatus: undefined,
    conditions: [ready ? READY : NOT_READY],
    controlUrl: `http://${name}.test`,
    nbdHost: `${name}.test`,
    nbdPort: 10809,
    bootId: 'boot',
    lastHeartbeatAt: NOON,
    version: 1,
    ...part,
  };
}

export function aDisk(nodeName: string, name: string, part: DiskPart = {}): StorageDisk {
  const { ready = true, bytes = 100 * GIB, ...rest } = part;
  return {
    id: asId<DiskId>(name),
    nodeId: asId<NodeId>(nodeName),
    name,
    path: `/disks/${name}`,
    type: 'filesystem',
    fileSystem: 'xfs',
    tags: [],
    allowScheduling: true,
    evictionRequested: false,
    storageReservedBytes: 0,
    storageMaximumBytes: bytes,
    storageAvailableBytes: bytes,
    storageScheduledBytes: 0,
    writtenBytes: 0,
    conditions: [ready ? READY : NOT_READY],
    version: 1,
    ...rest,
  };
}

/** A request for 1 GiB with Longhorn's default anti-affinity: node required, zone and disk preferred. */
export function aRequest(part: Partial<PlacementRequest> = {}): PlacementRequest {
  return {
    sizeBytes: GIB,
    writtenBytes: 0,
    dataEngine: 'v1',
    nodeSelector: [],
    diskSelector: [],
    nodeAntiAffinity: 'required',
    zoneAntiAffinity: 'preferred',
    diskAntiAffinity: 'preferred',
    replicas: [],
    requiredNodeId: undefined,
    localNodeId: undefined,
    topology: [],
    reuseDiskId: undefined,
    ...part,
  };
}

/** A replica on a disk; its node is the part of the disk's name before the last dash unless it is given. */
export function aReplicaOn(diskName: string, part: Partial<Replica> = {}): Replica {
  const nodeName = diskName.slice(0, diskName.lastIndexOf('-'));
  return aReplica({
    volumeId: asId<VolumeId>('volume'),
    id: asId<ReplicaId>(`on-${diskName}`),
    nodeId: asId<NodeId>(nodeName),
    diskId: asId<DiskId>(diskName),
    provisioned: true,
    healthyAt: NOON,
    ...part,
  });
}

/** The disk that was chosen, or the distinct reasons of a refusal. */
export function outcomeOf(placement: Placement): string {
  if (placement.kind === 'placed') return placement.diskId;
  return [...new Set(placement.refusals.map(({ rejection }) => rejection.reason))].sort().join(' ');
}
