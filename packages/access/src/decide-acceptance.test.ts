import { describe, expect, test } from '@jest/globals';
import { decideAcceptance, decideJoining, type InvitedAccount, type Joining } from './decide-acceptance.js';

describe('decideAcceptance', () => {
  test.each<{ name: string; account: InvitedAccount | undefined; want: string }>([
    { name: 'an address without an account', account: undefined, want: 'sets' },
    { name: 'an account with a password', account: { hasPassword: true }, want: 'proves' },
    { name: 'an account without one', account: { hasPassword: false }, want: 'invitation.needs_session' },
  ])('$name: $want', ({ account, want }) => {
    const decision = decideAcceptance(account);
    expect(decision.kind === 'refuse' ? decision.code : decision.kind).toBe(want);
  });
});

describe('decideJoining', () => {
  test.each<{ name: string; joining: Joining; want: string }>([
    { name: 'the invited session', joining: { isSession: true, isInvited: true }, want: 'allow' },
    { name: "another account's", joining: { isSession: true, isInvited: false }, want: 'auth.forbidden' },
    { name: 'a token of it', joining: { isSession: false, isInvited: true }, want: 'auth.forbidden' },
  ])('$name: $want', ({ joining, want }) => {
    const decision = decideJoining(joining);
    expect(decision.kind === 'refuse' ? decision.code : decision.kind).toBe(want);
  });
});
