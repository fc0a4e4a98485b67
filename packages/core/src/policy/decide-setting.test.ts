import { expect, test } from '@jest/globals';
import { effectiveSettings } from '../settings/effective.js';
import { decideSetting } from './decide-setting.js';

const CLEAN_UP = 'auto-cleanup-system-generated-snapshot';
const NO_PURGE = 'disable-snapshot-purge';

test.each([
  { set: { [NO_PURGE]: true }, changed: NO_PURGE, cure: `set ${CLEAN_UP} to false first` },
  { set: { [NO_PURGE]: true }, changed: CLEAN_UP, cure: `set ${NO_PURGE} to false first` },
])('a purge that is asked for can not be forbidden too: $changed is refused, and told the way out', (row) => {
  expect(decideSetting(effectiveSettings(row.set), row.changed)).toMatchObject({
    kind: 'refuse',
    code: 'setting.invalid',
    cures: [row.cure],
  });
});

test.each([
  { why: 'the clean-up is off', set: { [NO_PURGE]: true, [CLEAN_UP]: false }, changed: NO_PURGE },
  { why: 'purges are allowed', set: {}, changed: CLEAN_UP },
  { why: 'the contradiction is of two others', set: { [NO_PURGE]: true }, changed: 'balance-alpha' },
])('a setting may be changed because $why', ({ set, changed }) => {
  expect(decideSetting(effectiveSettings(set), changed)).toEqual({ kind: 'allow' });
});
