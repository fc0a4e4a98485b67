import { GIB } from '@holdfast/core/model/bytes.js';
import { type FaultItem, isFault } from '@holdfast/core/model/faults.js';
import { asId, type DiskId, type NodeId, type VolumeId } from '@holdfast/core/model/ids.js';
import { A_SPEC, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { Replica } from '../../model/replica.js';
import type { VolumeSpec } from '../../model/volume.js';
import { placeReplica } from '../place-replica.js';
import { placementRequest, withBooking } from '../plan-placements.js';
import { showingOnly, simulatePlacements } from './simulate-placements.js';
import {
  ADDED_DISKS_MAX,
  ADDED_DISKS_PER_NODE_MAX,
  ADDED_NODES_MAX,
  EXISTING_VOLUMES_MAX,
  type ExistingVolume,
  LOSSES_MAX,
  type NodeFill,
  SHAPES_MAX,
  type SimulationRequest,
  type SimulationView,
  VOLUMES_MAX,
} from './simulation.js';

const TEN = { bytes: 10 * GIB };
/** Three zones of one node each, with one disk of 10 GiB. */
const THREE = {
  a: { zone: 'east', disks: { 'a-d': TEN } },
  b: { zone: 'west', disks: { 'b-d': TEN } },
  c: { zone: 'north', disks: { 'c-d': TEN } },
};
const SHAPE = { sizeBytes: 4 * GIB, numberOfReplicas: 2 };

function view(nodes: Record<string, NodePart>, volumes: ExistingVolume[] = []): SimulationView {
  return { fleet: aFleet(nodes), volumes };
}

function anExisting(
  name: string,
  replicas: Replica[],
  spec: Partial<VolumeSpec> = {},
  writtenBytes = 0,
): ExistingVolume {
  const volume = {
    id: asId<VolumeId>(name),
    name,
    spec: { ...A_SPEC, sizeBytes: 4 * GIB, ...spec },
    writtenBytes,
    attachedNodeId: undefined,
  };
  return { volume, replicas, isVisible: true };
}

function simulate(request: SimulationRequest, given: SimulationView) {
  return simulatePlacements(request, given, NOON);
}

describe('new volumes', () => {
  test('are placed one after another, each seeing what those before it booked', () => {
    const result = simulate({ volumes: [{ ...SHAPE, count: 3 }] }, view(THREE));
    expect(result.sentence).toBe('All 3 new volumes fit.');
    expect(result.allFit).toBe(true);
    const places = result.shapes[0]?.placed.map((volume) =>
      volume.places.map(({ diskName }) => diskName).join(),
    );
    expect(places).toEqual(['a-d,b-d', 'c-d,a-d', 'b-d,c-d']);
  });

  test('that do not all fit: how many do, and why the next does not; it books nothing', () => {
    const result = simulate(
      {
        volumes: [
          { ...SHAPE, count: 10 },
          { ...SHAPE, sizeBytes: GIB, count: 1 },
        ],
      },
      view(THREE),
    );
    expect(result.sentence).toBe('4 of 11 new volumes fit.');
    expect(result.allFit).toBe(false);
    expect(result.shapes[0]).toMatchObject({
      asked: 10,
      fit: 3,
      firstFailure: { volumeNumber: 4, replicaNumber: 1, explanation: { outcome: 'unplaced' } },
    });
    expect(result.shapes[0]?.firstFailure?.explanation.cures[0]?.changes[0]).toMatchObject({
      kind: 'free-space',
    });
    // 3 volumes of 2 × 4 GiB and one of 2 × 1 GiB.
    expect(result.zones.reduce((sum, { after }) => sum + (after?.scheduledBytes ?? 0), 0)).toBe(26 * GIB);
  });

  test('one whose second replica fits nowhere is refused whole, and its refusal counts its first', () => {
    const result = simulate({ volumes: [{ ...SHAPE, count: 1 }], howManyMore: true }, view({ a: THREE.a }));
    expect(result.shapes[0]?.firstFailure).toMatchObject({ volumeNumber: 1, replicaNumber: 2 });
    expect(result.shapes[0]?.firstFailure?.explanation.sentence).toContain('1 node holds a replica of it');
    expect(result.zones[0]?.after?.scheduledBytes).toBe(0);
    expect(result.shapes[0]?.howManyMore).toMatchObject({ count: 0, isAtLeast: false });
  });

  test('how many more is counted for each shape by itself, and why not one more', () => {
    const request = {
      volumes: [
        { ...SHAPE, count: 1 },
        { ...SHAPE, sizeBytes: 2 * GIB, count: 1 },
      ],
      howManyMore: true,
    };
    const result = simulate(request, view(THREE));
    // 4, 6 and 8 GiB are left.
    expect(result.shapes.map(({ howManyMore }) => howManyMore?.count)).toEqual([2, 4]);
    expect(result.shapes[0]?.howManyMore?.limitedBy).toContain('No disk can take this replica of 4 GiB');
    expect(simulate({ ...request, howManyMore: false }, view(THREE)).shapes[0]?.howManyMore).toBeNull();
  });

  test('are placed as the scheduler places them', () => {
    const given = view({ ...THREE, d: { zone: 'east', disks: { 'd-1': TEN, 'd-2': { bytes: 30 * GIB } } } });
    const result = simulate({ volumes: [{ ...SHAPE, numberOfReplicas: 3, count: 4 }] }, given);
    const spec = { ...A_SPEC, ...SHAPE, numberOfReplicas: 3 };
    let fleet = given.fleet;
    for (const { places } of result.shapes[0]?.placed ?? []) {
      const replicas: Replica[] = [];
      for (const { diskId } of places) {
        const volume = { spec, writtenBytes: 0, attachedNodeId: undefined };
        const placement = placeReplica(placementRequest(volume, replicas, fleet), fleet, NOON);
        expect(placement).toMatchObject({ diskId });
        const disk = fleet.disks.find(({ id }) => id === diskId);
        replicas.push(aReplicaOn('x-1', { nodeId: disk?.nodeId, diskId }));
        fleet = withBooking(fleet, diskId, spec.sizeBytes);
      }
    }
    // Two zones have one node of 10 GiB: the third volume finds the zone of the large disk only.
    expect(result.shapes[0]?.fit).toBe(2);
  });
});

describe('changes of the fleet', () => {
  test('a setting, a selector and an added node take part', () => {
    const nodes = { a: { zone: 'east', cordoned: true, disks: { 'a-d': TEN } } };
    const volumes = [{ ...SHAPE, numberOfReplicas: 1, count: 2, nodeSelector: ['ssd'] }];
    const add = {
      nodes: [{ name: 'new', zone: 'south', tags: ['ssd'], disks: [{ sizeBytes: 6 * GIB }], count: 2 }],
    };
    expect(simulate({ volumes }, view(nodes)).shapes[0]?.fit).toBe(0);
    const grown = simulate({ volumes, add }, view(nodes));
    expect(grown.shapes[0]?.placed.map(({ places: [place] }) => place?.nodeName)).toEqual(['new', 'new-2']);
    expect(grown.zones.map(({ zone, before }) => [zone, before?.capacityBytes])).toEqual([
      ['east', 10 * GIB],
      ['south', undefined],
    ]);
    const settings = {
      'disable-scheduling-on-cordoned-node': false,
      'storage-over-provisioning-percentage': 50,
    };
    const allowed = simulate(
      { volumes: [{ ...SHAPE, numberOfReplicas: 1, count: 2 }], settings },
      view(nodes),
    );
    expect(allowed.shapes[0]?.fit).toBe(1);
  });

  test('disks are added to nodes that are there, by name or id, beside those they have', () => {
    const nodes = { a: { disks: { 'a-d': TEN } }, b: { disks: { 'b-d': TEN } } };
    const volumes = [{ ...SHAPE, sizeBytes: 12 * GIB, count: 2, diskSelector: ['ssd'] }];
    const disk = { sizeBytes: 20 * GIB, tags: ['ssd'], reservedBytes: 8 * GIB };
    const add = {
      disks: [
        { node: 'a', ...disk, count: 2 },
        { node: 'b', ...disk },
        { node: 'b', ...disk },
      ],
    };
    expect(simulate({ volumes }, view(nodes)).shapes[0]?.fit).toBe(0);
    const grown = simulate({ volumes, add }, view(nodes));
    expect(grown.allFit).toBe(true);
    const places = grown.shapes[0]?.placed.flatMap((volume) =>
      volume.places.map(({ nodeName, diskName }) => `${nodeName} ${diskName}`),
    );
    expect(places).toEqual(['a new-disk-1', 'b new-disk-1', 'a new-disk-2', 'b new-disk-2']);
    expect(grown.zones.map(({ before, after }) => [before?.capacityBytes, after?.capacityBytes])).toEqual([
      [20 * GIB, 68 * GIB],
    ]);
    // A block disk is of no use to a v1 volume.
    const block = { disks: add.disks.map((one) => ({ ...one, type: 'block' as const })) };
    expect(simulate({ volumes, add: block }, view(nodes)).shapes[0]?.fit).toBe(0);
  });

  test('one of each is added unless a count says otherwise, and takes all of its size', () => {
    const volumes = [{ sizeBytes: 10 * GIB, numberOfReplicas: 1, count: 9 }];
    const fitWith = (add: SimulationRequest['add']) =>
      simulate({ volumes, add }, view({ a: THREE.a })).shapes[0]?.fit;
    expect(fitWith(undefined)).toBe(1);
    expect(fitWith({ nodes: [{ name: 'n', disks: [{ sizeBytes: 10 * GIB }] }] })).toBe(2);
    expect(fitWith({ disks: [{ node: 'a', sizeBytes: 10 * GIB }] })).toBe(2);
    expect(fitWith({ disks: [{ node: 'a', sizeBytes: 10 * GIB, count: 3 }] })).toBe(4);
  });

  test('nodes and disks are known by name and by id', () => {
    const given = view(THREE);
    const nodes = given.fleet.nodes.map((node) => ({ ...node, id: asId<NodeId>(`id-of-${node.name}`) }));
    const disks = given.fleet.disks.map((disk) => ({
      ...disk,
      id: asId<DiskId>(`id-of-${disk.name}`),
      nodeId: asId<NodeId>(`id-of-${disk.nodeId}`),
    }));
    const named = { ...given, fleet: { ...given.fleet, nodes, disks } };
    const lostBy = (lose: SimulationRequest['lose']) => simulate({ lose }, named).lost;
    expect(lostBy({ nodes: ['a'] })).toEqual({ nodes: 1, disks: 1 });
    expect(lostBy({ nodes: ['id-of-a', 'b'] })).toEqual({ nodes: 2, disks: 2 });
    expect(lostBy({ disks: ['id-of-a-d', 'b-d', 'c/c-d'] })).toEqual({ nodes: 0, disks: 3 });
    expect(faultOf(() => lostBy({ disks: ['/a-d'] }))).toEqual([
      { pointer: '/lose/disks/0', detail: 'names no disk: /a-d' },
    ]);
    for (const node of ['a', 'id-of-a']) {
      const add = { disks: [{ node, sizeBytes: GIB }] };
      expect(simulate({ add }, named).zones.find(({ zone }) => zone === 'east')?.after?.capacityBytes).toBe(
        11 * GIB,
      );
    }
    for (const name of ['a', 'id-of-a']) {
      const add = { nodes: [{ name, disks: [{ sizeBytes: GIB }] }] };
      expect(faultOf(() => simulate({ add }, named))).toEqual([
        { pointer: '/add/nodes/0/name', detail: `is taken: ${name}` },
      ]);
    }
  });

  test('a new disk has a name that the node does not use yet', () => {
    const nodes = { a: { disks: { 'new-disk-1': TEN } } };
    const volumes = [{ ...SHAPE, numberOfReplicas: 1, count: 1, diskSelector: ['ssd'] }];
    const add = { disks: [{ node: 'a', sizeBytes: 10 * GIB, tags: ['ssd'] }] };
    const [shape] = simulate({ volumes, add }, view(nodes)).shapes;
    expect(shape?.placed[0]?.places[0]?.diskName).toBe('new-disk-2');
  });

  test('the view that is given is not touched', () => {
    const given = view(THREE, [anExisting('v', [aReplicaOn('a-d', { healthyAt: NOON }), aReplicaOn('b-d')])]);
    const before = structuredClone(given);
    simulate({ volumes: [{ ...SHAPE, count: 2 }], lose: { zones: ['east'] }, howManyMore: true }, given);
    expect(given).toEqual(before);
  });

  test('the same question has the same answer, whatever the order of nodes and disks', () => {
    const given = view(THREE);
    const turned = {
      fleet: {
        ...given.fleet,
        nodes: [...given.fleet.nodes].reverse(),
        disks: [...given.fleet.disks].reverse(),
      },
      volumes: [],
    };
    const request = { volumes: [{ ...SHAPE, count: 9 }], howManyMore: true };
    expect(simulate(request, turned)).toEqual(simulate(request, given));
  });
});

describe('losses', () => {
  const both = [
    aReplicaOn('a-d', { id: asId('r1'), sizeBytes: 4 * GIB }),
    aReplicaOn('b-d', { id: asId('r2') }),
  ];

  test('what is lost is built elsewhere, where nothing of the volume is', () => {
    const result = simulate({ lose: { nodes: ['a'] } }, view(THREE, [anExisting('v', both)]));
    expect(result.sentence).toBe('1 existing volume loses 1 replica, which can be built elsewhere.');
    expect(result).toMatchObject({ allFit: true, lost: { nodes: 1, disks: 1 } });
    expect(result.existing).toMatchObject({
      volumesHit: 1,
      replicasLost: 1,
      replaced: { total: 1, shown: [{ volumeName: 'v', replicaId: 'r1', place: { nodeName: 'c' } }] },
      firstStranded: null,
    });
    const fill = (name: string): NodeFill | undefined =>
      result.nodes.shown.find(({ nodeName }) => nodeName === name);
    expect(fill('a')).toMatchObject({ before: { capacityBytes: 10 * GIB }, after: null });
    expect(fill('c')?.after?.scheduledBytes).toBe(4 * GIB);
  });

  test.each([
    { name: 'a zone', lose: { zones: ['east'] } },
    { name: 'a disk by its name', lose: { disks: ['a-d'] } },
    { name: 'a disk by node and name', lose: { disks: ['a/a-d'] } },
  ])('$name takes its replicas', ({ lose }) => {
    const { existing } = simulate({ lose }, view(THREE, [anExisting('v', both)]));
    expect(existing.replaced.shown.map(({ replicaId }) => replicaId)).toEqual(['r1']);
  });

  test('a volume that loses every full copy is lost, whatever room there is', () => {
    const result = simulate({ lose: { nodes: ['a', 'b'] } }, view(THREE, [anExisting('v', both)]));
    expect(result.allFit).toBe(false);
    expect(result.existing).toMatchObject({ volumesLost: 1, replaced: { total: 0 }, stranded: { total: 0 } });
    expect(result.existing.lostVolumes.shown).toEqual([{ volumeId: 'v', volumeName: 'v' }]);
    expect(result.sentence).toContain('1 volume loses every full copy');
  });

  test('a replica that fits nowhere else is stranded, with the reason and the cures', () => {
    const nodes = { a: THREE.a, b: THREE.b };
    const result = simulate({ lose: { nodes: ['a'] } }, view(nodes, [anExisting('v', both)]));
    const { sentence, existing, allFit } = result;
    expect(allFit).toBe(false);
    expect(sentence).toBe('1 existing volume loses 1 replica, which fits nowhere else.');
    expect(existing.stranded.shown[0]?.why).toContain('1 node holds a replica of it');
    expect(existing.firstStranded?.cures.length).toBeGreaterThan(0);
  });

  test('a copy that had failed, or was to go, is not missed', () => {
    const replicas = [
      aReplicaOn('a-d', { id: asId('r1'), failedAt: NOON }),
      aReplicaOn('b-d', { id: asId('r2'), intent: 'remove' }),
      aReplicaOn('c-d', { id: asId('r3') }),
    ];
    expect(
      simulate({ lose: { nodes: ['a', 'b'] } }, view(THREE, [anExisting('v', replicas)])).existing.volumesHit,
    ).toBe(0);
  });

  test('what is built anew writes its data: the disk it goes to has less free', () => {
    // 5 GiB must be written and 25 % stay free: after the first, 5 GiB of 10 are left, and the second does not fit.
    const nodes = { ...THREE, d: { zone: 'south', disks: { 'd-d': TEN } } };
    const one = anExisting('v1', both, {}, 5 * GIB);
    const two = anExisting('v2', both, {}, 5 * GIB);
    const { existing } = simulate({ lose: { nodes: ['a', 'c'] } }, view(nodes, [one, two]));
    expect(existing.replaced.shown.map(({ volumeName }) => volumeName)).toEqual(['v1']);
    expect(existing.stranded.shown.map(({ volumeName }) => volumeName)).toEqual(['v2']);
  });

  test('the volume with the fewest copies left goes first', () => {
    const nodes = { ...THREE, d: { zone: 'south', disks: { 'd-d': TEN } } };
    const safe = anExisting('a-safe', [...both, aReplicaOn('c-d')], { sizeBytes: 6 * GIB });
    const poor = anExisting('z-poor', both, { sizeBytes: 6 * GIB });
    const sized = ({ volume, ...rest }: ExistingVolume): ExistingVolume => ({
      ...rest,
      volume,
      replicas: rest.replicas.map((replica) => ({ ...replica, sizeBytes: 6 * GIB })),
    });
    const full = { ...nodes, c: { ...nodes.c, allowScheduling: false } };
    const { existing } = simulate({ lose: { nodes: ['a'] } }, view(full, [sized(safe), sized(poor)]));
    expect(existing.replaced.shown.map(({ volumeName }) => volumeName)).toEqual(['z-poor']);
  });

  test.each([
    { name: 'lost', attachedTo: 'a', want: 'c-d' },
    { name: 'left, which has no room', attachedTo: 'b', want: undefined },
  ])('a volume that has to be local to a node that is $name', ({ attachedTo, want }) => {
    const local = anExisting('v', both, { dataLocality: 'strict-local' });
    const attached = { ...local, volume: { ...local.volume, attachedNodeId: asId<NodeId>(attachedTo) } };
    const { replaced } = simulate({ lose: { nodes: ['a'] } }, view(THREE, [attached])).existing;
    expect(replaced.shown[0]?.place.diskName).toBe(want);
  });

  test('each of several lost copies gets a place of its own, the one with the smallest id first', () => {
    const nodes = {
      ...THREE,
      d: { zone: 'south', disks: { 'd-d': TEN } },
      e: { zone: 'up', disks: { 'e-d': TEN } },
    };
    const three = [
      aReplicaOn('c-d', { id: asId('r3'), sizeBytes: 4 * GIB }),
      aReplicaOn('a-d', { id: asId('r1'), sizeBytes: 4 * GIB }),
      aReplicaOn('b-d', { id: asId('r2') }),
    ];
    const { replaced } = simulate(
      { lose: { nodes: ['a', 'c'] } },
      view(nodes, [anExisting('v', three)]),
    ).existing;
    expect(replaced.shown.map(({ replicaId, place }) => `${replicaId} ${place.diskName}`)).toEqual([
      'r1 d-d',
      'r3 e-d',
    ]);
  });

  test('a copy that has failed is none to build from, one that never was full loses nothing', () => {
    const failed = aReplicaOn('b-d', { id: asId('r2'), failedAt: NOON });
    const lost = simulate(
      { lose: { nodes: ['a'] } },
      view(THREE, [anExisting('v', [...both.slice(0, 1), failed])]),
    );
    expect(lost.existing).toMatchObject({ volumesLost: 1, replaced: { total: 0 } });
    const empty = both.map((replica) => ({ ...replica, healthyAt: undefined }));
    const none = simulate({ lose: { nodes: ['a', 'b'] } }, view(THREE, [anExisting('v', empty)]));
    expect(none.existing).toMatchObject({ volumesHit: 1, volumesLost: 0 });
  });

  test('a volume with more copies left, but none of them full, goes before one with a full copy more', () => {
    const nodes = { ...THREE, d: { zone: 'south', disks: { 'd-d': TEN } } };
    const sized = (replicas: Replica[]) => replicas.map((replica) => ({ ...replica, sizeBytes: 6 * GIB }));
    const filling = aReplicaOn('c-d', { id: asId('r3'), healthyAt: undefined });
    const poor = anExisting('z-poor', sized([...both, filling]), { sizeBytes: 6 * GIB });
    const safe = anExisting('a-safe', sized([...both, aReplicaOn('c-d')]), { sizeBytes: 6 * GIB });
    const full = { ...nodes, c: { ...nodes.c, allowScheduling: false } };
    const { existing } = simulate({ lose: { nodes: ['a'] } }, view(full, [safe, poor]));
    expect(existing.replaced.shown.map(({ volumeName }) => volumeName)).toEqual(['z-poor']);
  });

  test.each<{ name: string; request: SimulationRequest; volumes?: ExistingVolume[]; want: string }>([
    { name: 'nothing', request: {}, want: 'Nothing was asked to be placed, and nothing is lost.' },
    {
      name: 'one that fits',
      request: { volumes: [{ ...SHAPE, count: 1 }] },
      want: 'The new volume fits.',
    },
    {
      name: 'one that does not',
      request: { volumes: [{ ...SHAPE, sizeBytes: 40 * GIB, count: 1 }] },
      want: 'The new volume does not fit.',
    },
    {
      name: 'two losses that can be mended',
      request: { lose: { nodes: ['a'] } },
      volumes: [anExisting('v', both), anExisting('w', both)],
      want: '2 existing volumes lose 2 replicas, each of which can be built elsewhere.',
    },
    {
      name: 'two losses that can not',
      request: { lose: { nodes: ['a', 'c'] } },
      volumes: [anExisting('v', both), anExisting('w', both)],
      want: '2 existing volumes lose 2 replicas, 2 of them fit nowhere else.',
    },
    {
      name: 'both',
      request: { volumes: [{ ...SHAPE, count: 2 }], lose: { nodes: ['a', 'b'] } },
      volumes: [anExisting('v', both)],
      want: '0 of 2 new volumes fit; 1 existing volume loses 2 replicas, 1 volume loses every full copy.',
    },
  ])('in a sentence: $name', ({ request, volumes = [], want }) => {
    expect(simulate(request, view(THREE, volumes)).sentence).toBe(want);
  });

  test("another tenant's volumes take part, and nothing names them", () => {
    const hidden = anExisting('theirs', both);
    const given = view(THREE, [hidden, anExisting('ours', both)]);
    const result = simulate(
      { lose: { nodes: ['a'] } },
      showingOnly(given, (id) => id === 'ours'),
    );
    expect(result.existing).toMatchObject({ volumesHit: 2, replicasLost: 2, replaced: { total: 1 } });
    const bad = simulate(
      { lose: { nodes: ['a', 'b'] } },
      showingOnly(given, (id) => id === 'ours'),
    );
    expect(bad.existing).toMatchObject({ volumesLost: 2, lostVolumes: { total: 1 } });
    const stranded = simulate(
      { lose: { nodes: ['a', 'c'] } },
      showingOnly(given, (id) => id === 'ours'),
    );
    expect(stranded.existing).toMatchObject({ replicasStranded: 2, stranded: { total: 1 } });
    for (const answer of [result, bad, stranded]) {
      expect(JSON.stringify(answer)).toContain('ours');
      expect(JSON.stringify(answer)).not.toContain('theirs');
    }
  });
});

describe('bad input', () => {
  const shape = { ...SHAPE, count: 1 };
  const node = { name: 'n', disks: [{ sizeBytes: GIB }] };
  test.each<{
    name: string;
    request: SimulationRequest;
    want: { pointer: string; detail: unknown };
  }>([
    {
      name: 'no volumes',
      request: { volumes: [{ ...shape, count: 0 }] },
      want: { pointer: '/volumes/0/count', detail: `must be a whole number from 1 to ${VOLUMES_MAX}` },
    },
    {
      name: 'too many in all',
      request: { volumes: [{ ...shape, count: VOLUMES_MAX }, shape] },
      want: { pointer: '/volumes', detail: `must be at most ${VOLUMES_MAX} volumes in all` },
    },
    {
      name: 'too many shapes',
      request: { volumes: Array.from({ length: SHAPES_MAX + 1 }, () => shape) },
      want: { pointer: '/volumes', detail: `must be at most ${SHAPES_MAX} shapes` },
    },
    {
      name: 'a negative size',
      request: { volumes: [shape, { ...shape, sizeBytes: -4096 }] },
      want: {
        pointer: '/volumes/1/size',
        detail: expect.stringContaining('whole number of 4096-byte blocks'),
      },
    },
    {
      name: 'half a replica',
      request: { volumes: [{ ...shape, numberOfReplicas: 1.5 }] },
      want: { pointer: '/volumes/0/numberOfReplicas', detail: 'must be a whole number from 1 to 20' },
    },
    {
      name: 'an unknown node',
      request: { lose: { nodes: ['a', 'zz'] } },
      want: { pointer: '/lose/nodes/1', detail: 'names no node: zz' },
    },
    {
      name: 'an unknown zone',
      request: { lose: { zones: ['zz'] } },
      want: { pointer: '/lose/zones/0', detail: 'names no zone: zz' },
    },
    {
      name: 'an unknown disk',
      request: { lose: { disks: ['b/a-d'] } },
      want: { pointer: '/lose/disks/0', detail: 'names no disk: b/a-d' },
    },
    {
      name: 'too many losses',
      request: { lose: { zones: Array.from({ length: LOSSES_MAX + 1 }, () => 'east') } },
      want: { pointer: '/lose/zones', detail: `must be at most ${LOSSES_MAX} zones` },
    },
    {
      name: 'too many nodes to lose',
      request: { lose: { nodes: Array.from({ length: LOSSES_MAX + 1 }, () => 'a') } },
      want: { pointer: '/lose/nodes', detail: `must be at most ${LOSSES_MAX} nodes` },
    },
    {
      name: 'too many disks to lose',
      request: { lose: { disks: Array.from({ length: LOSSES_MAX + 1 }, () => 'a-d') } },
      want: { pointer: '/lose/disks', detail: `must be at most ${LOSSES_MAX} disks` },
    },
    {
      name: 'a name that is taken',
      request: { add: { nodes: [{ ...node, name: 'a' }] } },
      want: { pointer: '/add/nodes/0/name', detail: 'is taken: a' },
    },
    {
      name: 'a name that is taken by counting',
      request: {
        add: {
          nodes: [
            { ...node, count: 2 },
            { ...node, name: 'n-2' },
          ],
        },
      },
      want: { pointer: '/add/nodes/1/name', detail: 'is taken: n-2' },
    },
    {
      name: 'no name',
      request: { add: { nodes: [{ ...node, name: '' }] } },
      want: { pointer: '/add/nodes/0/name', detail: 'must not be empty' },
    },
    {
      name: 'half a node',
      request: { add: { nodes: [{ ...node, count: 0.5 }] } },
      want: { pointer: '/add/nodes/0/count', detail: 'must be a whole number from 1 to 1000' },
    },
    {
      name: 'a node of too many disks',
      request: {
        add: { nodes: [{ name: 'n', disks: Array(ADDED_DISKS_PER_NODE_MAX + 1).fill({ sizeBytes: 1 }) }] },
      },
      want: { pointer: '/add/nodes/0/disks', detail: `must be at most ${ADDED_DISKS_PER_NODE_MAX} disks` },
    },
    {
      name: 'too many nodes',
      request: {
        add: {
          nodes: [
            { ...node, count: ADDED_NODES_MAX },
            { ...node, name: 'm' },
          ],
        },
      },
      want: { pointer: '/add/nodes', detail: `must be at most ${ADDED_NODES_MAX} nodes in all` },
    },
    {
      name: 'a fractional disk',
      request: { add: { nodes: [{ name: 'n', disks: [{ sizeBytes: 0.5 }] }] } },
      want: {
        pointer: '/add/nodes/0/disks/0/sizeBytes',
        detail: expect.stringContaining('must be a whole number from 1'),
      },
    },
    {
      name: 'a reserve larger than its disk',
      request: { add: { nodes: [{ name: 'n', disks: [{ sizeBytes: 1, reservedBytes: 2 }] }] } },
      want: {
        pointer: '/add/nodes/0/disks/0/reservedBytes',
        detail: 'must be a whole number from 0 to the size',
      },
    },
    {
      name: 'a disk for a node that is not there',
      request: { add: { disks: [{ node: 'z', sizeBytes: GIB }] } },
      want: { pointer: '/add/disks/0/node', detail: 'names no node that is left: z' },
    },
    {
      name: 'a disk for a node that is lost',
      request: { lose: { zones: ['east'] }, add: { disks: [{ node: 'a', sizeBytes: GIB }] } },
      want: { pointer: '/add/disks/0/node', detail: 'names no node that is left: a' },
    },
    {
      name: 'no disk at all',
      request: { add: { disks: [{ node: 'a', sizeBytes: GIB, count: 0 }] } },
      want: { pointer: '/add/disks/0/count', detail: 'must be a whole number from 1 to 1000' },
    },
    {
      name: 'a disk of negative size',
      request: { add: { disks: [{ node: 'a', sizeBytes: -1 }] } },
      want: {
        pointer: '/add/disks/0/sizeBytes',
        detail: expect.stringContaining('must be a whole number from 1'),
      },
    },
    {
      name: 'too many disks',
      request: {
        add: {
          disks: [
            { node: 'a', sizeBytes: GIB, count: ADDED_DISKS_MAX },
            { node: 'b', sizeBytes: GIB },
          ],
        },
      },
      want: { pointer: '/add/disks', detail: `must be at most ${ADDED_DISKS_MAX} disks in all` },
    },
    {
      name: 'an unknown setting',
      request: { settings: { nonsense: 1 } },
      want: { pointer: '/settings/nonsense', detail: 'there is no setting named nonsense' },
    },
    {
      name: 'a setting out of bounds',
      request: { settings: { 'balance-alpha': 2 } },
      want: { pointer: '/settings/balance-alpha', detail: 'balance-alpha must be a number from 0 to 1' },
    },
  ])('$name is refused where it is', ({ request, want }) => {
    expect(faultOf(() => simulate(request, view(THREE)))).toContainEqual(want);
  });

  test('as much as may be asked is answered, and a reserve of the whole disk', () => {
    const request: SimulationRequest = {
      volumes: [{ ...shape, sizeBytes: 4096, count: VOLUMES_MAX }],
      lose: { zones: Array.from({ length: LOSSES_MAX }, () => 'east') },
      add: {
        nodes: [{ ...node, count: ADDED_NODES_MAX }],
        disks: [{ node: 'b', sizeBytes: 1, reservedBytes: 1, count: ADDED_DISKS_MAX }],
      },
    };
    expect(simulate(request, view(THREE)).shapes[0]?.asked).toBe(VOLUMES_MAX);
  });

  test('a disk name that several disks have wants the node too', () => {
    const nodes = { a: { disks: { 'a-1': {} } }, b: { disks: { 'b-1': {} } } };
    const given = view(nodes);
    const fleet = { ...given.fleet, disks: given.fleet.disks.map((disk) => ({ ...disk, name: 'd' })) };
    expect(faultOf(() => simulate({ lose: { disks: ['d'] } }, { ...given, fleet }))).toEqual([
      { pointer: '/lose/disks/0', detail: 'names 2 disks, write node/disk: d' },
    ]);
  });

  test('a fleet that is broken is not simulated on', () => {
    const given = view(THREE);
    const fleet = { ...given.fleet, nodes: given.fleet.nodes.slice(1) };
    expect(() => simulate({ volumes: [shape] }, { ...given, fleet })).toThrow('disk a-d is on node a');
  });

  test('more existing volumes than can be looked at are refused', () => {
    const volumes = Array.from({ length: EXISTING_VOLUMES_MAX + 1 }, () => anExisting('v', []));
    expect(() => simulate({}, view(THREE, volumes))).toThrow(`more than ${EXISTING_VOLUMES_MAX} volumes`);
  });
});

function faultOf(act: () => unknown): readonly FaultItem[] | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (!isFault(error, 'request.invalid')) throw error;
    return error.details.errors;
  }
}
