import { COPIES_MISSING } from '@holdfast/core/policy/decide-salvage.js';
import { expect, test } from '@jest/globals';
import type { Volume } from '../types.js';
import { isAttachSettled } from './volume-attention.js';

type Shown = Parameters<typeof isAttachSettled>[0];

function attaching(part: Partial<Shown> = {}): Shown {
  return { state: 'attaching', endpoint: null, attention: null, robustness: 'unknown', ...part };
}

function attention(code: string, cures: string[]): Volume['attention'] {
  return { code, message: 'so it is', since: '2026-01-01T12:00:00.000Z', cures };
}

const fewAnswer = attention(COPIES_MISSING, ['salvage it']);

test.each<{ name: string; volume: Shown; settled: boolean }>([
  {
    name: 'is attached and has an address',
    volume: attaching({ state: 'attached', endpoint: { nbdUri: 'nbd://127.0.0.1:10809/v' } }),
    settled: true,
  },
  { name: 'is attached and has no address yet', volume: attaching({ state: 'attached' }), settled: false },
  { name: 'is on its way', volume: attaching(), settled: false },
  { name: 'waits for what passes', volume: attaching({ attention: attention('x', []) }), settled: false },
  {
    name: 'needs room on a disk',
    volume: attaching({ attention: attention('x', ['free it']) }),
    settled: true,
  },
  { name: 'hears of too few copies so far', volume: attaching({ attention: fewAnswer }), settled: false },
  {
    name: 'hears of too few copies and is faulted',
    volume: attaching({ attention: fewAnswer, robustness: 'faulted' }),
    settled: true,
  },
])('a volume that $name: the command ends is $settled', ({ volume, settled }) => {
  expect(isAttachSettled(volume)).toBe(settled);
});
