import { describe, expect, test } from '@jest/globals';
import { decideRotation, type Rotation } from './decide-rotation.js';

const SOON = new Date('2026-01-01T01:00:00Z');
const LATER = new Date('2026-12-31T00:00:00Z');

/** A token rotates another one of its user, which ends when it does itself. Each case differs in what it names. */
const ROTATION: Rotation = {
  byToken: { expiresAt: LATER },
  token: { expiresAt: LATER, role: 'operator' },
  byRole: 'operator',
  isAncestor: false,
  isOwn: true,
  isOfServiceAccount: false,
};

describe('decideRotation', () => {
  test.each<{ name: string; rotation: Partial<Rotation>; want: string }>([
    { name: 'one that ends at the same time', rotation: {}, want: 'allow' },
    {
      name: 'one that ends before',
      rotation: { token: { expiresAt: SOON, role: 'operator' } },
      want: 'allow',
    },
    { name: 'one that ends after', rotation: { byToken: { expiresAt: SOON } }, want: 'auth.forbidden' },
    {
      name: 'one that never ends',
      rotation: { token: { expiresAt: undefined, role: 'operator' } },
      want: 'auth.forbidden',
    },
    {
      name: 'by a token that never ends itself',
      rotation: { byToken: { expiresAt: undefined }, token: { expiresAt: undefined, role: 'operator' } },
      want: 'allow',
    },
    { name: 'one that the caller was made with', rotation: { isAncestor: true }, want: 'auth.forbidden' },
    {
      name: 'by a session',
      rotation: { byToken: undefined, token: { expiresAt: undefined, role: 'operator' } },
      want: 'allow',
    },
    { name: 'one that may do more', rotation: { byRole: 'viewer' }, want: 'auth.forbidden' },
    { name: 'one that may do less', rotation: { byRole: 'owner' }, want: 'allow' },
    { name: "another member's", rotation: { isOwn: false }, want: 'auth.forbidden' },
    {
      name: "another member's, by a session",
      rotation: { isOwn: false, byToken: undefined },
      want: 'auth.forbidden',
    },
    {
      name: "a service account's",
      rotation: { isOwn: false, isOfServiceAccount: true },
      want: 'allow',
    },
    {
      name: "a service account's that ends after",
      rotation: { isOwn: false, isOfServiceAccount: true, byToken: { expiresAt: SOON } },
      want: 'auth.forbidden',
    },
  ])('rotates $name: $want', ({ rotation, want }) => {
    const decision = decideRotation({ ...ROTATION, ...rotation });
    expect(decision.kind === 'refuse' ? decision.code : decision.kind).toBe(want);
  });
});
