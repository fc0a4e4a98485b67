import { describe, expect, test } from '@jest/globals';
import {
  CERTIFICATE_DAYS_MAX,
  firstSignature,
  needsAuthority,
  signingAuthority,
  trustedAuthorities,
} from './authority-roles.js';

const NOW = new Date('2026-06-01T00:00:00Z');
const inDays = (days: number) => new Date(NOW.getTime() + days * 24 * 3_600_000);
const OLD = { name: 'old', signsFrom: inDays(-100), notAfter: inDays(3_000) };
/** A successor that was made now. */
const NEXT = { name: 'next', signsFrom: firstSignature([OLD], NOW), notAfter: inDays(3_650) };

describe('a rotation of the authority', () => {
  test.each([
    { day: 0, signs: 'old', trusted: ['old', 'next'] },
    { day: CERTIFICATE_DAYS_MAX - 0.01, signs: 'old', trusted: ['old', 'next'] },
    { day: CERTIFICATE_DAYS_MAX, signs: 'next', trusted: ['old', 'next'] },
    { day: 2 * CERTIFICATE_DAYS_MAX - 0.01, signs: 'next', trusted: ['old', 'next'] },
    { day: 2 * CERTIFICATE_DAYS_MAX, signs: 'next', trusted: ['next'] },
  ])('on day $day $signs signs, and $trusted are trusted', ({ day, signs, trusted }) => {
    const at = inDays(day);
    expect(signingAuthority([NEXT, OLD], at)?.name).toBe(signs);
    expect(trustedAuthorities([OLD, NEXT], at).map(({ name }) => name)).toEqual(trusted);
  });

  test('is due where there is no authority, and two years before the end of the newest one', () => {
    expect(needsAuthority([], NOW)).toBe(true);
    expect(needsAuthority([OLD], NOW)).toBe(false);
    expect(needsAuthority([OLD], inDays(2_271))).toBe(true);
    expect(needsAuthority([OLD, NEXT], inDays(2_271))).toBe(false);
  });

  test('of the first authority lasts no time: it signs at once', () => {
    expect(firstSignature([], NOW)).toEqual(NOW);
  });
});
