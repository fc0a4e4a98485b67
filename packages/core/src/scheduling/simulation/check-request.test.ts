/** What-ifs that are refused, each where it is wrong, and the largest that are not. */
import { GIB } from '@holdfast/core/model/bytes.js';
import {
  anExisting,
  aSimulationView,
  faultOf,
  SHAPE,
  simulate,
  THREE,
} from '@holdfast/testkit/simulation-builder.js';
import { describe, expect, test } from '@jest/globals';
import {
  ADDED_DISKS_MAX,
  ADDED_DISKS_PER_NODE_MAX,
  ADDED_NODES_MAX,
  EXISTING_VOLUMES_MAX,
  LOSSES_MAX,
  SHAPES_MAX,
  type SimulationRequest,
  VOLUMES_MAX,
} from './simulation.js';

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
    expect(faultOf(() => simulate(request, aSimulationView(THREE)))).toContainEqual(want);
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
    expect(simulate(request, aSimulationView(THREE)).shapes[0]?.asked).toBe(VOLUMES_MAX);
  });

  test('a disk name that several disks have wants the node too', () => {
    const nodes = { a: { disks: { 'a-1': {} } }, b: { disks: { 'b-1': {} } } };
    const given = aSimulationView(nodes);
    const fleet = { ...given.fleet, disks: given.fleet.disks.map((disk) => ({ ...disk, name: 'd' })) };
    expect(faultOf(() => simulate({ lose: { disks: ['d'] } }, { ...given, fleet }))).toEqual([
      { pointer: '/lose/disks/0', detail: 'names 2 disks, write node/disk: d' },
    ]);
  });

  test('a fleet that is broken is not simulated on', () => {
    const given = aSimulationView(THREE);
    const fleet = { ...given.fleet, nodes: given.fleet.nodes.slice(1) };
    expect(() => simulate({ volumes: [shape] }, { ...given, fleet })).toThrow('disk a-d is on node a');
  });

  test('more existing volumes than can be looked at are refused', () => {
    const volumes = Array.from({ length: EXISTING_VOLUMES_MAX + 1 }, () => anExisting('v', []));
    expect(() => simulate({}, aSimulationView(THREE, volumes))).toThrow(
      `more than ${EXISTING_VOLUMES_MAX} volumes`,
    );
  });
});
