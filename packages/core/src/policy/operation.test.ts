import { describe, expect, test } from '@jest/globals';
import { cancelledBy, operationEnd, operationId, operationSteps, targetOfOperation } from './operation.js';

const TARGET = '01a1fd5b-0000-7000-8000-000000000201';

test('an id names the target that its operation is found by', () => {
  const at = new Date('2026-01-02T03:04:05.678Z');
  expect(operationId('expand', TARGET, at)).toBe(`expand-${TARGET}-1767323045678`);
  expect(operationId('rebuild', TARGET, at)).toBe(`rebuild-${TARGET}`);
  expect(targetOfOperation(operationId('expand', TARGET, at))).toBe(TARGET);
  expect(targetOfOperation(operationId('rebuild', TARGET, at))).toBe(TARGET);
});

test.each(['', TARGET, `expand-${TARGET}-x`, `expand-${TARGET}-1; DROP`, `expand--${TARGET}`])(
  '%j is no id of an operation',
  (text) => {
    expect(targetOfOperation(text)).toBeUndefined();
  },
);

describe('steps', () => {
  test.each([
    ['what waits is at its first', 'purge', 'queued', '', 'current pending'],
    ['what runs has left the queue', 'purge', 'running', '', 'done current'],
    ['what is done has done all of them', 'move', 'succeeded', '', 'done done'],
    ['a phase says where it is', 'move', 'running', 'replacing', 'done current'],
    ['what is blocked on its way is there', 'drain', 'running', 'blocked', 'current pending'],
    ['what was cancelled is at none', 'drain', 'cancelled', '', 'pending pending'],
  ] as const)('%s in the list of steps', (_, kind, state, phase, want) => {
    const steps = operationSteps({ kind, state, phase });
    expect(steps.map((step) => step.state).join(' ')).toBe(want);
  });
});

test.each([
  ['verify', 'running', 'volume:write'],
  ['verify', 'succeeded', undefined],
  ['purge', 'running', undefined],
] as const)('a %s that is %s is cancelled by %s', (kind, state, want) => {
  expect(cancelledBy({ kind, state })).toBe(want);
});

describe('the end', () => {
  const startedAt = new Date('2026-01-02T12:00:00Z');
  const now = new Date('2026-01-02T12:10:00Z');

  test('is told from what is done so far, with a doubled rest for the worse case', () => {
    const progress = { done: 25, total: 100, unit: 'bytes' } as const;
    expect(operationEnd({ state: 'running', progress, startedAt }, now)).toEqual({
      p50: new Date('2026-01-02T12:40:00Z'),
      p90: new Date('2026-01-02T13:10:00Z'),
    });
  });

  test.each([
    ['of what waits', { state: 'queued', progress: { done: 1, total: 2, unit: 'bytes' } }],
    ['before anything is done', { state: 'running', progress: { done: 0, total: 2, unit: 'bytes' } }],
    ['of what has no total', { state: 'running', progress: { done: 1, total: undefined, unit: 'bytes' } }],
  ] as const)('%s is not told', (_, operation) => {
    expect(operationEnd({ ...operation, startedAt }, now)).toBeUndefined();
  });
});
