/** How times are read: as dates, or as the texts that users see. */
import { expect, test } from '@jest/globals';
import pg from 'pg';
import { TIMES_AS_TEXT } from './pool.js';

const OID_TIMESTAMPTZ = pg.types.builtins.TIMESTAMPTZ;

test.each([
  ['2026-11-24 03:07:53.123456+00', '2026-11-24T03:07:53.123Z'],
  ['2026-11-24 03:07:53.1+00', '2026-11-24T03:07:53.100Z'],
  ['2026-11-24 03:07:53+00', '2026-11-24T03:07:53.000Z'],
  ['2026-11-24 05:07:53.12+02', '2026-11-24T03:07:53.120Z'],
  ['0044-03-15 12:00:00+00 BC', '-000043-03-15T12:00:00.000Z'],
])('%s is shown as %s', (stored, shown) => {
  expect(TIMES_AS_TEXT.getTypeParser(OID_TIMESTAMPTZ, 'text')(stored)).toBe(shown);
});
