import { describe, expect, test } from '@jest/globals';
import {
  decideProviderSignIn,
  type ProviderClaims,
  type ProviderRules,
  roleByGroups,
} from './decide-provider-sign-in.js';

const RULES: ProviderRules = {
  domains: ['example.test'],
  roleOfGroup: new Map([
    ['ops', 'operator'],
    ['storage', 'admin'],
  ]),
  defaultRole: undefined,
};
const ADA: ProviderClaims = { email: 'ada@example.test', isEmailVerified: true, groups: ['ops'] };

describe('decideProviderSignIn', () => {
  test.each<{ name: string; claims?: Partial<ProviderClaims>; rules?: Partial<ProviderRules>; why?: string }>(
    [
      { name: 'a verified address of the domain, in a group' },
      { name: 'the domain in capitals', claims: { email: 'Ada@EXAMPLE.test' } },
      { name: 'no address at all', claims: { email: undefined }, why: 'names no e-mail address' },
      { name: 'an unverified address', claims: { isEmailVerified: false }, why: 'not verified' },
      {
        name: 'an address of another domain',
        claims: { email: 'ada@evil.test' },
        why: 'addresses of evil.test',
      },
      { name: 'the domain in another one', claims: { email: 'a@example.test@evil.test' }, why: 'evil.test' },
      { name: 'any domain where none is named', claims: { email: 'ada@evil.test' }, rules: { domains: [] } },
      { name: 'no group with a role', claims: { groups: ['sales'] }, why: 'none of your groups' },
      { name: 'no group, and a default', claims: { groups: [] }, rules: { defaultRole: 'viewer' } },
    ],
  )('$name', ({ claims, rules, why }) => {
    const decision = decideProviderSignIn({ ...ADA, ...claims }, { ...RULES, ...rules });
    expect(decision.kind === 'refuse' ? decision.why : undefined).toEqual(
      why === undefined ? undefined : expect.stringContaining(why),
    );
  });
});

test('the strongest role of several groups counts, and the default only without any', () => {
  const rules = { ...RULES, defaultRole: 'viewer' } as const;
  expect(roleByGroups({ groups: ['ops', 'storage', 'sales'] }, rules)).toBe('admin');
  expect(roleByGroups({ groups: ['sales'] }, rules)).toBe('viewer');
});
