import { NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import { effectiveSettings } from '../settings/effective.js';
import { isAgentAlive } from './node-liveness.js';

const settings = effectiveSettings({ 'agent-heartbeat-timeout': 10 });
const ready = (status: 'True' | 'False') => [
  { type: 'Ready' as const, status, reason: '', message: '', lastTransitionAt: NOON },
];

describe('isAgentAlive', () => {
  test.each([
    { name: 'heard just now', heard: 100, judging: 0, was: ready('True'), want: true },
    { name: 'silent for the timeout', heard: 90, judging: 0, was: ready('True'), want: true },
    { name: 'silent for longer', heard: 89, judging: 0, was: ready('True'), want: false },
    { name: 'silent since before the judge began', heard: 10, judging: 90, was: ready('True'), want: true },
    { name: 'silent for all of the judge’s time', heard: 10, judging: 89, was: ready('True'), want: false },
    { name: 'dead before the judge began', heard: 10, judging: 95, was: ready('False'), want: false },
    { name: 'dead and heard again', heard: 95, judging: 95, was: ready('False'), want: true },
    { name: 'new and silent', heard: 10, judging: 95, was: [], want: false },
    { name: 'heard in the future', heard: 3600, judging: 0, was: ready('True'), want: false },
    { name: 'never heard', heard: undefined, judging: 95, was: ready('True'), want: false },
  ])('$name: $want', ({ heard, judging, was, want }) => {
    const lastHeartbeatAt = heard === undefined ? undefined : secondsAfterNoon(heard);
    const node = { lastHeartbeatAt, conditions: was };
    expect(
      isAgentAlive(node, settings, { now: secondsAfterNoon(100), since: secondsAfterNoon(judging) }),
    ).toBe(want);
  });
});
