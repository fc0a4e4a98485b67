import { describe, expect, test } from '@jest/globals';
import { AGENT_PROTOCOL_VERSION } from '../model/agent-protocol.js';
import { decideJoin, type JoinFacts } from './decide-join.js';

const NOW = new Date('2026-06-01T12:00:00Z');
const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
const TOKEN = { nodeName: undefined, uses: 0, usesMax: 1, expiresAt: after(60), isMakerEntitled: true };
const FACTS: JoinFacts = {
  name: 'node-1',
  now: NOW,
  agentClock: NOW,
  protocol: AGENT_PROTOCOL_VERSION,
  oldestProtocol: undefined,
  isBeingForgotten: false,
  token: TOKEN,
  known: { kind: 'nothing' },
};
const IDENTITY = { kind: 'identity', isSameKey: false, isRevoked: false, isUnused: false } as const;

describe('decideJoin', () => {
  test.each<{ name: string; facts: Partial<JoinFacts>; want: string }>([
    { name: 'a new name with a token', facts: {}, want: 'join' },
    { name: 'a new name without one', facts: { token: undefined }, want: 'join_token.refused' },
    { name: 'a token in its last second', facts: { token: { ...TOKEN, expiresAt: after(1) } }, want: 'join' },
    {
      name: 'a token that ran out',
      facts: { token: { ...TOKEN, expiresAt: NOW } },
      want: 'join_token.refused',
    },
    { name: 'a token without an end', facts: { token: { ...TOKEN, expiresAt: undefined } }, want: 'join' },
    {
      name: 'a token whose maker may not any more',
      facts: { token: { ...TOKEN, isMakerEntitled: false } },
      want: 'join_token.refused',
    },
    {
      name: 'such a token that names the node',
      facts: { token: { ...TOKEN, nodeName: 'node-1', isMakerEntitled: false }, known: IDENTITY },
      want: 'join_token.refused',
    },
    { name: 'a token that was used', facts: { token: { ...TOKEN, uses: 1 } }, want: 'join_token.refused' },
    { name: 'one of several uses', facts: { token: { ...TOKEN, uses: 1, usesMax: 2 } }, want: 'join' },
    {
      name: 'the token of another node',
      facts: { token: { ...TOKEN, nodeName: 'node-2' } },
      want: 'join_token.refused',
    },
    { name: 'a name that another key has', facts: { known: IDENTITY }, want: 'node.name_taken' },
    {
      name: 'that name with a token for it',
      facts: { known: IDENTITY, token: { ...TOKEN, nodeName: 'node-1' } },
      want: 'join',
    },
    { name: 'a name that was never used', facts: { known: { ...IDENTITY, isUnused: true } }, want: 'join' },
    {
      name: 'its own key',
      facts: { known: { ...IDENTITY, isSameKey: true }, token: undefined },
      want: 'renew',
    },
    {
      name: 'its own key that was revoked',
      facts: { known: { ...IDENTITY, isSameKey: true, isRevoked: true }, token: undefined },
      want: 'node.identity_refused',
    },
    {
      name: 'that key with a token for its node',
      facts: {
        known: { ...IDENTITY, isSameKey: true, isRevoked: true },
        token: { ...TOKEN, nodeName: 'node-1' },
      },
      want: 'node.identity_refused',
    },
    {
      name: 'another key after that one, with a token for the node',
      facts: { known: { ...IDENTITY, isRevoked: true }, token: { ...TOKEN, nodeName: 'node-1' } },
      want: 'join',
    },
    {
      name: 'a node without identity',
      facts: { known: { kind: 'node', provesSecret: false } },
      want: 'node.name_taken',
    },
    {
      name: 'that node with its secret',
      facts: { known: { kind: 'node', provesSecret: true } },
      want: 'join',
    },
    { name: 'an agent from before they said their version', facts: { protocol: undefined }, want: 'join' },
    {
      name: 'an agent of a newer version',
      facts: { protocol: AGENT_PROTOCOL_VERSION + 1 },
      want: 'node.agent_newer',
    },
    { name: 'a clock that is off by what is allowed', facts: { agentClock: after(-300) }, want: 'join' },
    { name: 'a clock ten minutes behind', facts: { agentClock: after(-600) }, want: 'node.clock_off' },
    { name: 'a clock ten minutes ahead', facts: { agentClock: after(600) }, want: 'node.clock_off' },
  ])('$name', ({ facts, want }) => {
    const decision = decideJoin({ ...FACTS, ...facts });
    expect(decision.kind === 'refuse' ? decision.code : decision.kind).toBe(want);
  });

  test('a clock that is off is told by how much, and which way', () => {
    expect(decideJoin({ ...FACTS, agentClock: after(-600) })).toMatchObject({
      why: expect.stringContaining('600 seconds behind'),
      cures: [expect.stringContaining('set the clock')],
    });
  });
});
