import { secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import { effectiveSettings } from '../settings/effective.js';
import { AGENT_GONE, agentState, isMissed, isUnanswering, MISSED_AFTER_MS } from './node-liveness.js';

const settings = effectiveSettings({ 'agent-heartbeat-timeout': 10 });
type Ready = 'True' | 'False';
const ready = (status: Ready, reason = '', since = 0) => [
  { type: 'Ready' as const, status, reason, message: '', lastTransitionAt: secondsAfterNoon(since) },
];
const gone = (since: number) => ready('False', AGENT_GONE, since);

describe('agentState', () => {
  test.each([
    { name: 'heard just now', heard: 100, judging: 0, was: ready('True'), want: 'heard' },
    { name: 'silent for the timeout', heard: 90, judging: 0, was: ready('True'), want: 'heard' },
    { name: 'silent for longer', heard: 89, judging: 0, was: ready('True'), want: 'silent' },
    {
      name: 'silent since before the judge began',
      heard: 10,
      judging: 90,
      was: ready('True'),
      want: 'heard',
    },
    {
      name: 'silent for all of the judge’s time',
      heard: 10,
      judging: 89,
      was: ready('True'),
      want: 'silent',
    },
    { name: 'dead before the judge began', heard: 10, judging: 95, was: ready('False'), want: 'silent' },
    { name: 'dead and heard again', heard: 95, judging: 95, was: ready('False'), want: 'heard' },
    { name: 'new and silent', heard: 10, judging: 95, was: [], want: 'silent' },
    { name: 'heard in the future', heard: 3600, judging: 0, was: ready('True'), want: 'silent' },
    { name: 'never heard', heard: undefined, judging: 95, was: ready('True'), want: 'silent' },
    { name: 'found gone, within the timeout', heard: 95, judging: 0, was: gone(98), want: 'gone' },
    { name: 'found gone long ago', heard: 10, judging: 0, was: gone(13), want: 'gone' },
    { name: 'found gone and heard since', heard: 99, judging: 0, was: gone(98), want: 'heard' },
    { name: 'found gone, heard since, and silent', heard: 50, judging: 0, was: gone(40), want: 'silent' },
  ])('$name: $want', ({ heard, judging, was, want }) => {
    const lastHeartbeatAt = heard === undefined ? undefined : secondsAfterNoon(heard);
    const node = { lastHeartbeatAt, conditions: was };
    expect(agentState(node, settings, { now: secondsAfterNoon(100), since: secondsAfterNoon(judging) })).toBe(
      want,
    );
  });
});

describe('isMissed', () => {
  const late = 100 - MISSED_AFTER_MS / 1000;
  test.each([
    { name: 'heard a moment ago', heard: late + 1, judging: 0, was: ready('True'), want: false },
    { name: 'heard too long ago', heard: late, judging: 0, was: ready('True'), want: true },
    { name: 'not heard since the judge began', heard: 50, judging: 51, was: ready('True'), want: false },
    { name: 'known to be away', heard: 50, judging: 0, was: ready('False'), want: false },
    { name: 'never heard', heard: undefined, judging: 0, was: ready('True'), want: false },
  ])('$name: $want', ({ heard, judging, was, want }) => {
    const lastHeartbeatAt = heard === undefined ? undefined : secondsAfterNoon(heard);
    const judge = { now: secondsAfterNoon(100), since: secondsAfterNoon(judging) };
    expect(isMissed({ lastHeartbeatAt, conditions: was }, judge)).toBe(want);
  });
});

describe('isUnanswering', () => {
  test.each([
    { name: 'asked without an answer, and not heard since', heard: 90, unanswered: 93, want: true },
    { name: 'heard since', heard: 94, unanswered: 93, want: false },
    { name: 'heard while it was asked', heard: 93.1, unanswered: 93, want: false },
    { name: 'never asked in vain', heard: 90, unanswered: undefined, want: false },
    { name: 'never heard', heard: undefined, unanswered: 93, want: false },
  ])('$name: $want', ({ heard, unanswered, want }) => {
    const at = (seconds: number | undefined) =>
      seconds === undefined ? undefined : secondsAfterNoon(seconds);
    expect(isUnanswering({ lastHeartbeatAt: at(heard) }, at(unanswered))).toBe(want);
  });
});
