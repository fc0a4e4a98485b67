import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { asId } from '@holdfast/core/model/ids.js';
import { beforeEach, expect, test } from '@jest/globals';
import { HandedOver, withoutAwaited } from '../src/handed-over.js';

const A: WakeUp = { kind: 'volume', volumeId: asId('a') };
const B: WakeUp = { kind: 'cluster', clusterId: asId('b') };

let nowMs: number;
let handedOver: HandedOver;

beforeEach(() => {
  nowMs = 0;
  handedOver = new HandedOver(() => nowMs);
});

test('what was handed over is awaited until it begins', () => {
  handedOver.note(A);
  expect([A, B].map((wakeUp) => handedOver.isAwaited(wakeUp))).toEqual([true, false]);
  handedOver.began(A);
  expect(handedOver.isAwaited(A)).toBe(false);
});

test('what does not begin is awaited for ten seconds after it was last handed over', () => {
  handedOver.note(A);
  handedOver.note(B);
  nowMs = 5_000;
  handedOver.note(A);
  nowMs = 10_000;
  expect([A, B].map((wakeUp) => handedOver.isAwaited(wakeUp))).toEqual([true, false]);
  nowMs = 15_000;
  expect(handedOver.isAwaited(A)).toBe(false);
});

test('the sweep adds what is not awaited', async () => {
  const added: WakeUp[] = [];
  const queue = withoutAwaited({ wake: async (wakeUp) => void added.push(wakeUp) }, handedOver);
  handedOver.note(A);
  await queue.wake(A);
  await queue.wake(B);
  expect(added).toEqual([B]);
});
