import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import { describe, expect, test } from '@jest/globals';
import { decideCancellation, decideTuning } from './decide-rebuild.js';

type Row = { name: string; state: Rebuild['state']; want: object };

const ALLOW = { kind: 'allow' };
const FINISHED = { code: 'rebuild.finished', cures: [] };

describe('decideCancellation', () => {
  test.each<Row>([
    { name: 'A rebuild that waits may be cancelled.', state: 'queued', want: ALLOW },
    { name: 'A rebuild that runs may be cancelled.', state: 'running', want: ALLOW },
    {
      name: 'Cancelling again changes nothing.',
      state: 'cancelled',
      want: { kind: 'unchanged', why: 'the rebuild is cancelled already' },
    },
    {
      name: 'A rebuild that has succeeded is not cancelled.',
      state: 'succeeded',
      want: { ...FINISHED, why: 'the rebuild has succeeded already' },
    },
    {
      name: 'A rebuild that has failed is not cancelled.',
      state: 'failed',
      want: { ...FINISHED, why: 'the rebuild has failed already' },
    },
  ])('$name', ({ state, want }) => {
    expect(decideCancellation({ state })).toMatchObject(want);
  });
});

describe('decideTuning', () => {
  test.each<Row>([
    { name: 'A rebuild that waits may be tuned.', state: 'queued', want: ALLOW },
    { name: 'A rebuild that runs may be tuned.', state: 'running', want: ALLOW },
    {
      name: 'A rebuild that was cancelled is not tuned.',
      state: 'cancelled',
      want: { ...FINISHED, why: 'the rebuild has cancelled already' },
    },
    { name: 'A rebuild that has succeeded is not tuned.', state: 'succeeded', want: FINISHED },
  ])('$name', ({ state, want }) => {
    expect(decideTuning({ state })).toMatchObject(want);
  });
});
