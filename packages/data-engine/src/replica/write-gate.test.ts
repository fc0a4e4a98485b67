/** Writes and exclusive operations of one copy: never at once. */
import { expect, test } from '@jest/globals';
import { WriteGate } from './write-gate.js';

test('an exclusive operation begins when all writes have ended, and no write begins before it has', async () => {
  const gate = new WriteGate();
  const log: string[] = [];
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  expect([gate.enter(), gate.enter()]).toEqual([undefined, undefined]);
  const alone = gate.alone(async () => {
    log.push('begun');
    await finished;
    log.push('ended');
  });
  const late = gate.enter();
  expect(late).toBeInstanceOf(Promise);
  const entered = late?.then(() => log.push('late write'));
  gate.leave();
  await new Promise(setImmediate);
  expect(log).toEqual([]);
  gate.leave();
  await new Promise(setImmediate);
  expect(log).toEqual(['begun']);
  finish();
  await Promise.all([alone, entered]);
  expect(log).toEqual(['begun', 'ended', 'late write']);
  expect(gate.isOpen).toBe(true);
});

test('of two exclusive operations the later waits for the other', async () => {
  const gate = new WriteGate();
  const log: string[] = [];
  const step = (name: string) => async () => {
    log.push(`${name} begun`);
    await new Promise(setImmediate);
    log.push(`${name} ended`);
  };
  await Promise.all([gate.alone(step('one')), gate.alone(step('two'))]);
  expect(log).toEqual(['one begun', 'one ended', 'two begun', 'two ended']);
});
