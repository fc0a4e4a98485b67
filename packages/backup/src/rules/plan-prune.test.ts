import { expect, test } from '@jest/globals';
import { type PackUse, planPrune } from './plan-prune.js';

const NOW = new Date('2026-01-10T00:00:00Z');
const LIMITS = {
  graceMs: 86_400_000,
  liveShareMin: 0.6,
  smallBytes: 16,
  smallPacksMax: 3,
  copyBytesMax: 100,
};
const use = (pack: string, storedBytes: number, liveBytes: number): PackUse => ({
  pack,
  storedBytes,
  liveBytes,
});
const NOTHING = { condemn: [], copy: [], die: [] };

test.each([
  { name: 'a full pack stays', packs: [use('a', 64, 64)], want: NOTHING },
  { name: 'an unused pack is condemned', packs: [use('a', 64, 0)], want: { ...NOTHING, condemn: ['a'] } },
  { name: 'a pack used a little is copied', packs: [use('a', 64, 20)], want: { ...NOTHING, copy: ['a'] } },
  { name: 'a pack used mostly stays', packs: [use('a', 64, 40)], want: NOTHING },
  { name: 'a few small packs stay', packs: [use('a', 8, 8), use('b', 8, 8)], want: NOTHING },
  {
    name: 'many small packs are joined',
    packs: [use('a', 8, 8), use('b', 8, 8), use('c', 8, 8)],
    want: { ...NOTHING, copy: ['a', 'b', 'c'] },
  },
  {
    name: 'what is copied is bounded, the emptiest pack first',
    packs: [use('a', 200, 90), use('b', 64, 10), use('c', 64, 20)],
    want: { ...NOTHING, copy: ['b', 'c'] },
  },
])('$name', ({ packs, want }) => {
  expect(planPrune(packs, new Map(), NOW, LIMITS)).toEqual(want);
});

test('a condemned pack dies after its grace, unless it is in use again', () => {
  const condemned = new Map([
    ['old', '2026-01-08T00:00:00Z'],
    ['young', '2026-01-09T12:00:00Z'],
    ['used', '2026-01-01T00:00:00Z'],
  ]);
  const packs = [use('old', 64, 0), use('young', 64, 0), use('used', 64, 5)];
  expect(planPrune(packs, condemned, NOW, LIMITS)).toEqual({ ...NOTHING, die: ['old'] });
});
