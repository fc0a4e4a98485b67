// One placement decision: the whole filter chain with tags and two replicas placed already, over three zones. The
// baseline is the balance score as the proposal defines it, evaluated for every candidate disk.

import { afterPlacing, hybridScore } from '../../packages/core/dist/scheduling/balance-score.js';
import { placeReplica } from '../../packages/core/dist/scheduling/place-replica.js';
import { SETTINGS } from '../../packages/core/dist/settings/definitions.js';
import { percentile, report } from './report.mjs';

const GIB = 2 ** 30;
const NOW = new Date('2026-01-01T00:00:00Z');
const DISKS_PER_NODE = 4;
const ZONES = ['zone-a', 'zone-b', 'zone-c'];
/** A fixed seed: every run places on the same fleet. */
const SEED = 20260101;

export async function run({ quick }) {
  for (const disks of [1000, 10_000]) measure(disks, quick ? 50 : 500);
}

function measure(diskCount, rounds) {
  const fleet = makeFleet(diskCount);
  const request = makeRequest(fleet);
  for (let warm = 0; warm < 20; warm += 1) placeReplica(request, fleet, NOW);
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = performance.now();
    const placement = placeReplica(request, fleet, NOW);
    times.push(performance.now() - startedAt);
    if (placement.kind !== 'placed') throw new Error('the benchmark fleet has no room');
  }
  times.sort((a, b) => a - b);
  const baseline = quadraticMs(fleet, request.sizeBytes);
  const target = diskCount === 1000 ? { target: 1, better: 'lower' } : {};
  const row = { bench: 'schedule', case: `${diskCount} disks`, unit: 'ms' };
  report({ ...row, metric: 'decision p50', value: percentile(times, 0.5), baseline, ...target });
  report({ ...row, metric: 'decision p99', value: percentile(times, 0.99) });
}

/** The definition, for a sample of the candidates, scaled up to all of them. */
function quadraticMs(fleet, sizeBytes) {
  const values = fleet.disks.map((disk) => ({
    usableBytes: disk.storageAvailableBytes,
    totalBytes: disk.storageMaximumBytes,
  }));
  const sample = Math.min(values.length, 100);
  const startedAt = performance.now();
  let lowest = Number.POSITIVE_INFINITY;
  for (let index = 0; index < sample; index += 1) {
    lowest = Math.min(lowest, hybridScore(afterPlacing(values, index, sizeBytes), 1));
  }
  return ((performance.now() - startedAt) * values.length) / sample;
}

function makeFleet(diskCount) {
  const random = mulberry32(SEED);
  const condition = (type) => ({ type, status: 'True', reason: '', message: '', lastTransitionAt: NOW });
  const nodeCount = diskCount / DISKS_PER_NODE;
  const nodes = Array.from({ length: nodeCount }, (_, n) => ({
    id: `node-${n}`,
    clusterId: 'cluster',
    name: `node-${n}`,
    zone: ZONES[n % ZONES.length],
    region: undefined,
    tags: n % 2 === 0 ? ['fast'] : ['fast', 'spare'],
    allowScheduling: true,
    cordoned: false,
    evictionRequested: false,
    conditions: [condition('Ready'), condition('Schedulable')],
    controlUrl: 'http://127.0.0.1:1',
    lastHeartbeatAt: NOW,
  }));
  const disks = Array.from({ length: diskCount }, (_, d) => ({
    id: `disk-${d}`,
    nodeId: `node-${Math.floor(d / DISKS_PER_NODE)}`,
    name: `disk-${d % DISKS_PER_NODE}`,
    type: 'filesystem',
    fileSystem: 'ext4',
    tags: ['ssd'],
    allowScheduling: true,
    evictionRequested: false,
    storageReservedBytes: 0,
    storageMaximumBytes: 4000 * GIB,
    storageAvailableBytes: Math.floor((2000 + 2000 * random()) * GIB),
    storageScheduledBytes: Math.floor(1000 * random() * GIB),
    writtenBytes: 0,
    conditions: [condition('Ready'), condition('Schedulable')],
  }));
  const settings = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, definition]) => [name, definition.default]),
  );
  return { clusterId: 'cluster', settings, settingsVersion: 1, nodes, disks };
}

function makeRequest(fleet) {
  const placed = [0, 1].map((n) => ({
    id: `replica-${n}`,
    volumeId: 'volume',
    nodeId: fleet.nodes[n].id,
    diskId: fleet.disks[n * DISKS_PER_NODE].id,
    sizeBytes: 100 * GIB,
    intent: 'keep',
    healthyAt: NOW,
    rebuildRetryCount: 0,
  }));
  return {
    sizeBytes: 100 * GIB,
    writtenBytes: 0,
    dataEngine: 'v1',
    nodeSelector: ['fast'],
    diskSelector: ['ssd'],
    nodeAntiAffinity: 'required',
    zoneAntiAffinity: 'preferred',
    diskAntiAffinity: 'preferred',
    replicas: placed,
    requiredNodeId: undefined,
    localNodeId: undefined,
    topology: [],
    reuseDiskId: undefined,
  };
}

function mulberry32(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
