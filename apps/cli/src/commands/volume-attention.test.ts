import { NODE_UNANSWERING } from '@holdfast/core/policy/decide-attach.js';
import { COPIES_MISSING } from '@holdfast/core/policy/decide-salvage.js';
import { expect, test } from '@jest/globals';
import type { Volume } from '../types.js';
import { isAttachDecided, waitTeller } from './volume-attention.js';

type Shown = Parameters<typeof isAttachDecided>[0];

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
    name: 'has a node that missed a heartbeat',
    volume: attaching({ attention: attention(NODE_UNANSWERING, ['look at it']) }),
    settled: false,
  },
  {
    name: 'hears of too few copies and is faulted',
    volume: attaching({ attention: fewAnswer, robustness: 'faulted' }),
    settled: true,
  },
])('a volume that $name: the command ends is $settled', ({ volume, settled }) => {
  expect(isAttachDecided(volume)).toBe(settled);
});

test('what it waits for is said when it begins, then every five seconds, and at once when it is something else', () => {
  const said: string[] = [];
  let nowMs = Date.parse('2026-01-01T12:00:03.000Z');
  const tell = waitTeller(
    (text) => said.push(text),
    () => nowMs,
  );
  const at = (seconds: number, code: string) => {
    nowMs += seconds * 1000;
    // Only these fields are read.
    tell({ name: 'pg', attention: attention(code, []) } as unknown as Volume);
  };
  at(0, 'x');
  at(4, 'x');
  at(1, 'x');
  at(0, 'y');
  tell({ name: 'pg', attention: null } as unknown as Volume);
  expect(said).toEqual(['pg waits (3 s): so it is', 'pg waits (8 s): so it is', 'pg waits (8 s): so it is']);
});
