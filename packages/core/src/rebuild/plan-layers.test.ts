import { describe, expect, test } from '@jest/globals';
import { planLayers, type RebuildTarget, type SourceLayer } from './plan-layers.js';

const source = (id: string, parentId: string | null, part: Partial<SourceLayer> = {}): SourceLayer => ({
  id,
  name: `snap-${id}`,
  parentId,
  createdAt: 't0',
  heldBytes: 8192,
  checksum: `sum-${id}`,
  ranges: false,
  drop: null,
  ...part,
});

const own = (id: string, parentId: string | null, part: Partial<RebuildTarget['layers'][number]> = {}) => ({
  id,
  parentId,
  createdAt: 't0',
  heldBytes: 8192,
  checksum: `sum-${id}`,
  ranges: false,
  ...part,
});

const NO_REGIONS = { regionBytes: 1, runs: [] };
const target = (part: Partial<RebuildTarget> = {}): RebuildTarget => ({
  replicaId: 't',
  recordEpoch: null,
  disk: 'filesystem',
  layers: [],
  head: { id: 'old-head', parentId: null, heldBytes: 0 },
  intent: NO_REGIONS,
  ...part,
});

const droppedAt = (sinceEpoch = 3) => ({
  replicaIds: ['t'],
  regions: { regionBytes: 1, runs: [[5, 1] as const] },
  sinceEpoch,
  sinceGeneration: 2,
});

type Case = {
  name: string;
  source: SourceLayer[];
  target: RebuildTarget;
  fastRebuild?: boolean;
  /** Per layer: id, method, and the target's layer it starts from. */
  expected: string[];
};

