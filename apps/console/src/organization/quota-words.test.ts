import { GIB } from '@holdfast/core/model/bytes.js';
import { expect, test } from '@jest/globals';
import { fieldOf, limitsOf, limitWords } from './quota-words';

test('a form asks for the limits that its fields show, and for none where one is empty', () => {
  const form = new FormData();
  form.append('provisionedBytes', fieldOf('provisionedBytes', 1.5 * GIB));
  form.append('volumes', fieldOf('volumes', 20));
  form.append('snapshots', fieldOf('snapshots', null));
  expect(limitsOf(form)).toEqual({
    provisionedBytes: 1.5 * GIB,
    physicalBytes: null,
    volumes: 20,
    snapshots: null,
    runningRebuilds: null,
    requestsPerMinute: null,
  });
});

test('sizes are told in units, counts as numbers', () => {
  expect(limitWords('physicalBytes', 3 * GIB)).toBe('3 GiB');
  expect(limitWords('requestsPerMinute', 1200)).toBe('1,200');
});
