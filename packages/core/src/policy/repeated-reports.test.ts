import { describe, expect, test } from '@jest/globals';
import type { DiskReport, EngineReport, Heartbeat } from '../model/agent-protocol.js';
import { asId, type ClusterId, type DiskId, type NodeId } from '../model/ids.js';
import {
  isEnough,
  isRepeatable,
  judgeRepeatedStamp,
  type KnownReporter,
  type RepeatClaim,
  type StoredReport,
} from './repeated-reports.js';

const NODE = asId<NodeId>('node-1');
const CLUSTER = asId<ClusterId>('cluster-1');
const DISK = asId<DiskId>('disk-1');
const [BEFORE, STAMP, NEXT] = ['stamp-0', 'stamp-1', 'stamp-2'];
const NOW = new Date('2026-01-01T12:00:00Z');
const stampOf = (id: string | null, trail: string[] = []) => ({
  id,
  generation: trail.length + 1,
  trail,
  isOpen: true,
  fileId: 'file',
});
// The casts: only what the rules read is there.
const disk = (part: object = {}) =>
  ({ diskId: DISK, ready: true, availableBytes: 5, stamp: stampOf(STAMP), ...part }) as DiskReport;
const engine = (part: object = {}) =>
  ({ volumeId: 'volume-1', rebuilds: [], ...part }) as unknown as EngineReport;
const report = (part: Partial<Heartbeat> = {}) =>
  ({ node: { name: 'node-1' }, disks: [disk()], replicas: [], engines: [], ...part }) as Heartbeat;

describe('isRepeatable', () => {
  const row = { id: DISK, acceptedNodeId: undefined, removalRequestedAt: undefined };
  const stored = (part: Partial<StoredReport> = {}): StoredReport => ({
    heartbeat: report({ engines: [engine()] }),
    disks: [row],
    confirmed: [{ diskId: DISK, stampId: STAMP }],
    isEndingRows: false,
    knownVolumes: new Set(['volume-1']),
    ...part,
  });
  const engines = (...rebuilds: object[]) => ({ heartbeat: report({ engines: [engine({ rebuilds })] }) });

  test.each<{ name: string; part: Partial<StoredReport>; want: boolean }>([
    { name: 'that is settled', part: {}, want: true },
    { name: 'with a disk that is not its own, or new', part: { disks: [] }, want: false },
    { name: 'with a stamp that is not confirmed', part: { confirmed: [] }, want: false },
    {
      name: 'with a disk that is not ready',
      part: { heartbeat: report({ disks: [disk({ ready: false })] }), confirmed: [] },
      want: true,
    },
    {
      name: 'with a disk of an older agent',
      part: { heartbeat: report({ disks: [disk({ stamp: undefined })] }), confirmed: [] },
      want: true,
    },
    { name: 'with a row that waits for its booking', part: { isEndingRows: true }, want: false },
    {
      name: 'with a disk that is to be removed',
      part: { disks: [{ ...row, removalRequestedAt: NOW }] },
      want: false,
    },
    {
      name: 'with a disk that a user accepts',
      part: { disks: [{ ...row, acceptedNodeId: NODE }] },
      want: false,
    },
    { name: 'with an engine of an unknown volume', part: { knownVolumes: new Set() }, want: false },
    { name: 'with a rebuild that runs', part: engines({ state: 'running' }), want: false },
    { name: 'with a rebuild that has ended', part: engines({ state: 'succeeded' }), want: true },
  ])('a report $name', ({ part, want }) => {
    expect(isRepeatable(stored(part))).toBe(want);
  });
});

describe('isEnough', () => {
  const claim: RepeatClaim = {
    nodeId: NODE,
    clusterId: CLUSTER,
    keyHash: 'key',
    reportId: 'report',
    name: 'node-1',
    bootId: 'boot',
    controlUrl: 'http://10.0.0.1:1',
    nbdHost: '10.0.0.1',
  };
  const ready = (status: 'True' | 'False') => [
    { type: 'Ready' as const, status, reason: '', message: '', lastTransitionAt: NOW },
  ];
  const known: KnownReporter = {
    name: 'node-1',
    clusterId: CLUSTER,
    bootId: 'boot',
    controlUrl: 'http://10.0.0.1:1',
    nbdHost: '10.0.0.1',
    lastHeartbeatAt: NOW,
    conditions: ready('True'),
    reportId: 'report',
    keyHash: 'key',
    isRevoked: false,
    isForgotten: false,
    protocol: 1,
    oldestProtocol: undefined,
    unansweredAt: undefined,
    isStale: false,
  };

  test.each<{ name: string; part: Partial<KnownReporter>; want: boolean }>([
    { name: 'that is as it was', part: {}, want: true },
    { name: 'of another cluster', part: { clusterId: asId<ClusterId>('cluster-2') }, want: false },
    { name: 'of another name', part: { name: 'node-2' }, want: false },
    { name: 'that has joined again with another key', part: { keyHash: 'other' }, want: false },
    { name: 'whose certificate was revoked', part: { isRevoked: true }, want: false },
    { name: 'that is being forgotten', part: { isForgotten: true }, want: false },
    { name: 'whose agent was started anew', part: { bootId: 'next' }, want: false },
    { name: 'whose agent is too old', part: { oldestProtocol: 2 }, want: false },
    { name: 'of another report', part: { reportId: 'next' }, want: false },
    { name: 'without a report', part: { reportId: undefined }, want: false },
    { name: 'of which a row has changed', part: { isStale: true }, want: false },
    { name: 'that is reached elsewhere', part: { controlUrl: 'http://10.0.0.2:1' }, want: false },
    { name: 'whose engines are reached elsewhere', part: { nbdHost: '10.0.0.2' }, want: false },
    { name: 'that is not ready', part: { conditions: ready('False') }, want: false },
    { name: 'of which nothing is said yet', part: { conditions: [] }, want: false },
    { name: 'that is shown as not answering', part: { unansweredAt: NOW }, want: false },
    { name: 'that has answered since', part: { unansweredAt: new Date(NOW.getTime() - 1) }, want: true },
  ])('a node $name', ({ part, want }) => {
    expect(isEnough({ ...known, ...part }, claim)).toBe(want);
  });
});

describe('judgeRepeatedStamp', () => {
  const stored = {
    id: STAMP,
    generation: 1,
    isOpen: true,
    fileId: 'file',
    bootId: 'boot',
    at: NOW.toISOString(),
  };
  const known = { nodeId: NODE, stamp: stored, acceptedNodeId: undefined };
  const sender = { nodeId: NODE, bootId: 'boot', now: NOW };

  test.each<{
    name: string;
    disk?: Partial<Parameters<typeof judgeRepeatedStamp>[0]>;
    claim: string;
    trail?: string[];
    want: string | undefined;
  }>([
    { name: 'that is stored', claim: STAMP, want: 'confirmed' },
    { name: 'that follows it', claim: NEXT, trail: [STAMP], want: 'advanced' },
    { name: 'from before it', claim: BEFORE, want: undefined },
    {
      name: 'of a disk on another node',
      disk: { nodeId: asId<NodeId>('node-2') },
      claim: NEXT,
      trail: [STAMP],
      want: undefined,
    },
    {
      name: 'of a disk that a user accepts',
      disk: { acceptedNodeId: NODE },
      claim: NEXT,
      trail: [STAMP],
      want: undefined,
    },
  ])('a stamp $name', ({ disk: part, claim, trail, want }) => {
    expect(judgeRepeatedStamp({ ...known, ...part }, stampOf(claim, trail), sender)?.kind).toBe(want);
  });
});
