import { AN_OWNER, anIdleVolume, NOON, testId } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { expect, test } from '@jest/globals';
import { asId, type ReplicaId } from '../model/ids.js';
import type { DrainPolicy, DrainWait, NodeDrainStatus } from '../model/node-drain.js';
import type { Replica } from '../model/replica.js';
import type { VolumeLifecycle } from '../model/volume-lifecycle.js';
import { DETACHED } from '../model/volume-lifecycle.js';
import { decideDrain } from '../policy/decide-drain.js';
import { drainStatus, isDraining, isSameStatus } from './drain-status.js';

const LAST: DrainPolicy = 'block-if-contains-last-replica';
const STOPPED: DrainPolicy = 'allow-if-replica-is-stopped';
const MOVE_LAST: DrainPolicy = 'block-for-eviction-if-contains-last-replica';
const drainOf = (policy: DrainPolicy) => ({ policy, requestedAt: NOON, wasCordoned: false });
const MAINTENANCE = { until: new Date(NOON.getTime() + 60_000), reason: '' };
const FAILED = { failedAt: NOON, healthyAt: undefined, lastHealthyAt: NOON };

type Row = {
  name: string;
  policy: DrainPolicy;
  /** Of node b, which holds the other copy. */
  other?: NodePart;
  copy?: Partial<Replica>;
  peer?: Partial<Replica>;
  lifecycle?: VolumeLifecycle;
  want: string;
};

test.each<Row>([
  { name: 'another node holds a copy', policy: LAST, want: 'drained' },
  { name: 'the other node does not answer', policy: LAST, other: { ready: false }, want: 'blocked LastCopy' },
  { name: 'the other node is cordoned', policy: LAST, other: { cordoned: true }, want: 'blocked LastCopy' },
  {
    name: 'the other one is drained too',
    policy: LAST,
    other: { drain: drainOf(LAST) },
    want: 'blocked LastCopy',
  },
  {
    name: 'the other one is in maintenance',
    policy: LAST,
    other: { maintenance: MAINTENANCE },
    want: 'blocked LastCopy',
  },
  { name: 'the other copy has failed', policy: LAST, peer: FAILED, want: 'blocked LastCopy' },
  {
    name: 'its own copy has failed as well, and may be salvaged',
    policy: LAST,
    peer: FAILED,
    copy: FAILED,
    want: 'blocked LastCopy',
  },
  {
    name: 'its own copy was never full',
    policy: LAST,
    peer: FAILED,
    copy: { healthyAt: undefined },
    want: 'drained',
  },
  { name: 'the last copy is not in use', policy: STOPPED, peer: FAILED, want: 'drained' },
  {
    name: 'the last copy is in use',
    policy: STOPPED,
    peer: FAILED,
    copy: { mode: 'RW' },
    want: 'blocked LastCopy',
  },
  { name: 'the last copy is not asked for', policy: 'always-allow', peer: FAILED, want: 'drained' },
  { name: 'an engine runs there', policy: LAST, lifecycle: attachedOn('a'), want: 'blocked EngineRunning' },
  {
    name: 'an engine there is not asked for',
    policy: 'always-allow',
    lifecycle: attachedOn('a'),
    want: 'drained',
  },
  { name: 'all copies are to move', policy: 'block-for-eviction', want: 'draining Rebuilding' },
  { name: 'a copy elsewhere is enough', policy: MOVE_LAST, want: 'drained' },
  { name: 'the last copy is to move', policy: MOVE_LAST, peer: FAILED, want: 'draining Rebuilding' },
  {
    name: 'there is no other place',
    policy: 'block-for-eviction',
    other: { allowScheduling: false },
    want: 'blocked NoPlace',
  },
])('$policy, $name → $want', ({ policy, other = {}, copy = {}, peer = {}, lifecycle = DETACHED, want }) => {
  const settings = { 'replica-replenishment-wait-interval': 0 };
  const nodes = { a: { cordoned: true, drain: drainOf(policy) }, b: other };
  const fleet = aFleet(want.endsWith('NoPlace') ? nodes : { ...nodes, c: {}, d: {} }, settings);
  const volume = anIdleVolume(AN_OWNER, { lifecycle });
  volume.spec = { ...volume.spec, numberOfReplicas: 2 };
  const replicaOn = (disk: string, part: Partial<Replica>) =>
    aReplicaOn(disk, {
      id: asId<ReplicaId>(disk),
      volumeId: asId(testId(1)),
      lastHealthyAt: undefined,
      ...part,
    });
  const replicas = [replicaOn('a-disk', copy), replicaOn('b-disk', peer)];
  const node = fleet.nodes.find(isDraining);
  if (node === undefined) throw new Error('no node is drained');
  const status = drainStatus(node, { fleet, volumes: [{ volume, replicas, rebuilds: [] }] }, NOON);
  expect([status.state, ...status.waitingFor.map(({ reason }) => reason)].join(' ')).toBe(want);
  for (const wait of status.waitingFor) expect(wait.message).not.toBe('');
});

