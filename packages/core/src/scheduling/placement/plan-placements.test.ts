import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type NodeId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { A_SPEC, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { VolumeSpec } from '../../model/volume.js';
import { DETACHED } from '../../model/volume-lifecycle.js';
import { antiAffinity, placementRequest } from '../framework/placement-request.js';
import { bookingFor, planPlacements } from './plan-placements.js';

const node = asId<NodeId>('a');

function aVolume(part: Partial<VolumeSpec> = {}, holderId?: NodeId) {
  return {
    spec: { ...A_SPEC, sizeBytes: 60 * GIB, ...part },
    writtenBytes: 5,
    lifecycle: holderId === undefined ? DETACHED : attachedOn(holderId),
  };
}

describe('what is asked for one more replica', () => {
  const request = (part: Partial<VolumeSpec>, settings = {}, holderId?: NodeId) =>
    placementRequest(aVolume(part, holderId), [], aFleet({}, settings));

  test.each([
    { dataLocality: 'disabled', required: undefined, local: undefined },
    { dataLocality: 'best-effort', required: undefined, local: node },
    { dataLocality: 'strict-local', required: node, local: undefined },
  ] as const)(
    'the locality $dataLocality requires or prefers the node that serves the volume',
    ({ dataLocality, required, local }) => {
      expect(request({ dataLocality }, {}, node)).toMatchObject({
        requiredNodeId: required,
        localNodeId: local,
      });
      // Not attached: it is local to no node yet.
      expect(request({ dataLocality })).toMatchObject({ requiredNodeId: undefined, localNodeId: undefined });
    },
  );

  test.each([
    { own: 'ignored', setting: 'pack', want: 'pack' },
    { own: 'ignored', setting: 'spread', want: 'spread' },
    { own: 'spread', setting: 'pack', want: 'spread' },
    { own: 'pack', setting: 'spread', want: 'pack' },
  ] as const)('a choice of disks of $own where the setting is $setting: $want', ({ own, setting, want }) => {
    expect(request({ replicaDiskChoice: own }, { 'replica-disk-choice': setting }).diskChoice).toBe(want);
  });

  test('the volume’s own anti-affinity stands before the setting, each for its own domain', () => {
    const settings = { 'replica-soft-anti-affinity': true, 'replica-zone-soft-anti-affinity': false };
    expect(request({}, settings)).toMatchObject({
      nodeAntiAffinity: 'preferred',
      zoneAntiAffinity: 'required',
      diskAntiAffinity: 'preferred',
    });
    const own = {
      replicaSoftAntiAffinity: 'disabled',
      replicaZoneSoftAntiAffinity: 'enabled',
      replicaDiskSoftAntiAffinity: 'disabled',
    } as const;
    expect(request(own, settings)).toMatchObject({
      nodeAntiAffinity: 'required',
      zoneAntiAffinity: 'preferred',
      diskAntiAffinity: 'required',
    });
    expect(antiAffinity('enabled', false)).toBe('preferred');
  });
});

describe('a plan for several replicas', () => {
  const replica = (id: string) => ({
    ...aReplicaOn('x-1', { id: asId<ReplicaId>(id), sizeBytes: 60 * GIB }),
    nodeId: undefined,
    diskId: undefined,
  });
  const plan = (
    nodes: Record<string, NodePart>,
    part: Partial<VolumeSpec>,
    placed = [] as ReturnType<typeof aReplicaOn>[],
  ) =>
    planPlacements(aVolume(part), placed, [replica('r1'), replica('r2'), replica('r3')], aFleet(nodes), NOON);

  test('sees what it has booked itself, and stops at the first that fits nowhere', () => {
    const soft = { replicaSoftAntiAffinity: 'enabled', replicaDiskSoftAntiAffinity: 'enabled' } as const;
    const nodes = { a: { disks: { 'a-1': {} } }, b: { disks: { 'b-1': { bytes: 90 * GIB } } } };
    const { placements, refusals } = plan(nodes, soft);
    expect(placements.map(({ booking }) => [booking.diskId, booking.sizeBytes, booking.limitBytes])).toEqual([
      ['a-1', 60 * GIB, 100 * GIB],
      ['b-1', 60 * GIB, 90 * GIB],
    ]);
    expect(refusals?.map(({ rejection }) => rejection.reason)).toEqual([
      'InsufficientProvisionableSpace',
      'InsufficientProvisionableSpace',
    ]);
  });

  test('sees the replicas that have a place, and its own', () => {
    const nodes = { a: {}, b: {}, c: {}, d: {} };
    const { placements, refusals } = plan(nodes, {}, [aReplicaOn('a-disk')]);
    expect(placements.map(({ nodeId }) => nodeId)).toEqual(['b', 'c', 'd']);
    expect(refusals).toBeUndefined();
  });

  test('nothing is planned on a broken fleet, nor booked on a disk that is not there', () => {
    expect(() => plan({ a: {} }, {}, [aReplicaOn('z-disk')])).toThrow('replica on-z-disk is on node z');
    const [disk] = aFleet({ a: {} }).disks;
    expect(() => disk && bookingFor(disk.id, GIB, aFleet({ b: {} }))).toThrow(
      'which the fleet does not have',
    );
  });
});
