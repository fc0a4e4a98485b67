/** Which volumes one failure costs, and how likely that is. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { expect, test } from '@jest/globals';
import { indexOf } from '../src/inspection/cluster-index.js';
import { riskOf } from '../src/inspection/risk.js';
import { objectsOf } from './longhorn-objects.js';
import { clusterOf } from './read-lists.js';
import { aDisk, aNode, aReplica, aVolume, aWorld } from './worlds.js';

const nodes = ['a', 'b', 'c'].map((name, at) =>
  aNode(name, {
    zone: at === 2 ? 'west' : 'east',
    disks: [aDisk(`disk-${name}`, { scheduledReplicas: {} })],
  }),
);

/** Volumes by the nodes of their replicas; `a!` has failed. */
function risk(volumes: Readonly<Record<string, readonly string[]>>) {
  const world = {
    settings: aWorld('1.9').settings,
    nodes,
    volumes: Object.entries(volumes).map(([name, on]) => ({
      volume: aVolume(name, { numberOfReplicas: on.length, size: 10 * GIB }),
      replicas: on.map((place, at) => {
        const node = place.replace('!', '');
        const failedAt = place.endsWith('!') ? '2026-01-01T00:00:00Z' : '';
        return aReplica(name, `${name}-r-${at}`, { nodeId: node, diskId: `disk-${node}`, failedAt });
      }),
    })),
  };
  return riskOf(indexOf(clusterOf(objectsOf(world, '1.9'))));
}

test('a volume is lost with the only place of its healthy replicas', () => {
  const { lostWith } = risk({ one: ['a'], hurt: ['b', 'c!'], near: ['a', 'b'], safe: ['a', 'c'] });
  const names = (places: { name: string; volumes: string[] }[]) =>
    places.map(({ name, volumes }) => [name, ...volumes]);
  expect(names(lostWith.nodes)).toEqual([
    ['a', 'one'],
    ['b', 'hurt'],
  ]);
  expect(names(lostWith.zones)).toEqual([['east', 'one', 'hurt', 'near']]);
  expect(lostWith.disks.map(({ count }) => count)).toEqual([1, 1]);
});

test('the most endangered volume comes first, with what halves its risk', () => {
  const { volumes } = risk({ three: ['a', 'b', 'c'], one: ['a'], hurt: ['a', 'b!'] });
  expect(volumes.map(({ name }) => name)).toEqual(['hurt', 'one', 'three']);
  expect(volumes[0]?.lossPerYear).toBeCloseTo(0.0157, 6);
  expect(volumes[0]?.halvedBy).toEqual(['make the 1 missing replica']);
  expect(volumes[1]?.halvedBy).toEqual(['one replica more']);
});

test('two nodes at once lose a volume as often as they are one of its pairs', () => {
  const { nodesLostAtOnce } = risk({ x: ['a', 'b'], y: ['b', 'a'], z: ['a', 'c'] });
  expect(nodesLostAtOnce).toEqual([{ nodes: 2, sets: 2, lossChance: expect.closeTo(2 / 3, 9) }]);
});

test('two replicas on one disk count as one', () => {
  expect(risk({ twice: ['a', 'a'] }).volumes[0]?.lossPerYear).toBeGreaterThan(
    risk({ two: ['a', 'b'] }).volumes[0]?.lossPerYear ?? 1,
  );
});
