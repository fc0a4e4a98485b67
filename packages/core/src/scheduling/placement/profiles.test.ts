/**
 * Every row of the design's table of deliberate differences that concerns placement (docs/design/scheduling.md, docs/design/rebuild.md): one
 * question, and the two answers.
 */
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type DiskId, type NodeId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, aRequest, type NodePart, outcomeOf } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { Condition } from '../../model/condition.js';
import { isNodeReady } from '../../model/node.js';
import type { Replica } from '../../model/replica.js';
import type { FleetView } from '../../model/views.js';
import { diskSchedulableCondition } from '../../policy/disk-conditions.js';
import { nodeSchedulableCondition } from '../../policy/node-conditions.js';
import type { SchedulingProfile } from '../framework/framework.js';
import type { LonghornInputs } from '../framework/longhorn-inputs.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { LONGHORN_PROFILE } from '../longhorn/longhorn-profile.js';
import { placeReplica } from './place-replica.js';
import { HOLDFAST_PROFILE } from './profile.js';

const LONGHORN_INPUTS: LonghornInputs = {
  replicaSizeBytes: GIB,
  degradedAt: undefined,
  autoBalance: 'disabled',
  backingImage: undefined,
  cloneSources: undefined,
};

type Case = {
  matter: string;
  nodes: Record<string, NodePart>;
  request: Partial<PlacementRequest>;
  holdfast: string;
  longhorn: string;
};

const named = (disk: string, id: string, part: Partial<Replica> = {}) =>
  aReplicaOn(disk, { id: asId<ReplicaId>(id), ...part });

const ago = (seconds: number) => secondsAfterNoon(-seconds);

