import { describe, expect, test } from '@jest/globals';
import { AGENT_PROTOCOL_VERSION } from '../model/agent-protocol.js';
import { isAgentOlder, refuseAgentVersion } from './agent-version.js';

const THIS = AGENT_PROTOCOL_VERSION;

describe('refuseAgentVersion', () => {
  test.each<{ name: string; spoken: number | undefined; oldest?: number; want: string | undefined }>([
    { name: 'that says no version', spoken: undefined, want: undefined },
    { name: 'of an earlier version', spoken: THIS - 1, want: undefined },
    { name: 'of the same version', spoken: THIS, want: undefined },
    { name: 'of a newer version', spoken: THIS + 1, want: 'node.agent_newer' },
    { name: 'of the oldest version that is heard', spoken: THIS, oldest: THIS, want: undefined },
    { name: 'of an older version than is heard', spoken: THIS - 1, oldest: THIS, want: 'node.agent_older' },
    { name: 'that says none where all have to', spoken: undefined, oldest: THIS, want: 'node.agent_older' },
    { name: 'that says none where none has to', spoken: undefined, oldest: 0, want: undefined },
  ])('an agent $name', ({ spoken, oldest, want }) => {
    expect(refuseAgentVersion('node-1', spoken, oldest)?.code).toBe(want);
    if (oldest !== undefined) expect(isAgentOlder(spoken, oldest)).toBe(want === 'node.agent_older');
  });

  test.each([
    {
      spoken: THIS + 1,
      says: `node-1 speaks version ${THIS + 1} .* knows ${THIS}`,
      cure: 'upgrade the APIs',
    },
    {
      spoken: undefined,
      says: `node-1 is of an older Holdfast: it does not say .* ${THIS} is the oldest`,
      cure: 'start the agent',
    },
  ])('says which version speaks and which is heard', ({ spoken, says, cure }) => {
    const refusal = refuseAgentVersion('node-1', spoken, THIS);
    expect(refusal?.why).toMatch(new RegExp(says));
    expect(refusal?.cures?.[0]).toContain(cure);
  });
});
