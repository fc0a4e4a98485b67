import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { asId } from '@holdfast/core/model/ids.js';
import { beforeEach, expect, test } from '@jest/globals';
import { InFlightJobs, withoutAwaited } from '../src/in-flight-jobs.js';

const A: WakeUp = { kind: 'volume', volumeId: asId('a') };
const B: WakeUp = { kind: 'cluster', clusterId: asId('b') };

let nowMs: number;
let inFlightJobs: InFlightJobs;

beforeEach(() => {
  nowMs = 0;
  inFlightJobs = new InFlightJobs(() => nowMs);
});

test('what was handed over is awaited until it begins', () => {
  inFlightJobs.note(A);
  expect([A, B].map((wakeUp) => inFlightJobs.isAwaited(wakeUp))).toEqual([true, false]);
  inFlightJobs.began(A);
  expect(inFlightJobs.isAwaited(A)).toBe(false);
});

test('what does not begin is awaited for ten seconds after it was last handed over', () => {
  inFlightJobs.note(A);
  inFlightJobs.note(B);
  nowMs = 5_000;
  inFlightJobs.note(A);
  nowMs = 10_000;
  expect([A, B].map((wakeUp) => inFlightJobs.isAwaited(wakeUp))).toEqual([true, false]);
  nowMs = 15_000;
  expect(inFlightJobs.isAwaited(A)).toBe(false);
});

test('the sweep adds what is not awaited', async () => {
  const added: WakeUp[] = [];
  const queue = withoutAwaited({ wake: async (wakeUp) => void added.push(wakeUp) }, inFlightJobs);
  inFlightJobs.note(A);
  await queue.wake(A);
  await queue.wake(B);
  expect(added).toEqual([B]);
});