describe('where holdfast differs from Longhorn on purpose', () => {
  test.each<Case>([
    {
      matter: 'several replicas on disks: the fewest, not any',
      nodes: { a: { disks: { 'a-1': { bytes: 100 * GIB }, 'a-2': { bytes: 50 * GIB } } } },
      request: {
        nodeAntiAffinity: 'preferred',
        replicas: [named('a-1', 'r1'), named('a-1', 'r2'), named('a-2', 'r3')],
      },
      holdfast: 'a-2',
      longhorn: 'a-1',
    },
    {
      matter: 'ties: the most usable space, not the smallest id',
      nodes: {
        a: { disks: { 'a-1': { bytes: 50 * GIB } } },
        b: { disks: { 'b-1': { bytes: 60 * GIB } } },
        c: { disks: { 'c-1': { bytes: 99 * GIB } } },
        d: { disks: { 'd-1': { bytes: 99 * GIB } } },
        e: { disks: { 'e-1': { bytes: 10 * GIB } } },
      },
      request: {},
      holdfast: 'c-1',
      longhorn: 'a-1',
    },
    {
      matter: 'a used node too has to carry the selected tags',
      nodes: { a: { tags: ['slow'], disks: { 'a-1': {}, 'a-2': {} } } },
      request: { nodeAntiAffinity: 'preferred', nodeSelector: ['fast'], replicas: [aReplicaOn('a-1')] },
      holdfast: 'NodeTagsMissing',
      longhorn: 'a-2',
    },
    {
      matter: 'a replica on a node that is down keeps its zone',
      nodes: { a: { zone: 'z', ready: false }, b: { zone: 'z' } },
      request: { zoneAntiAffinity: 'required', replicas: [aReplicaOn('a-disk')] },
      holdfast: 'NodeNotReady ZoneOccupied',
      longhorn: 'b-disk',
    },
    {
      matter: 'a replica on a node that is cordoned keeps its zone',
      nodes: { a: { zone: 'z', cordoned: true }, b: { zone: 'z' } },
      request: { zoneAntiAffinity: 'required', replicas: [aReplicaOn('a-disk')] },
      holdfast: 'NodeCordoned ZoneOccupied',
      longhorn: 'b-disk',
    },
    {
      matter: 'none has the size usable: the least overdrawn, not an arbitrary one',
      nodes: {
        a: { disks: { 'a-1': { storageReservedBytes: 20 * GIB, storageAvailableBytes: 30 * GIB } } },
        b: { disks: { 'b-1': { storageReservedBytes: 15 * GIB, storageAvailableBytes: 30 * GIB } } },
      },
      request: { sizeBytes: 40 * GIB, longhorn: { ...LONGHORN_INPUTS, replicaSizeBytes: 40 * GIB } },
      holdfast: 'b-1',
      longhorn: 'a-1',
    },
    {
      matter: 'written data counts once in usable space, not twice',
      nodes: {
        a: {
          disks: {
            'a-1': {
              storageAvailableBytes: 60 * GIB,
              storageScheduledBytes: 40 * GIB,
              writtenBytes: 40 * GIB,
            },
          },
        },
        b: { disks: { 'b-1': { bytes: 50 * GIB } } },
      },
      request: {},
      holdfast: 'a-1',
      longhorn: 'b-1',
    },
    {
      matter: 'a disk is compared with those of the chosen node, not with all candidates',
      nodes: {
        A: { disks: { 'A-1': { bytes: 900 * GIB }, 'A-2': { bytes: 100 * GIB } } },
        B: { disks: { 'B-1': { bytes: 600 * GIB }, 'B-2': { bytes: 700 * GIB } } },
      },
      request: { sizeBytes: 100 * GIB, longhorn: { ...LONGHORN_INPUTS, replicaSizeBytes: 100 * GIB } },
      holdfast: 'B-2',
      longhorn: 'B-1',
    },
    {
      matter: 'a failed replica keeps its place from its own failure on, not from the volume’s degradation',
      nodes: { a: { zone: 'z' }, b: { zone: 'z' } },
      request: {
        zoneAntiAffinity: 'required',
        replicas: [aReplicaOn('a-disk', { failedAt: ago(60) })],
        longhorn: { ...LONGHORN_INPUTS, degradedAt: ago(600) },
      },
      holdfast: 'NodeOccupied ZoneOccupied',
      longhorn: 'b-disk',
    },
    {
      matter:
        'an evicted disk’s replica makes room for its successor at once, not when a controller has marked it',
      nodes: {
        a: { disks: { 'a-1': { evictionRequested: true, allowScheduling: false }, 'a-2': {} } },
      },
      request: { replicas: [aReplicaOn('a-1')] },
      holdfast: 'a-2',
      longhorn: 'NodeOccupied',
    },
    {
      matter: 'balancing never puts two replicas on one node that may hold one',
      nodes: {
        a: { disks: { 'a-1': { storageAvailableBytes: 5 * GIB }, 'a-2': {} } },
      },
      request: {
        replicas: [aReplicaOn('a-1')],
        longhorn: { ...LONGHORN_INPUTS, autoBalance: 'best-effort' },
      },
      holdfast: 'NodeOccupied',
      longhorn: 'a-2',
    },
  ])('$matter', (row) => {
    expect(ask(row, HOLDFAST_PROFILE)).toBe(row.holdfast);
    expect(ask(row, LONGHORN_PROFILE)).toBe(row.longhorn);
  });
});

