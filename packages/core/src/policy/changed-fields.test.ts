import { expect, test } from '@jest/globals';
import { changedFields } from './changed-fields.js';

const spec = {
  allowScheduling: true,
  tags: [] as string[],
  storageReservedBytes: 0,
  labels: undefined as object | undefined,
  zone: '',
};
const FIELDS = ['allowScheduling', 'tags', 'storageReservedBytes', 'labels', 'zone'] as const;

test.each([
  [{}, undefined],
  [{ allowScheduling: false }, 'allow scheduling: no, was yes'],
  [{ tags: ['ssd', 'fast'] }, 'tags: ssd, fast, was none'],
  [{ storageReservedBytes: 2 ** 30 }, 'storage reserved: 1 GiB, was 0 B'],
  [{ labels: { team: 'a' }, zone: 'b' }, 'labels: team=a, was none; zone: b, was none'],
])('a change to %j is told as: %s', (change, want) => {
  expect(changedFields(spec, { ...spec, ...change }, FIELDS)).toBe(want);
});