describe('planLayers', () => {
  test.each<Case>([
    {
      name: 'an empty target gets everything',
      source: [source('a', null), source('s', 'a')],
      target: target(),
      expected: ['a full', 's full'],
    },
    {
      name: 'equal valid checksums leave a layer out',
      source: [source('a', null), source('s', 'a')],
      target: target({ layers: [own('a', null)] }),
      expected: ['a fast from a', 's full'],
    },
    ...(
      [
        ['the setting is off', {}, {}, false],
        ['the source has no valid checksum', { checksum: null }, {}, true],
        ['the target has none', {}, { checksum: null }, true],
        ['they differ', {}, { checksum: 'other' }, true],
        ['the sizes differ', {}, { heldBytes: 4096 }, true],
      ] as const
    ).map(([name, ofSource, ofTarget, fastRebuild]) => ({
      name: `a layer that both have is compared when ${name}`,
      source: [source('a', null, ofSource)],
      target: target({ layers: [own('a', null, ofTarget)] }),
      fastRebuild,
      expected: ['a delta from a'],
    })),
    {
      name: 'a layer that the target has not begun is sent',
      source: [source('a', null)],
      target: target({ layers: [own('a', null, { heldBytes: 0 })] }),
      expected: ['a full from a'],
    },
    {
      name: 'what the target wrote last is the base of the layer that froze it on the source',
      source: [source('a', null), source('b', 'a'), source('s', 'b')],
      target: target({ layers: [own('a', null)], head: { id: 'old-head', parentId: 'a', heldBytes: 4096 } }),
      expected: ['a fast from a', 'b delta from old-head', 's full'],
    },
    {
      name: 'one that was dropped compares only what was being written, and trusts what was frozen before',
      source: [
        source('a', null, { checksum: null }),
        source('f', 'a', { drop: droppedAt() }),
        source('s', 'f'),
      ],
      target: target({
        recordEpoch: 3,
        recordGeneration: 2,
        layers: [own('a', null, { checksum: null })],
        head: { id: 'old-head', parentId: 'a', heldBytes: 0 },
        intent: { regionBytes: 1, runs: [[9, 2]] },
      }),
      expected: ['a fast from a', 'f delta from old-head in 5,1 9,2', 's full'],
    },
    {
      name: 'one that was dropped compares what purges may have pruned beneath, down to what they leave alone',
      source: [
        source('u', null, { origin: 'user', removed: false }),
        source('r', 'u', { origin: 'user', removed: true }),
        source('s', 'r', { origin: 'system', removed: false }),
        source('f', 's', { drop: droppedAt() }),
      ],
      target: target({
        recordEpoch: 3,
        recordGeneration: 2,
        layers: [own('u', null), own('r', 'u'), own('s', 'r')],
        head: { id: 'old-head', parentId: 's', heldBytes: 4096 },
        intent: { regionBytes: 1, runs: [[9, 2]] },
      }),
      expected: [
        'u fast from u',
        'r delta from r in 5,1 9,2',
        's delta from s in 5,1 9,2',
        'f delta from old-head in 5,1 9,2',
      ],
    },
    {
      name: 'dropped twice: the later time counts',
      source: [source('e', null, { drop: droppedAt() }), source('f', 'e', { drop: droppedAt() })],
      target: target({
        recordEpoch: 3,
        recordGeneration: 2,
        layers: [own('e', null)],
        head: { id: 'old-head', parentId: 'e', heldBytes: 0 },
      }),
      expected: ['e fast from e', 'f delta from old-head in 5,1 '],
    },
    ...(
      [
        ['it is no member', { recordEpoch: null }],
        ['its record is older than the one it was dropped from', { recordEpoch: 2 }],
        ['its record is of an earlier generation', { recordGeneration: 1 }],
        ['its head stands on another layer', { head: { id: 'old-head', parentId: 'x', heldBytes: 4096 } }],
        ['another copy was dropped there', { replicaId: 'u' }],
      ] as const
    ).map(([name, part]) => ({
      name: `the mark of a drop is not trusted when ${name}`,
      source: [source('a', null, { checksum: null }), source('f', 'a', { drop: droppedAt() })],
      target: target({
        recordEpoch: 3,
        recordGeneration: 2,
        layers: [own('a', null, { checksum: null })],
        head: { id: 'old-head', parentId: 'a', heldBytes: 0 },
        ...part,
      }),
      expected: ['a delta from a', 'f full'],
    })),
    ...(
      [
        ['equal checksums leave a layer out', {}, {}, true, 'a fast from a'],
        ['also with checksums of ranges', { ranges: true }, { ranges: true }, true, 'a fast from a'],
        [
          'ranges tell what differs',
          { ranges: true },
          { ranges: true, checksum: 'x' },
          true,
          'a ranges from a',
        ],
        ['also when fast rebuilds are off', { ranges: true }, { ranges: true }, false, 'a ranges from a'],
        [
          'another time is a difference',
          { ranges: true },
          { ranges: true, createdAt: 't1' },
          true,
          'a ranges from a',
        ],
        ['a source without ranges sends all', {}, { ranges: true, checksum: 'x' }, true, 'a full'],
        ['a target without ranges gets all', { ranges: true }, { checksum: 'x' }, true, 'a full'],
        ['what was never hashed is sent', { checksum: null }, { checksum: null }, true, 'a full'],
      ] as const
    ).map(([name, ofSource, ofTarget, fastRebuild, expected]) => ({
      name: `on block disks ${name}`,
      source: [source('a', null, ofSource)],
      target: target({ disk: 'block', layers: [own('a', null, ofTarget)] }),
      fastRebuild,
      expected: [expected],
    })),
    {
      name: 'on block disks what the target wrote last is replaced',
      source: [source('b', null), source('s', 'b')],
      target: target({ disk: 'block', head: { id: 'old-head', parentId: null, heldBytes: 4096 } }),
      expected: ['b full', 's full'],
    },
    {
      name: 'on block disks one that was dropped compares what was being written, as on folders',
      source: [source('a', null, { checksum: null }), source('f', 'a', { drop: droppedAt() })],
      target: target({
        disk: 'block',
        recordEpoch: 3,
        recordGeneration: 2,
        layers: [own('a', null, { checksum: null })],
        head: { id: 'old-head', parentId: 'a', heldBytes: 0 },
      }),
      expected: ['a fast from a', 'f delta from old-head in 5,1 '],
    },
    {
      name: 'a layer that took another one in meanwhile is compared, also after a drop',
      source: [source('c', null), source('f', 'c', { drop: droppedAt() })],
      target: target({
        recordEpoch: 3,
        recordGeneration: 2,
        layers: [own('l', null), own('c', 'l', { checksum: null })],
        head: { id: 'old-head', parentId: 'c', heldBytes: 0 },
      }),
      expected: ['c delta from c', 'f delta from old-head in 5,1 '],
    },
  ])('$name', ({ source: layers, target: facts, fastRebuild = true, expected }) => {
    const plans = planLayers(layers, facts, { fastRebuild });
    expect(
      plans.map(({ id, method, from, regions }) => {
        const where = regions === null ? '' : ` in ${regions.map(({ runs }) => runs.join(' ')).join(' ')}`;
        return `${id} ${method}${from === null ? '' : ` from ${from}`}${where}`;
      }),
    ).toEqual(expected);
  });
});
