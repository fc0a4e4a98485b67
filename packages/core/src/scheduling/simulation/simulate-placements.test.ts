/** What fits on the fleet as it would be. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type DiskId, type NodeId } from '@holdfast/core/model/ids.js';
import { A_SPEC, NOON } from '@holdfast/testkit/builders.js';
import { aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import {
  anExisting,
  aSimulationView,
  faultOf,
  SHAPE,
  simulate,
  TEN,
  THREE,
} from '@holdfast/testkit/simulation-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { Replica } from '../../model/replica.js';
import { DETACHED } from '../../model/volume-lifecycle.js';
import { placementRequest } from '../framework/placement-request.js';
import { placeReplica } from '../placement/place-replica.js';
import { withBooking } from '../placement/plan-placements.js';
import {
  CURED_EXPLANATIONS_MAX,
  HOW_MANY_MORE_MAX,
  PLACEMENTS_SHOWN_MAX,
  type SimulationRequest,
} from './simulation.js';

describe('new volumes', () => {
  test('are placed one after another, each seeing what those before it booked', () => {
    const result = simulate({ volumes: [{ ...SHAPE, count: 3 }] }, aSimulationView(THREE));
    expect(result.sentence).toBe('All 3 new volumes fit.');
    expect(result.allFit).toBe(true);
    const places = result.shapes[0]?.placed.map((volume) =>
      volume.places.map(({ diskName }) => diskName).join(),
    );
    expect(places).toEqual(['a-d,b-d', 'c-d,a-d', 'b-d,c-d']);
  });

  test('that do not fit are explained by what was booked since an earlier explanation, too', () => {
    const tooLarge = { ...SHAPE, sizeBytes: 100 * GIB, count: 1 };
    const result = simulate({ volumes: [tooLarge, { ...SHAPE, count: 10 }] }, aSimulationView(THREE));
    expect(result.shapes).toMatchObject([
      { fit: 0, firstFailure: { explanation: { outcome: 'unplaced' } } },
      { fit: 3, firstFailure: { explanation: { outcome: 'unplaced' } } },
    ]);
  });

  test('that do not all fit: how many do, and why the next does not; it books nothing', () => {
    const result = simulate(
      {
        volumes: [
          { ...SHAPE, count: 10 },
          { ...SHAPE, sizeBytes: GIB, count: 1 },
        ],
      },
      aSimulationView(THREE),
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
    const result = simulate(
      { volumes: [{ ...SHAPE, count: 1 }], howManyMore: true },
      aSimulationView({ a: THREE.a }),
    );
    expect(result.shapes[0]?.firstFailure).toMatchObject({ volumeNumber: 1, replicaNumber: 2 });
    expect(result.shapes[0]?.firstFailure?.explanation.sentence).toContain('1 node holds a replica of it');
    expect(result.zones[0]?.after?.scheduledBytes).toBe(0);
    expect(result.shapes[0]?.howManyMore).toMatchObject({ count: 0, isAtLeast: false });
  });

  test('how many more is counted for each shape alone, and why not one more', () => {
    const request = {
      volumes: [
        { ...SHAPE, count: 1 },
        { ...SHAPE, sizeBytes: 2 * GIB, count: 1 },
      ],
      howManyMore: true,
    };
    const result = simulate(request, aSimulationView(THREE));
    // 4, 6 and 8 GiB are left.
    expect(result.shapes.map(({ howManyMore }) => howManyMore?.count)).toEqual([2, 4]);
    expect(result.shapes[0]?.howManyMore?.limitedBy).toContain('No disk can take this replica of 4 GiB');
    expect(
      simulate({ ...request, howManyMore: false }, aSimulationView(THREE)).shapes[0]?.howManyMore,
    ).toBeNull();
  });

  test('are placed as the scheduler places them', () => {
    const given = aSimulationView({
      ...THREE,
      d: { zone: 'east', disks: { 'd-1': TEN, 'd-2': { bytes: 30 * GIB } } },
    });
    const result = simulate({ volumes: [{ ...SHAPE, numberOfReplicas: 3, count: 4 }] }, given);
    const spec = { ...A_SPEC, ...SHAPE, numberOfReplicas: 3 };
    let fleet = given.fleet;
    for (const { places } of result.shapes[0]?.placed ?? []) {
      const replicas: Replica[] = [];
      for (const { diskId } of places) {
        const volume = { spec, writtenBytes: 0, lifecycle: DETACHED };
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
    expect(simulate({ volumes }, aSimulationView(nodes)).shapes[0]?.fit).toBe(0);
    const grown = simulate({ volumes, add }, aSimulationView(nodes));
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
      aSimulationView(nodes),
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
    expect(simulate({ volumes }, aSimulationView(nodes)).shapes[0]?.fit).toBe(0);
    const grown = simulate({ volumes, add }, aSimulationView(nodes));
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
    expect(simulate({ volumes, add: block }, aSimulationView(nodes)).shapes[0]?.fit).toBe(0);
  });

  test('one of each is added unless a count says otherwise, and takes all of its size', () => {
    const volumes = [{ sizeBytes: 10 * GIB, numberOfReplicas: 1, count: 9 }];
    const fitWith = (add: SimulationRequest['add']) =>
      simulate({ volumes, add }, aSimulationView({ a: THREE.a })).shapes[0]?.fit;
    expect(fitWith(undefined)).toBe(1);
    expect(fitWith({ nodes: [{ name: 'n', disks: [{ sizeBytes: 10 * GIB }] }] })).toBe(2);
    expect(fitWith({ disks: [{ node: 'a', sizeBytes: 10 * GIB }] })).toBe(2);
    expect(fitWith({ disks: [{ node: 'a', sizeBytes: 10 * GIB, count: 3 }] })).toBe(4);
  });

  test('nodes and disks are known by name and by id', () => {
    const given = aSimulationView(THREE);
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
    const [shape] = simulate({ volumes, add }, aSimulationView(nodes)).shapes;
    expect(shape?.placed[0]?.places[0]?.diskName).toBe('new-disk-2');
  });

  test('the view that is given is not touched', () => {
    const given = aSimulationView(THREE, [
      anExisting('v', [aReplicaOn('a-d', { healthyAt: NOON }), aReplicaOn('b-d')]),
    ]);
    const before = structuredClone(given);
    simulate({ volumes: [{ ...SHAPE, count: 2 }], lose: { zones: ['east'] }, howManyMore: true }, given);
    expect(given).toEqual(before);
  });

  test('the same question has the same answer, whatever the order of nodes and disks', () => {
    const given = aSimulationView(THREE);
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

describe('what is told is bounded, what is counted is not', () => {
  const ROOMY = { ...THREE, a: { zone: 'east', disks: { 'a-d': { bytes: 1000 * GIB } } } };
  const tiny = { sizeBytes: 4096, numberOfReplicas: 1 };

  test('the first hundred volumes of a shape with their places, zone and all', () => {
    const { fit, placed } =
      simulate({ volumes: [{ ...tiny, count: 101 }] }, aSimulationView(ROOMY)).shapes[0] ?? {};
    expect([fit, placed?.length]).toEqual([101, PLACEMENTS_SHOWN_MAX]);
    expect(placed?.[0]).toEqual({
      number: 1,
      places: [{ nodeId: 'a', nodeName: 'a', zone: 'east', diskId: 'a-d', diskName: 'a-d' }],
    });
    const hundred = simulate({ volumes: [{ ...tiny, count: 100 }] }, aSimulationView(ROOMY));
    expect(hundred.shapes[0]?.placed).toHaveLength(100);
  });

  test('counting on ends at its bound, and says so', () => {
    const request = { volumes: [{ ...tiny, count: 1 }], howManyMore: true };
    expect(simulate(request, aSimulationView(ROOMY)).shapes[0]?.howManyMore).toEqual({
      count: HOW_MANY_MORE_MAX,
      isAtLeast: true,
      limitedBy: null,
    });
  });

  test('cures are searched for the first ten refusals', () => {
    const volumes = Array.from({ length: CURED_EXPLANATIONS_MAX + 1 }, () => ({
      ...SHAPE,
      sizeBytes: 50 * GIB,
      count: 1,
    }));
    const { shapes } = simulate({ volumes }, aSimulationView(THREE));
    const tried = shapes.map(({ firstFailure }) => (firstFailure?.explanation.cureSearch.tried ?? 0) > 0);
    expect(tried).toEqual([...Array(CURED_EXPLANATIONS_MAX).fill(true), false]);
  });

  test('nodes stand with the fullest afterwards first, what is gone last, what holds nothing as full', () => {
    const nodes = {
      ...THREE,
      d: { zone: 'south', disks: { 'd-d': { bytes: 10 * GIB, storageScheduledBytes: 3 * GIB } } },
      e: { disks: { 'e-d': { bytes: 20 * GIB, storageScheduledBytes: 5 * GIB } } },
      f: { zone: 'up', disks: {} },
    };
    const add = { nodes: [{ name: 'g', zone: 'new', disks: [{ sizeBytes: GIB }] }] };
    const result = simulate({ lose: { nodes: ['b'] }, add }, aSimulationView(nodes));
    expect(result.nodes.shown.map(({ nodeName }) => nodeName).join('')).toBe('fdeacgb');
    expect(result.nodes.shown.find(({ nodeName }) => nodeName === 'g')).toEqual({
      nodeId: 'g',
      nodeName: 'g',
      zone: 'new',
      before: null,
      after: { capacityBytes: GIB, scheduledBytes: 0 },
    });
    expect(result.zones.map(({ zone, before, after }) => [zone, before !== null, after !== null])).toEqual([
      [null, true, true],
      ['east', true, true],
      ['new', false, true],
      ['north', true, true],
      ['south', true, true],
      ['up', true, true],
      ['west', true, false],
    ]);
  });
});
