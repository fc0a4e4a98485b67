import { newLayerTask } from '@holdfast/core/model/layer-task.js';
import { A_SPEC, NOON } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import {
  NO_USE,
  type PassedQuota,
  passedQuota,
  type QuotaLimits,
  quotaRefusal,
  useOfVolume,
} from './quota.js';

const GIB = 2 ** 30;

describe('passedQuota', () => {
  test.each<{ name: string; limits: QuotaLimits; before: number; after: number; want: boolean }>([
    { name: 'no limit', limits: {}, before: 5, after: 50, want: false },
    { name: 'up to the limit', limits: { volumes: 6 }, before: 5, after: 6, want: false },
    { name: 'past it', limits: { volumes: 6 }, before: 6, after: 7, want: true },
    { name: 'a limit of 0', limits: { volumes: 0 }, before: 0, after: 1, want: true },
    {
      name: 'fewer, above a limit that was lowered',
      limits: { volumes: 2 },
      before: 9,
      after: 8,
      want: false,
    },
    { name: 'as many, above it', limits: { volumes: 2 }, before: 9, after: 9, want: false },
    { name: 'another dimension', limits: { snapshots: 0 }, before: 5, after: 50, want: false },
  ])('$name: $want', ({ limits, before, after, want }) => {
    const use = { before: { ...NO_USE, volumes: before }, after: { ...NO_USE, volumes: after } };
    expect(passedQuota('project', limits, use) !== undefined).toBe(want);
  });
});

test.each<{ passed: PassedQuota; why: string }>([
  {
    passed: { scope: 'project', dimension: 'volumes', limit: 10, used: 10, asked: 1 },
    why: 'the project may have 10 of volumes; it has 10, and this needs 1 more',
  },
  {
    passed: {
      scope: 'organization',
      dimension: 'physicalBytes',
      limit: 10 * GIB,
      used: 9 * GIB,
      asked: 3 * GIB,
    },
    why: 'the organization may have 10 GiB of physical bytes; it has 9 GiB, and this needs 3 GiB more',
  },
])('a refusal tells the numbers: $why', ({ passed, why }) => {
  expect(quotaRefusal(passed)).toMatchObject({ code: 'quota.exceeded', why, context: passed });
});

test('a volume uses physical bytes for each of its copies, and what it grows to while it grows', () => {
  const spec = { ...A_SPEC, sizeBytes: GIB, numberOfReplicas: 3 };
  const task = newLayerTask(
    { kind: 'expand', sizeBytes: 2 * GIB, fromBytes: GIB },
    { id: 'task', requestedAt: NOON },
  );
  const one = { ...NO_USE, volumes: 1, provisionedBytes: GIB, physicalBytes: 3 * GIB };
  expect(useOfVolume({ spec, task: undefined })).toEqual(one);
  expect(useOfVolume({ spec, task })).toEqual({ ...one, provisionedBytes: 2 * GIB, physicalBytes: 6 * GIB });
});
