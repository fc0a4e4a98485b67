/** Forecasts computed by hand, and messages of wrong requests. */
import { GIB, MIB } from '@holdfast/core/model/bytes.js';
import { AN_OWNER, anIdleVolume, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { faultOf, TEN, THREE } from '@holdfast/testkit/simulation-builder.js';
import { describe, expect, test } from '@jest/globals';
import { asId, type VolumeId } from '../model/ids.js';
import type { Replica } from '../model/replica.js';
import type { Volume } from '../model/volume.js';
import type { SimulationRequest } from '../scheduling/simulation/simulation.js';
import { effectiveSettings } from '../settings/effective.js';
import { affectedPlaces, answerWhatIf } from './answer-what-if.js';
import type { ForecastVolume } from './projection-input.js';

/** 100 MiB in ten seconds. */
const SPEEDS = [{ bytes: 100 * MIB, seconds: 10 }];
const FOUR = { ...THREE, d: { zone: 'south', disks: { 'd-d': TEN } } };

function onDisks(disks: readonly string[], part: Partial<Volume> = {}): ForecastVolume {
  const id = part.id ?? asId<VolumeId>('v');
  const isServed = part.lifecycle?.state === 'attached';
  const replicas = disks.map(
    (disk): Replica => ({
      ...aReplicaOn(disk, { id: asId(`${id} on ${disk}`), volumeId: id, sizeBytes: GIB }),
      mode: isServed ? 'RW' : undefined,
    }),
  );
  const spec = { ...anIdleVolume(AN_OWNER).spec, numberOfReplicas: disks.length };
  const volume = anIdleVolume(AN_OWNER, { id, name: id, spec, writtenBytes: 100 * MIB, ...part });
  return { volume, replicas, rebuilds: [], isVisible: true };
}

const SERVED: Partial<Volume> = { lifecycle: attachedOn(asId('b')) };

function ask(
  request: SimulationRequest,
  volumes: readonly ForecastVolume[],
  {
    nodes = FOUR,
    settings = {},
  }: { nodes?: Record<string, NodePart>; settings?: Record<string, number> } = {},
) {
  const fleet = { ...aFleet(nodes), settings: effectiveSettings(settings) };
  return answerWhatIf(request, { fleet, volumes, speeds: SPEEDS }, NOON).forecast;
}

describe('a forecast', () => {
  test('of a lost node waits for its return, then builds its copies elsewhere', () => {
    const forecast = ask({ lose: { nodes: ['a'] } }, [onDisks(['a-d', 'b-d'], SERVED)]);
    expect(forecast).toMatchObject({
      // The wait, what control takes to notice it twice, and the copy with what each takes.
      time: { lowSeconds: 579, p50Seconds: 600 + 5 + 5 + 3 + 10, p90Seconds: 600 + 20 + 20 + 15 + 10 },
      rebuilds: 1,
      bytesToMove: 100 * MIB,
      volumesLost: 0,
      volumesDegraded: 1,
      lowWater: { copies: 1, volumes: 1 },
      isCut: false,
    });
    expect(forecast.volumes.shown).toMatchObject([
      { volumeName: 'v', end: 'full', why: null, copiesNow: 2, copiesAtLowest: 1, copiesAtEnd: 2 },
    ]);
  });

  test('of a drain makes the replacement first, and no volume has fewer copies', () => {
    const request = { drain: [{ node: 'a', policy: 'block-for-eviction' }] };
    const detached = onDisks(['a-d', 'c-d'], { id: asId('w') });
    const forecast = ask(request, [onDisks(['a-d', 'b-d'], SERVED), detached]);
    expect(forecast).toMatchObject({ rebuilds: 2, volumesDegraded: 0, lowWater: { copies: 2, volumes: 2 } });
    expect(forecast.time).toMatchObject({ p50Seconds: 13, basis: 'measured' });
    expect(forecast.volumes.shown.map(({ end }) => end)).toEqual(['full', 'full']);
  });

  test('counts what is lost for good, what fits nowhere, and what waits for its users', () => {
    const forecast = ask({ lose: { nodes: ['a', 'd'] } }, [
      onDisks(['a-d'], { id: asId('gone') }),
      onDisks(['a-d', 'b-d', 'c-d'], { id: asId('stuck'), ...SERVED }),
      onDisks(['a-d', 'b-d'], { id: asId('unused') }),
      onDisks(['a-d', 'b-d'], { id: asId('held'), lifecycle: attachedOn(asId('d')) }),
    ]);
    expect(forecast).toMatchObject({
      volumesLost: 1,
      volumesUnschedulable: 1,
      volumesWaiting: 2,
      time: null,
    });
    expect(forecast.volumes.shown.map(({ volumeName, end, why }) => [volumeName, end, why])).toEqual([
      ['gone', 'lost', 'no full copy of it is left'],
      ['stuck', 'unschedulable', expect.stringContaining('No disk can take this replica')],
      ['held', 'waiting', expect.stringContaining('its engine is on node d')],
      ['unused', 'waiting', expect.stringContaining('it is detached')],
    ]);
    expect(forecast.lowWater).toEqual({ copies: 0, volumes: 1 });
    expect(forecast.firstUnschedulable?.cures.length).toBeGreaterThan(0);
  });

  test('of an added disk builds what had no place', () => {
    const stuck = onDisks(['a-d', 'b-d'], SERVED);
    const lacking = {
      ...stuck,
      volume: { ...stuck.volume, spec: { ...stuck.volume.spec, numberOfReplicas: 3 } },
    };
    const { a, b } = FOUR;
    const nodes = { a, b, e: { zone: 'south', disks: {} } };
    expect(ask({}, [lacking], { nodes })).toMatchObject({ volumesUnschedulable: 1, time: null });
    const added = { add: { disks: [{ node: 'e', sizeBytes: 10 * GIB }] } };
    expect(ask(added, [lacking], { nodes })).toMatchObject({ volumesUnschedulable: 0, rebuilds: 1 });
  });

  test('of another limit takes as long as that lets begin', () => {
    const volumes = ['1', '2'].map((id) => onDisks(['a-d', 'b-d'], { id: asId(id), ...SERVED }));
    const drain = [{ node: 'a', policy: 'block-for-eviction' }];
    const source = 'concurrent-rebuild-source-per-node-limit';
    expect(ask({ drain }, volumes).time?.p50Seconds).toBe(13);
    expect(ask({ drain, settings: { [source]: 1 } }, volumes).time?.p50Seconds).toBe(26);
  });

  test('tells nothing of volumes that the viewer may not see, and counts them', () => {
    const hidden = { ...onDisks(['a-d']), isVisible: false };
    const forecast = ask({ lose: { nodes: ['a'] } }, [hidden]);
    expect(forecast).toMatchObject({ volumesLost: 1, volumes: { total: 0, shown: [] } });
  });
});

test('the sentence says how long it takes, and what is left', () => {
  const fleet = { ...aFleet(FOUR), settings: effectiveSettings({}) };
  const view = { fleet, volumes: [onDisks(['a-d', 'b-d'], SERVED)], speeds: SPEEDS };
  const drain = [{ node: 'a', policy: 'block-for-eviction' }];
  expect(answerWhatIf({ drain }, view, NOON)).toMatchObject({
    sentence: '1 copy of 100 MiB in all is built in 9 to 25 s.',
    allFit: true,
  });
  const two = {
    ...view,
    fleet: { ...fleet, nodes: fleet.nodes.slice(0, 2), disks: fleet.disks.slice(0, 2) },
  };
  expect(answerWhatIf({ drain }, two, NOON)).toMatchObject({
    sentence: 'In the end there is 1 volume without a place for a copy.',
    allFit: false,
  });
  expect(answerWhatIf({ drain: [{ node: 'd' }] }, view, NOON).sentence).toBe('No copy has to move.');
});

test('what is lost, and what becomes of it, are told from one computation: the forecast', () => {
  const fleet = { ...aFleet(FOUR), settings: effectiveSettings({}) };
  // Its engine is lost with node a, so its copy is not built before a user acts, although it would fit on node c.
  const view = { fleet, volumes: [onDisks(['a-d', 'b-d'], SERVED)], speeds: SPEEDS };
  const lost = answerWhatIf({ lose: { nodes: ['a'] } }, view, NOON);
  expect(lost.forecast.rebuilds === 0).toBe(lost.forecast.volumesWaiting === 1);
  expect(lost.sentence).not.toContain('elsewhere');
  const none = answerWhatIf({ lose: { nodes: ['a', 'b'] } }, view, NOON);
  expect(none.sentence).toBe('1 existing volume loses 2 replicas. 1 volume has no full copy left.');
  expect(answerWhatIf({ lose: { nodes: ['d'] } }, view, NOON).sentence).toBe(
    'What is lost holds no copy in use.',
  );
});

describe('a wrong request', () => {
  const one = { a: FOUR.a };
  test.each<[string, SimulationRequest, Record<string, NodePart>, string]>([
    ['a drain of an unknown node', { drain: [{ node: 'x' }] }, FOUR, '/drain/0/node'],
    ['a drain of a lost node', { lose: { nodes: ['a'] }, drain: [{ node: 'a' }] }, FOUR, '/drain/0/node'],
    ['an unknown policy', { drain: [{ node: 'a', policy: 'x' }] }, FOUR, '/drain/0/policy'],
    ['too many drains', { drain: Array.from({ length: 1001 }, () => ({ node: 'a' })) }, FOUR, '/drain'],
    [
      'a limit below 0',
      { settings: { 'concurrent-replica-rebuild-per-node-limit': -1 } },
      FOUR,
      '/settings/concurrent-replica-rebuild-per-node-limit',
    ],
    ['an unknown loss', { lose: { disks: ['a/x'] } }, one, '/lose/disks/0'],
  ])('%s is named', (_, request, nodes, pointer) => {
    expect(faultOf(() => ask(request, [], { nodes }))?.map((item) => item.pointer)).toEqual([pointer]);
  });

  test('a drain of the last node that is ready is named', () => {
    const nodes = {
      a: { disks: { 'a-d': { ...TEN, storageScheduledBytes: GIB } } },
      b: { disks: { 'b-d': TEN } },
    };
    const both = [
      { node: 'a', policy: 'block-for-eviction' },
      { node: 'b', policy: 'block-for-eviction' },
    ];
    const fault = faultOf(() => ask({ drain: both }, [], { nodes }));
    expect(fault).toMatchObject([{ pointer: '/drain/0', detail: expect.stringContaining('no other node') }]);
    expect(faultOf(() => ask({ drain: both.slice(0, 1) }, [], { nodes }))).toBeUndefined();
  });
});

test('affected are lost places, and those that are emptied by the request or already', () => {
  const fleet = aFleet(FOUR);
  const nodes = fleet.nodes.map((node) => (node.id === 'c' ? { ...node, evictionRequested: true } : node));
  const request = { lose: { disks: ['b-d'] }, drain: [{ node: 'a', policy: 'block-for-eviction' }] };
  expect(affectedPlaces(request, { ...fleet, nodes }, NOON)).toEqual({
    nodeIds: ['a', 'c'],
    diskIds: ['a-d', 'b-d', 'c-d'],
  });
});

test('affected are places by the settings of the request, and beside the nodes that it adds', () => {
  const fleet = aFleet({ a: { disks: { 'a-d': {} } } });
  const request = {
    settings: { 'node-drain-policy': 'block-for-eviction' },
    add: { nodes: [{ name: 'new', disks: [{ sizeBytes: 10 * GIB }] }] },
    drain: [{ node: 'a' }],
  };
  expect(affectedPlaces(request, fleet, NOON)).toEqual({ nodeIds: ['a'], diskIds: ['a-d'] });
});
