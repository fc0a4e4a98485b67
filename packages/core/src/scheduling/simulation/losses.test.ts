/** What becomes of existing volumes that lose copies. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId } from '@holdfast/core/model/ids.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import {
  anExisting,
  aSimulationView,
  SHAPE,
  simulate,
  TEN,
  THREE,
} from '@holdfast/testkit/simulation-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { Replica } from '../../model/replica.js';
import { showingOnly } from './simulate-placements.js';
import {
  EXISTING_SHOWN_MAX,
  type ExistingVolume,
  type NodeFill,
  type SimulationRequest,
} from './simulation.js';

describe('losses', () => {
  const both = [
    aReplicaOn('a-d', { id: asId('r1'), sizeBytes: 4 * GIB }),
    aReplicaOn('b-d', { id: asId('r2') }),
  ];

  test('what is lost is built elsewhere, where nothing of the volume is', () => {
    const result = simulate({ lose: { nodes: ['a'] } }, aSimulationView(THREE, [anExisting('v', both)]));
    expect(result.sentence).toBe('1 existing volume loses 1 replica.');
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
    const { existing } = simulate({ lose }, aSimulationView(THREE, [anExisting('v', both)]));
    expect(existing.replaced.shown.map(({ replicaId }) => replicaId)).toEqual(['r1']);
  });

  test('a volume that loses every full copy is lost, whatever room there is', () => {
    const result = simulate({ lose: { nodes: ['a', 'b'] } }, aSimulationView(THREE, [anExisting('v', both)]));
    expect(result.allFit).toBe(false);
    expect(result.existing).toMatchObject({ volumesLost: 1, replaced: { total: 0 }, stranded: { total: 0 } });
    expect(result.existing.lostVolumes.shown).toEqual([{ volumeId: 'v', volumeName: 'v' }]);
  });

  test('a replica that fits nowhere else is stranded, with the reason and the cures', () => {
    const nodes = { a: THREE.a, b: THREE.b };
    const result = simulate({ lose: { nodes: ['a'] } }, aSimulationView(nodes, [anExisting('v', both)]));
    const { existing, allFit } = result;
    expect(allFit).toBe(false);
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
      simulate({ lose: { nodes: ['a', 'b'] } }, aSimulationView(THREE, [anExisting('v', replicas)])).existing
        .volumesHit,
    ).toBe(0);
  });

  test('what is built anew writes its data: the disk it goes to has less free', () => {
    // 5 GiB must be written and 25 % stay free: after the first, 5 GiB of 10 are left, and the second does not fit.
    const nodes = { ...THREE, d: { zone: 'south', disks: { 'd-d': TEN } } };
    const one = anExisting('v1', both, {}, 5 * GIB);
    const two = anExisting('v2', both, {}, 5 * GIB);
    const { existing } = simulate({ lose: { nodes: ['a', 'c'] } }, aSimulationView(nodes, [one, two]));
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
    const { existing } = simulate(
      { lose: { nodes: ['a'] } },
      aSimulationView(full, [sized(safe), sized(poor)]),
    );
    expect(existing.replaced.shown.map(({ volumeName }) => volumeName)).toEqual(['z-poor']);
  });

  test.each([
    { name: 'lost', attachedTo: 'a', want: 'c-d' },
    { name: 'left, which has no room', attachedTo: 'b', want: undefined },
  ])('a volume that has to be local to a node that is $name', ({ attachedTo, want }) => {
    const local = anExisting('v', both, { dataLocality: 'strict-local' });
    const attached = { ...local, volume: { ...local.volume, lifecycle: attachedOn(attachedTo) } };
    const { replaced } = simulate({ lose: { nodes: ['a'] } }, aSimulationView(THREE, [attached])).existing;
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
      aSimulationView(nodes, [anExisting('v', three)]),
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
      aSimulationView(THREE, [anExisting('v', [...both.slice(0, 1), failed])]),
    );
    expect(lost.existing).toMatchObject({ volumesLost: 1, replaced: { total: 0 } });
    const empty = both.map((replica) => ({ ...replica, healthyAt: undefined }));
    const none = simulate({ lose: { nodes: ['a', 'b'] } }, aSimulationView(THREE, [anExisting('v', empty)]));
    expect(none.existing).toMatchObject({ volumesHit: 1, volumesLost: 0 });
  });

  test('a volume with more copies left, but none of them full, goes before one with a full copy more', () => {
    const nodes = { ...THREE, d: { zone: 'south', disks: { 'd-d': TEN } } };
    const sized = (replicas: Replica[]) => replicas.map((replica) => ({ ...replica, sizeBytes: 6 * GIB }));
    const filling = aReplicaOn('c-d', { id: asId('r3'), healthyAt: undefined });
    const poor = anExisting('z-poor', sized([...both, filling]), { sizeBytes: 6 * GIB });
    const safe = anExisting('a-safe', sized([...both, aReplicaOn('c-d')]), { sizeBytes: 6 * GIB });
    const full = { ...nodes, c: { ...nodes.c, allowScheduling: false } };
    const { existing } = simulate({ lose: { nodes: ['a'] } }, aSimulationView(full, [safe, poor]));
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
      name: 'two losses',
      request: { lose: { nodes: ['a'] } },
      volumes: [anExisting('v', both), anExisting('w', both)],
      want: '2 existing volumes lose 2 replicas.',
    },
    {
      name: 'a node that holds nothing',
      request: { lose: { nodes: ['a'] } },
      want: 'What is lost holds no copy in use.',
    },
    {
      name: 'both',
      request: { volumes: [{ ...SHAPE, count: 2 }], lose: { nodes: ['a', 'b'] } },
      volumes: [anExisting('v', both)],
      want: '0 of 2 new volumes fit; 1 existing volume loses 2 replicas.',
    },
  ])('in a sentence: $name', ({ request, volumes = [], want }) => {
    expect(simulate(request, aSimulationView(THREE, volumes)).sentence).toBe(want);
  });

  test("another tenant's volumes take part, and nothing names them", () => {
    const hidden = anExisting('theirs', both);
    const given = aSimulationView(THREE, [hidden, anExisting('ours', both)]);
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

  test('the first two hundred of each outcome are listed, all are counted, and one is explained with cures', () => {
    const roomy = { ...THREE, c: { zone: 'north', disks: { 'c-d': { bytes: 10_000 * GIB } } } };
    const many = Array.from({ length: EXISTING_SHOWN_MAX + 1 }, (_, at) => anExisting(`v${at}`, both));
    const { existing } = simulate({ lose: { nodes: ['a'] } }, aSimulationView(roomy, many));
    expect([existing.replaced.total, existing.replaced.shown.length]).toEqual([201, EXISTING_SHOWN_MAX]);
    const nowhere = simulate({ lose: { nodes: ['a', 'c'] } }, aSimulationView(roomy, many)).existing;
    expect(nowhere).toMatchObject({ replicasStranded: 201, stranded: { total: 201 } });
    expect(nowhere.stranded.shown).toHaveLength(EXISTING_SHOWN_MAX);
    expect(nowhere.firstStranded?.cures.length).toBeGreaterThan(0);
    expect(nowhere.stranded.shown[0]?.why).toContain('the smallest cure is');
    expect(nowhere.stranded.shown[1]?.why).not.toContain('cure');
  });
});
