import { A_SPEC, AN_OWNER, anIdleVolume, aRebuild, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn, ON_ANY_NODE, TO_REPAIR } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { asId, type ReplicaId } from '../model/ids.js';
import type { Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { planEvictionAttachment, planOfflineRebuild } from './plan-offline-rebuild.js';

const LONG_AGO = new Date(NOON.getTime() - 3600_000);
const NODES = { n1: { zone: 'a' }, n2: { zone: 'b' }, n3: { zone: 'c' }, n4: { zone: 'd' } };
const stopped = { mode: undefined, provisioned: true };
const full = (node: string, part: Partial<Replica> = {}) =>
  aReplicaOn(`${node}-disk`, { ...stopped, id: asId<ReplicaId>(node), ...part });
const failed = (node: string, part: Partial<Replica> = {}) =>
  full(node, { failedAt: LONG_AGO, lastFailedAt: LONG_AGO, lastHealthyAt: LONG_AGO, ...part });

/** A detached volume of three copies, of which one has failed on a node that has returned. */
function view(part: Partial<VolumeView> = {}, volume: Partial<Volume> = {}): VolumeView {
  const spec = { ...A_SPEC, offlineRebuilding: 'enabled' as const };
  return aVolumeView({
    volume: anIdleVolume(AN_OWNER, { robustness: 'degraded', spec, ...volume }),
    replicas: [full('n1'), full('n2'), failed('n3')],
    fleet: aFleet(NODES),
    ...part,
  });
}

test.each<{ name: string; seen: VolumeView; begins: boolean }>([
  { name: 'a copy that came back', seen: view(), begins: true },
  { name: 'a missing copy with a place', seen: view({ replicas: [full('n1'), full('n2')] }), begins: true },
  {
    name: 'a missing copy without a place',
    seen: view({ replicas: [full('n1'), full('n2')], fleet: aFleet({ n1: NODES.n1, n2: NODES.n2 }) }),
    begins: false,
  },
  {
    name: 'a copy whose node is only away, beside a surplus one that failed',
    seen: view({
      replicas: [full('n1'), full('n2'), full('n4'), failed('n3')],
      fleet: aFleet({ ...NODES, n4: { zone: 'd', ready: false } }),
    }),
    begins: false,
  },
  {
    name: 'no rebuild is allowed',
    seen: view({ fleet: aFleet(NODES, { 'concurrent-replica-rebuild-per-node-limit': 0 }) }),
    begins: false,
  },
  {
    name: 'no rebuild is allowed in the whole cluster',
    seen: view({ fleet: aFleet(NODES, { 'concurrent-rebuild-per-cluster-limit': 0 }) }),
    begins: false,
  },
  {
    name: 'a user wants it attached',
    seen: view({}, { lifecycle: { state: 'attaching', request: ON_ANY_NODE, grant: undefined } }),
    begins: false,
  },
  {
    name: 'it is being deleted',
    seen: view({}, { lifecycle: { state: 'deleting', requestedAt: NOON, grant: undefined } }),
    begins: false,
  },
  { name: 'it is not enabled', seen: view({}, { spec: A_SPEC }), begins: false },
])('an offline rebuild, $name: $begins', ({ seen, begins }) => {
  expect(planOfflineRebuild(seen, NOON)?.kind).toBe(begins ? 'commit' : undefined);
});

const DEAD_NODE = { n3: { zone: 'c', ready: false } };
const MISSING_DISK = { n3: { zone: 'c', disks: { 'n3-disk': { ready: false } } } };

test.each<{ name: string; place: Record<string, NodePart>; minutes: number; begins: boolean }>([
  { name: 'of a dead node that may still come back', place: DEAD_NODE, minutes: 9, begins: false },
  { name: 'of a dead node', place: DEAD_NODE, minutes: 10, begins: true },
  { name: 'of a missing disk that may still come back', place: MISSING_DISK, minutes: 9, begins: false },
  { name: 'of a missing disk', place: MISSING_DISK, minutes: 10, begins: true },
])('a detached volume is attached for the full copy $name: $begins', ({ place, minutes, begins }) => {
  const seen = view({
    replicas: [full('n1'), full('n2'), full('n3')],
    fleet: aFleet({ ...NODES, ...place }),
  });
  const later = new Date(NOON.getTime() + minutes * 60_000);
  expect(planOfflineRebuild(seen, later)?.kind).toBe(begins ? 'commit' : undefined);
});

test.each<{ name: string; copy: Replica; begins: boolean }>([
  { name: 'full there', copy: full('n3'), begins: true },
  { name: 'failed there', copy: failed('n3'), begins: true },
  { name: 'about to be removed', copy: full('n3', { intent: 'remove' }), begins: false },
])(
  'a dead node that is emptied has a detached volume attached whose copy is $name: $begins',
  ({ copy, begins }) => {
    const fleet = aFleet({ ...NODES, n3: { zone: 'c', ready: false, evictionRequested: true } });
    const seen = view({ replicas: [full('n1'), full('n2'), copy], fleet }, { spec: A_SPEC });
    const later = new Date(NOON.getTime() + 3600_000);
    expect(planEvictionAttachment(seen, later)?.kind).toBe(begins ? 'commit' : undefined);
  },
);

const NONE_MAY_START = aFleet(NODES, { 'concurrent-rebuild-source-per-node-limit': 0 });
const REPAIR = { ...TO_REPAIR, requestedAt: LONG_AGO };
const repairing = (part: Partial<VolumeView>) =>
  view(part, { lifecycle: attachedOn('n1', { request: REPAIR }) });

test.each<{ name: string; seen: VolumeView; ends: boolean }>([
  { name: 'nothing is rebuilt', seen: repairing({}), ends: true },
  {
    name: 'a rebuild waits in the queue',
    seen: repairing({ rebuilds: [aRebuild()] }),
    ends: false,
  },
  {
    name: 'a rebuild waits in the queue, and none may start',
    seen: repairing({ rebuilds: [aRebuild()], fleet: NONE_MAY_START }),
    ends: true,
  },
  {
    name: 'a rebuild runs, and no other may start',
    seen: repairing({ rebuilds: [aRebuild({ state: 'running' })], fleet: NONE_MAY_START }),
    ends: false,
  },
])('an offline rebuild that was begun an hour ago ends, $name: $ends', ({ seen, ends }) => {
  expect(planOfflineRebuild(seen, NOON)?.kind).toBe(ends ? 'commit' : undefined);
});

test.each<{ name: string; ready: boolean; begins: boolean }>([
  { name: 'of a node that answers', ready: true, begins: true },
  { name: 'of a node that does not answer', ready: false, begins: false },
])('a detached volume is attached to move its only full copy off, $name: $begins', ({ ready, begins }) => {
  const leaving = { zone: 'a', evictionRequested: true, ready };
  const seen = view({ replicas: [full('n1')], fleet: aFleet({ ...NODES, n1: leaving }) });
  const later = new Date(NOON.getTime() + 3600_000);
  expect(planEvictionAttachment(seen, later)?.kind).toBe(begins ? 'commit' : undefined);
});

test.each<{ name: string; copies: string[]; minutes: number; begins: boolean }>([
  { name: 'the usual wait', copies: ['n1', 'n2', 'n3'], minutes: 9, begins: false },
  { name: 'its maintenance window', copies: ['n1', 'n2', 'n3'], minutes: 59, begins: false },
  { name: 'nothing: the window is over', copies: ['n1', 'n2', 'n3'], minutes: 60, begins: true },
  { name: 'the usual wait, where one other copy is left', copies: ['n1', 'n3'], minutes: 9, begins: false },
  { name: 'nothing: one other copy is left', copies: ['n1', 'n3'], minutes: 10, begins: true },
])(
  'a detached volume is attached to be moved while a node is away, which is held up by $name: $begins',
  ({ copies, minutes, begins }) => {
    const maintenance = { until: new Date(NOON.getTime() + 3600_000), reason: 'new disks' };
    const n1 = { zone: 'a', evictionRequested: true };
    const fleet = aFleet({ ...NODES, n1, n3: { zone: 'c', ready: false, maintenance } });
    const spec = { ...A_SPEC, numberOfReplicas: copies.length };
    const seen = view({ replicas: copies.map((node) => full(node)), fleet }, { spec });
    const later = new Date(NOON.getTime() + minutes * 60_000);
    expect(planEvictionAttachment(seen, later)?.kind).toBe(begins ? 'commit' : undefined);
  },
);
