import { NOON } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import { decideMaintenance, decideMaintenanceEnd, MAINTENANCE_DAYS_MAX } from './decide-maintenance.js';

const after = (seconds: number) => new Date(NOON.getTime() + seconds * 1000);
const WEEK = MAINTENANCE_DAYS_MAX * 24 * 3600;
const window = (seconds: number, reason = '') => ({ until: after(seconds), reason });

describe('a window is opened', () => {
  test.each([
    { name: 'until a time to come', wanted: window(1), want: { kind: 'allow' } },
    { name: 'for as long as may be', wanted: window(WEEK), want: { kind: 'allow' } },
    {
      name: 'not for longer',
      wanted: window(WEEK + 1),
      want: { code: 'request.invalid', why: 'the maintenance of node n1 may last 7 days at most' },
    },
    {
      name: 'not until now',
      wanted: window(0),
      want: { code: 'request.invalid', why: 'the maintenance of node n1 would end before it begins' },
    },
    { name: 'not until a time that is past', wanted: window(-60), want: { code: 'request.invalid' } },
    {
      name: 'again, which changes nothing',
      open: window(60),
      wanted: window(60),
      want: { kind: 'unchanged' },
    },
    { name: 'for longer than before', open: window(60), wanted: window(120), want: { kind: 'allow' } },
    { name: 'for less than before', open: window(60), wanted: window(30), want: { kind: 'allow' } },
    { name: 'for another reason', open: window(60), wanted: window(60, 'disks'), want: { kind: 'allow' } },
  ])('$name', ({ open, wanted, want }) => {
    expect(decideMaintenance({ name: 'n1', maintenance: open }, wanted, NOON)).toMatchObject(want);
  });
});

test('a window is ended while it is open, also when its time is over; else nothing changes', () => {
  expect(decideMaintenanceEnd({ name: 'n1', maintenance: window(60) })).toEqual({ kind: 'allow' });
  expect(decideMaintenanceEnd({ name: 'n1', maintenance: window(-60) })).toEqual({ kind: 'allow' });
  expect(decideMaintenanceEnd({ name: 'n1', maintenance: undefined })).toMatchObject({
    kind: 'unchanged',
    why: 'node n1 is not in maintenance',
  });
});
