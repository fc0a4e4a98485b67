import { asId } from '@holdfast/core/model/ids.js';
import type { Relocation } from '@holdfast/core/model/relocation.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import { AN_OWNER, aVolume, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import { decideSurplus } from './decide-surplus.js';

type Case = {
  name: string;
  nodes: Record<string, NodePart>;
  replicas: Replica[];
  wanted?: number;
  want: string | undefined;
};

/** The volume is served on n1, which holds the copy with the smallest id. */
const ask = ({ nodes, replicas, wanted = 2 }: Case) =>
  decideSurplus(
    aVolumeView({
      volume: aVolume(AN_OWNER, { lifecycle: attachedOn('n1'), epoch: 1 }),
      replicas,
      fleet: aFleet(nodes),
    }),
    wanted,
  )?.replica.diskId;

const THREE: Record<string, NodePart> = { n1: { zone: 'a' }, n2: { zone: 'b' }, n3: { zone: 'c' } };
const [r1, r2, r3] = ['n1-disk', 'n2-disk', 'n3-disk'].map((disk) => aReplicaOn(disk));
const COPIES = [r1, r2, r3].flatMap((replica) => replica ?? []);

/** The third copy is on its way: it waits for its rebuild, or is being built. */
const COMING = COPIES.map(
  (replica, at): Replica => (at === 2 ? { ...replica, healthyAt: undefined, mode: 'WO' } : replica),
);
const RELOCATION: Relocation = {
  replacesId: asId('on-n2-disk'),
  reason: 'requested',
  from: { nodeId: asId('n2'), diskId: asId('n2-disk') },
  gain: '',
  bytes: 0,
  at: NOON,
};

const DRAIN = { policy: 'always-allow', requestedAt: NOON, wasCordoned: false } as const;

describe('decideSurplus', () => {
  test.each<Case>([
    { name: 'none when none is too many', nodes: THREE, replicas: COPIES, wanted: 3, want: undefined },
    {
      name: 'the smallest id of equals, but not the one on the engine’s node',
      nodes: THREE,
      replicas: COPIES,
      want: 'n2-disk',
    },
    {
      name: 'one on a drained node before the others, also where the drain lets it stay',
      nodes: { ...THREE, n3: { zone: 'c', cordoned: true, drain: DRAIN } },
      replicas: COPIES,
      want: 'n3-disk',
    },
    {
      name: 'one that is being replaced goes first',
      nodes: { ...THREE, n1: { zone: 'a', evictionRequested: true, allowScheduling: false } },
      replicas: COPIES,
      want: 'n1-disk',
    },
    {
      name: 'but not before its replacement is complete',
      nodes: {
        ...THREE,
        n1: { zone: 'a', evictionRequested: true },
        n2: { zone: 'b', evictionRequested: true },
      },
      replicas: COPIES,
      wanted: 3,
      want: undefined,
    },
    {
      name: 'and does not wait until another leaving one is replaced as well',
      nodes: {
        ...THREE,
        n1: { zone: 'a', evictionRequested: true },
        n2: { zone: 'b', evictionRequested: true },
      },
      replicas: COPIES,
      want: 'n2-disk',
    },
    {
      name: 'then one on a dead node',
      nodes: { ...THREE, n3: { zone: 'c', ready: false } },
      replicas: COPIES,
      want: 'n3-disk',
    },
    {
      name: 'then one of those that share a zone',
      nodes: { ...THREE, n3: { zone: 'a' } },
      replicas: COPIES,
      want: 'n3-disk',
    },
    {
      name: 'then the one on the fullest disk',
      nodes: { ...THREE, n3: { zone: 'c', disks: { 'n3-disk': { storageAvailableBytes: 1 } } } },
      replicas: COPIES,
      want: 'n3-disk',
    },
    {
      name: 'a copy that is not full yet, before any that is',
      nodes: THREE,
      replicas: COMING,
      want: 'n3-disk',
    },
    {
      name: 'also before one that is to leave',
      nodes: { ...THREE, n4: { evictionRequested: true } },
      replicas: [...COMING, aReplicaOn('n4-disk')],
      want: 'n3-disk',
    },
    { name: 'not one that is needed', nodes: THREE, replicas: COMING, wanted: 3, want: undefined },
    {
      name: 'not one beside a copy whose node does not answer',
      nodes: { ...THREE, n2: { ready: false } },
      replicas: COMING,
      want: undefined,
    },
    {
      name: 'not one that is to replace another',
      nodes: THREE,
      replicas: COMING.map((replica, at) => (at === 2 ? { ...replica, relocation: RELOCATION } : replica)),
      want: undefined,
    },
    {
      name: 'failed copies are no surplus',
      nodes: THREE,
      replicas: COPIES.map((replica, index) =>
        index === 2 ? { ...replica, failedAt: new Date(0) } : replica,
      ),
      want: undefined,
    },
  ])('$name', (row) => {
    expect(ask(row)).toBe(row.want);
  });
});

test('of a strictly local volume the copy goes that its users can not reach, although the other one is to leave', () => {
  const volume = aVolume(AN_OWNER, { lifecycle: attachedOn('n1'), epoch: 1 });
  const view = aVolumeView({
    volume: { ...volume, spec: { ...volume.spec, numberOfReplicas: 1, dataLocality: 'strict-local' } },
    replicas: COPIES.slice(0, 2),
    fleet: aFleet({ n1: { evictionRequested: true, allowScheduling: false }, n2: {} }),
  });
  expect(decideSurplus(view)?.replica.diskId).toBe('n2-disk');
});
