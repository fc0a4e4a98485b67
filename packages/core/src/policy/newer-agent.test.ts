import { describe, expect, test } from '@jest/globals';
import { AGENT_PROTOCOL_VERSION } from '../model/agent-protocol.js';
import { refuseNewerAgent } from './newer-agent.js';

describe('refuseNewerAgent', () => {
  test.each<{ name: string; spoken: number | undefined; want: string | undefined }>([
    { name: 'that says no version', spoken: undefined, want: undefined },
    { name: 'of an earlier version', spoken: AGENT_PROTOCOL_VERSION - 1, want: undefined },
    { name: 'of the same version', spoken: AGENT_PROTOCOL_VERSION, want: undefined },
    { name: 'of a newer version', spoken: AGENT_PROTOCOL_VERSION + 1, want: 'node.agent_newer' },
  ])('an agent $name', ({ spoken, want }) => {
    expect(refuseNewerAgent('node-1', spoken)?.code).toBe(want);
  });

  test('says which version speaks and which is known', () => {
    expect(refuseNewerAgent('node-1', AGENT_PROTOCOL_VERSION + 1)).toMatchObject({
      why: expect.stringMatching(
        `node-1 speaks version ${AGENT_PROTOCOL_VERSION + 1} .* knows ${AGENT_PROTOCOL_VERSION}`,
      ),
      cures: [expect.stringContaining('upgrade the APIs'), expect.any(String)],
    });
  });
});
