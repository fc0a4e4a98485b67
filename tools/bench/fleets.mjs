// Fleets and requests for the scheduler's benchmarks, by a fixed seed: every run measures the same ones.

import { SETTINGS } from '../../packages/core/dist/model/setting.js';

export const GIB = 2 ** 30;
export const NOW = new Date('2026-01-01T00:00:00Z');

const DEFAULT_SETTINGS = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, definition]) => [name, definition.default]),
);

const TRUE = (type) => ({ type, status: 'True', reason: '', message: '', lastTransitionAt: NOW });
const CONDITIONS = [TRUE('Ready'), TRUE('Schedulable')];

export function makeView(nodes, disks, settings = {}) {
  return {
    clusterId: 'cluster',
    settings: { ...DEFAULT_SETTINGS, ...settings },
    settingsVersion: 1,
    nodes,
    disks,
  };
}

export function makeNode(id, part) {
  return {
    id,
    clusterId: 'cluster',
    name: id,
    zone: undefined,
    region: undefined,
    tags: [],
    allowScheduling: true,
    cordoned: false,
    evictionRequested: false,
    conditions: CONDITIONS,
    controlUrl: 'http://127.0.0.1:1',
    lastHeartbeatAt: NOW,
    ...part,
  };
}

/** An empty disk unless the part says otherwise. */
export function makeDisk(id, nodeId, sizeBytes, part = {}) {
  return {
    id,
    nodeId,
    name: id,
    path: `/disks/${id}`,
    type: 'filesystem',
    fileSystem: 'xfs',
    tags: [],
    allowScheduling: true,
    evictionRequested: false,
    storageReservedBytes: 0,
    storageMaximumBytes: sizeBytes,
    storageAvailableBytes: sizeBytes,
    storageScheduledBytes: 0,
    writtenBytes: 0,
    conditions: CONDITIONS,
    version: 1,
    ...part,
  };
}

export function makeReplica(id, disk, sizeBytes) {
  return {
    id,
    volumeId: 'volume',
    nodeId: disk.nodeId,
    diskId: disk.id,
    sizeBytes,
    intent: 'keep',
    failedAt: undefined,
    healthyAt: NOW,
    rebuildRetryCount: 0,
  };
}

/** A request for one replica, with Longhorn's default anti-affinity: node required, zone and disk preferred. */
export function makeRequest(sizeBytes, part = {}) {
  return {
    sizeBytes,
    writtenBytes: 0,
    dataEngine: 'v1',
    nodeSelector: [],
    diskSelector: [],
    nodeAntiAffinity: 'required',
    zoneAntiAffinity: 'preferred',
    diskAntiAffinity: 'preferred',
    diskChoice: 'spread',
    replicas: [],
    requiredNodeId: undefined,
    localNodeId: undefined,
    topology: [],
    reuseDiskId: undefined,
    ...part,
  };
}

/** A generator of numbers from 0 to 1, without 1, by a seed. */
export function mulberry32(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