describe('under both profiles', () => {
  const nodes: Record<string, NodePart> = { a: {}, b: { disks: { 'b-disk': { bytes: 50 * GIB } } } };
  const localNodeId = asId<NodeId>('b');
  const bothAnswer = (request: Partial<PlacementRequest>, parts = nodes) => {
    const row = { matter: '', nodes: parts, request, holdfast: '', longhorn: '' };
    return [HOLDFAST_PROFILE, LONGHORN_PROFILE].map((profile) => ask(row, profile));
  };

  test('locality goes to the attached node while no live copy is there', () => {
    expect(bothAnswer({ localNodeId })).toEqual(['b-disk', 'b-disk']);
  });

  test('a copy that leaves still counts as local', () => {
    // Each node holds a copy, so that the last tier offers the free disks of both.
    const parts = {
      a: { disks: { 'a-1': {}, 'a-2': {} } },
      b: { disks: { 'b-1': {}, 'b-2': { bytes: 50 * GIB } } },
    };
    const withLocal = (part: Partial<Replica>) => {
      const replicas = [aReplicaOn('a-1'), aReplicaOn('b-1', part)];
      return bothAnswer({ localNodeId, replicas, nodeAntiAffinity: 'preferred' }, parts);
    };
    const failed = { failedAt: ago(1) };
    expect(withLocal({ intent: 'evict' })).toEqual(['a-2', 'a-2']);
    expect(withLocal(failed)).toEqual(['b-2', 'b-2']);
  });

  describe('where copies may not share a zone, a copy that leaves a zone', () => {
    const leaving = named('a-1', 'r1', { intent: 'evict' });
    const replicas = [leaving, named('b-disk', 'r2')];
    const elsewhere = { a2: { zone: 'a' }, b: { zone: 'b' } };

    test('finds another node of it where its own node is switched off', () => {
      const parts = { a: { zone: 'a', allowScheduling: false, disks: { 'a-1': {} } }, ...elsewhere };
      expect(bothAnswer({ zoneAntiAffinity: 'required', replicas }, parts)).toEqual(['a2-disk', 'a2-disk']);
    });

    test('finds no other node of it under Longhorn where its own node takes replicas', () => {
      const parts = { a: { zone: 'a', disks: { 'a-1': { allowScheduling: false } } }, ...elsewhere };
      const refused = 'DiskSchedulingDisabled NodeOccupied ZoneOccupied';
      expect(bothAnswer({ zoneAntiAffinity: 'required', replicas }, parts)).toEqual(['a2-disk', refused]);
    });

    test('may go to another disk of its node', () => {
      const disks = { 'a-1': { evictionRequested: true, allowScheduling: false }, 'a-2': {} };
      const parts = { a: { zone: 'a', disks }, b: elsewhere.b };
      expect(bothAnswer({ zoneAntiAffinity: 'required', replicas }, parts)).toEqual(['a-2', 'a-2']);
    });
  });

  test('a linked clone lives on the disk of its source only', () => {
    const cloneSources = [{ nodeId: asId<NodeId>('b'), diskId: asId<DiskId>('b-2') }];
    const longhorn = { ...LONGHORN_INPUTS, cloneSources };
    const parts = { a: {}, b: { disks: { 'b-1': {}, 'b-2': { bytes: 50 * GIB } } } };
    expect(bothAnswer({ longhorn }, parts)).toEqual(['b-2', 'b-2']);
    expect(bothAnswer({ longhorn }, { a: {} })).toEqual(['NodeWithoutCloneSource', 'NodeWithoutCloneSource']);
  });

  test('a backing image has selectors of its own', () => {
    const backingImage = { nodeSelector: ['image'], diskSelector: ['ssd'] };
    const longhorn = { ...LONGHORN_INPUTS, backingImage };
    expect(bothAnswer({ longhorn })).toEqual(['NodeTagsMissing', 'NodeTagsMissing']);
    const parts = { a: {}, b: { tags: ['image'], disks: { 'b-1': {}, 'b-2': { tags: ['ssd'] } } } };
    expect(bothAnswer({ longhorn }, parts)).toEqual(['b-2', 'b-2']);
  });
});

/** The conditions that Longhorn's node controller records, which its scheduler then reads. */
function recorded(fleet: FleetView): FleetView {
  const dated = <Type extends string>(condition: Omit<Condition<Type>, 'lastTransitionAt'>) => ({
    ...condition,
    lastTransitionAt: NOON,
  });
  const readyNodes = new Set(fleet.nodes.filter(isNodeReady).map(({ id }) => id));
  const nodes = fleet.nodes.map((node) => ({
    ...node,
    conditions: [...node.conditions, dated(nodeSchedulableCondition(node, fleet.settings))],
  }));
  const disks = fleet.disks.map((disk) => ({
    ...disk,
    conditions: [
      ...disk.conditions,
      dated(diskSchedulableCondition(disk, readyNodes.has(disk.nodeId), fleet.settings)),
    ],
  }));
  return { ...fleet, nodes, disks };
}

function ask({ nodes, request }: Case, profile: SchedulingProfile): string {
  const fleet = recorded(aFleet(nodes));
  return outcomeOf(placeReplica(aRequest({ longhorn: LONGHORN_INPUTS, ...request }), fleet, NOON, profile));
}