test.each<{ policy: DrainPolicy; lifecycle: VolumeLifecycle; other: NodePart; want: string }>([
  { policy: 'block-for-eviction', lifecycle: DETACHED, other: { ready: false }, want: 'blocked NoPlace' },
  { policy: 'block-for-eviction', lifecycle: DETACHED, other: {}, want: 'draining CopyAwaited' },
  {
    policy: 'block-for-eviction',
    lifecycle: attachedOn('c'),
    other: { ready: false },
    want: 'blocked NoPlace',
  },
  { policy: MOVE_LAST, lifecycle: DETACHED, other: { ready: false }, want: 'blocked NoPlace' },
  { policy: LAST, lifecycle: DETACHED, other: { ready: false }, want: 'blocked LastCopy' },
  { policy: LAST, lifecycle: attachedOn('c'), other: { ready: false }, want: 'blocked LastCopy' },
  { policy: LAST, lifecycle: attachedOn('c'), other: {}, want: 'draining CopyAwaited' },
  { policy: STOPPED, lifecycle: DETACHED, other: { ready: false }, want: 'drained' },
  { policy: 'always-allow', lifecycle: DETACHED, other: { ready: false }, want: 'drained' },
])(
  '$policy of $lifecycle.state, the peer’s node is away, and another one is $other → $want',
  ({ policy, lifecycle, other, want }) => {
    // Node c runs engines and holds no copies.
    const c: NodePart = { cordoned: true, disks: {} };
    const fleet = aFleet({ a: { cordoned: true, drain: drainOf(policy) }, b: { ready: false }, c, d: other });
    const volume = anIdleVolume(AN_OWNER, { lifecycle });
    volume.spec = { ...volume.spec, numberOfReplicas: 2 };
    const replicas = ['a-disk', 'b-disk'].map((disk) =>
      aReplicaOn(disk, {
        id: asId<ReplicaId>(disk),
        volumeId: asId(testId(1)),
        lastHealthyAt: undefined,
        ...(disk === 'b-disk' && lifecycle !== DETACHED ? FAILED : {}),
      }),
    );
    const node = fleet.nodes.find(isDraining);
    if (node === undefined) throw new Error('no node is drained');
    const status = drainStatus(node, { fleet, volumes: [{ volume, replicas, rebuilds: [] }] }, NOON);
    expect([status.state, ...status.waitingFor.map(({ reason }) => reason)].join(' ')).toBe(want);
    if (status.state !== 'blocked') return;
    const refusal = decideDrain({ ...node, drain: undefined }, policy, {
      ...fleet,
      disks: fleet.disks.map((disk) => ({ ...disk, storageScheduledBytes: 1 })),
    });
    if (refusal.kind !== 'refuse') throw new Error('a drain that is asked for now is not refused');
    expect(status.waitingFor[0]?.message).toContain(refusal.why);
    expect(status.waitingFor[0]?.cures).toEqual(refusal.cures);
  },
);

test('what a drain has moved stays counted when more comes to be moved', () => {
  const fleet = aFleet({ a: { cordoned: true, drain: drainOf('block-for-eviction') }, b: {} });
  const volume = anIdleVolume(AN_OWNER);
  const replicas = [aReplicaOn('a-disk', { volumeId: asId(testId(1)) })];
  const node = fleet.nodes.find(isDraining);
  if (node === undefined) throw new Error('no node is drained');
  const progress = { replicasToMove: 1, replicasMoved: 1, bytesToMove: 10, bytesMoved: 10 };
  const before = { state: 'drained' as const, since: NOON, progress, waitingCount: 0, waitingFor: [] };
  const view = { fleet, volumes: [{ volume, replicas, rebuilds: [] }] };
  const status = drainStatus({ ...node, drainStatus: before }, view, NOON);
  expect(status.progress).toMatchObject({ replicasToMove: 2, replicasMoved: 1, bytesMoved: 10 });
});

test('a status is the same while all that it says is', () => {
  const wait: DrainWait = {
    volumeId: asId(testId(1)),
    volumeName: 'data',
    replicaId: undefined,
    reason: 'EngineRunning',
    message: 'it runs',
    cures: ['detach it'],
  };
  const progress = { replicasToMove: 2, replicasMoved: 1, bytesToMove: 20, bytesMoved: 10 };
  const status: NodeDrainStatus = {
    state: 'blocked',
    since: NOON,
    progress,
    waitingCount: 1,
    waitingFor: [wait],
  };
  const others: Partial<NodeDrainStatus>[] = [
    { state: 'draining' },
    { since: new Date(0) },
    { progress: { ...progress, bytesMoved: 11 } },
    { waitingCount: 2 },
    { waitingFor: [] },
    { waitingFor: [{ ...wait, replicaId: asId(testId(2)) }] },
    { waitingFor: [{ ...wait, message: 'it still runs' }] },
    { waitingFor: [{ ...wait, cures: ['wait'] }] },
  ];
  const copy = { ...status, since: new Date(NOON), waitingFor: [{ ...wait, cures: [...wait.cures] }] };
  expect(isSameStatus(status, copy)).toBe(true);
  expect(others.map((other) => isSameStatus(status, { ...copy, ...other }))).toEqual(others.map(() => false));
  expect([isSameStatus(undefined, undefined), isSameStatus(status, undefined)]).toEqual([true, false]);
});
