import { describe, expect, test } from '@jest/globals';
import { cronProblem, lastCronTime, nextCronTime } from './cron.js';

const NOON = new Date('2026-01-01T12:00:00.000Z');

describe('nextCronTime', () => {
  test.each([
    { cron: '* * * * *', want: '2026-01-01T12:01:00.000Z' },
    { cron: '0 * * * *', want: '2026-01-01T13:00:00.000Z' },
    { cron: '@daily', want: '2026-01-02T00:00:00.000Z' },
    { cron: '0 0 */7 * *', want: '2026-01-08T00:00:00.000Z' },
    { cron: '30 2 * * sun', want: '2026-01-04T02:30:00.000Z' },
    { cron: '0 0 1,15 * 1', want: '2026-01-05T00:00:00.000Z' },
    { cron: '0 0 29 2 *', want: '2028-02-29T00:00:00.000Z' },
  ])('$cron, in UTC and after the time itself', ({ cron, want }) => {
    expect(nextCronTime(cron, NOON)?.toISOString()).toBe(want);
  });

  test('is nothing for what can not be read', () => {
    expect(nextCronTime('often', NOON)).toBeUndefined();
  });
});

describe('lastCronTime', () => {
  test.each([
    { cron: '0 * * * *', at: '2026-01-01T12:00:00.000Z', want: '2026-01-01T12:00:00.000Z' },
    { cron: '0 * * * *', at: '2026-01-01T11:59:59.999Z', want: '2026-01-01T11:00:00.000Z' },
    { cron: '0 0 */7 * *', at: '2026-01-05T12:00:00.000Z', want: '2026-01-01T00:00:00.000Z' },
    { cron: 'often', at: '2026-01-05T12:00:00.000Z', want: undefined },
  ])('the last time of $cron at $at or before is $want', ({ cron, at, want }) => {
    expect(lastCronTime(cron, new Date(at))?.toISOString()).toBe(want);
  });
});

test('answers that are kept are those of each moment, whichever was asked before', () => {
  const cron = '0,20 * * * *';
  const minutes = [21, 59, 0, 19, 20, 5, 61, 40];
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute));
  const asked = minutes.map((minute) => [lastCronTime(cron, at(minute)), nextCronTime(cron, at(minute))]);
  const want = [
    [20, 60],
    [20, 60],
    [0, 20],
    [0, 20],
    [20, 60],
    [0, 20],
    [60, 80],
    [20, 60],
  ];
  expect(asked).toEqual(want.map((pair) => pair.map(at)));
});

describe('cronProblem', () => {
  test.each([
    { cron: '0 0 30 2 *', want: 'names a day that never comes' },
    { cron: '61 * * * *', want: 'can not be read: Invalid value for minute: 61' },
    { cron: '0 0 * * * *', want: expect.stringMatching(/^must be five fields/) },
    { cron: '2026-01-01T00:00:00', want: expect.stringMatching(/^must be five fields/) },
    { cron: '@reboot', want: expect.stringMatching(/^must be five fields/) },
    { cron: `${'1,'.repeat(60)}1 * * * *`, want: expect.stringMatching(/^must be five fields/) },
    { cron: '', want: expect.stringMatching(/^must be five fields/) },
    { cron: '5 4 * * *', want: undefined },
  ])('the problem of the expression "$cron" is $want', ({ cron, want }) => {
    expect(cronProblem(cron)).toEqual(want);
  });
});
