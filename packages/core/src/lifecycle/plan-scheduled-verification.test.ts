import { AN_OWNER, anIdleVolume, NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import type { Volume } from '../model/volume.js';
import { planScheduledVerification, scheduledVerificationTimes } from './plan-scheduled-verification.js';

const HOURLY = { 'scheduled-volume-verification': true, 'volume-verification-cronjob': '@hourly' };
/** After the hour that follows noon, and the longest that a volume is put off. */
const LATER = secondsAfterNoon(7_200);

function view(part: Partial<Volume> = {}, settings: object = HOURLY) {
  return aVolumeView({
    volume: anIdleVolume(AN_OWNER, { epoch: 3, ...part }),
    replicas: ['a', 'b', 'c'].map((name) => aReplicaOn(`${name}-disk`)),
    fleet: aFleet({ a: {}, b: {}, c: {} }, settings),
  });
}

const compared = (requestedAt: Date) => ({
  requestedAt,
  finishedAt: requestedAt,
  state: 'done' as const,
  equal: true,
  replicas: [],
  message: '',
});

test.each<{ name: string; seen: ReturnType<typeof view>; now?: Date; begins: boolean }>([
  { name: 'a detached volume that is due', seen: view(), begins: true },
  { name: 'schedules that are switched off', seen: view({}, {}), begins: false },
  { name: 'a time before it is due', seen: view(), now: secondsAfterNoon(3_599), begins: false },
  { name: 'one that was compared since', seen: view({ verification: compared(LATER) }), begins: false },
  { name: 'one that was compared before', seen: view({ verification: compared(NOON) }), begins: true },
  { name: 'an attached volume', seen: view({ lifecycle: attachedOn('a') }), begins: false },
  { name: 'a volume that lacks a copy', seen: view({ robustness: 'degraded' }), begins: false },
  { name: 'a volume that was never attached', seen: view({ epoch: 0 }), begins: false },
])('$name begins a comparison: $begins', ({ seen, now = LATER, begins }) => {
  expect(planScheduledVerification(seen, now) !== undefined).toBe(begins);
});

test('its time is told beforehand, within an hour of the schedule', () => {
  const [due] = scheduledVerificationTimes(view());
  const seconds = ((due ?? NOON).getTime() - NOON.getTime()) / 1000;
  expect(seconds).toBeGreaterThanOrEqual(3_600);
  expect(seconds).toBeLessThan(7_200);
  expect(planScheduledVerification(view(), new Date((due ?? NOON).getTime() - 1))).toBeUndefined();
  expect(planScheduledVerification(view(), due ?? NOON)).toBeDefined();
});
