import { secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import { judgeAgent } from './agent-identity.js';

const FIRST = { bootId: 'boot-1', controlUrl: 'http://a:1', controlSecret: 'secret-of-a' };
const known = { ...FIRST, pastBootIds: ['boot-0'], lastHeartbeatAt: secondsAfterNoon(0) };

describe('judgeAgent', () => {
  test.each([
    { name: 'the same process', reported: {}, now: 1, want: 'same' },
    { name: 'a restart at its address', reported: { bootId: 'boot-2' }, now: 1, want: 'new-life' },
    {
      name: 'another address while the first answers',
      reported: { bootId: 'boot-2', controlUrl: 'http://b:1' },
      now: 10,
      want: 'refused',
    },
    {
      name: 'the same address on another machine',
      reported: { bootId: 'boot-2', controlSecret: 'secret-of-b' },
      now: 10,
      want: 'refused',
    },
    {
      name: 'another address once the first is silent',
      reported: { bootId: 'boot-2', controlUrl: 'http://b:1' },
      now: 11,
      want: 'new-life',
    },
    {
      name: 'another address when nothing could be heard for a while',
      reported: { bootId: 'boot-2', controlUrl: 'http://b:1' },
      now: 60,
      since: 55,
      want: 'refused',
    },
    { name: 'a life that was replaced', reported: { bootId: 'boot-0' }, now: 600, want: 'refused' },
  ])('$name: $want', ({ reported, now, since, want }) => {
    const judging = {
      now: secondsAfterNoon(now),
      since: since === undefined ? undefined : secondsAfterNoon(since),
      timeoutSeconds: 10,
    };
    expect(judgeAgent(known, { ...FIRST, ...reported }, judging)).toBe(want);
  });
});
