import { beforeEach, describe, expect, test } from '@jest/globals';
import { type ChangedIds, collectingSink } from './collect-changes.js';

type Event = Parameters<ReturnType<typeof collectingSink>['event']>[0];

const told: ChangedIds[] = [];
/** What waits for the time to collect to be over. */
let waiting: (() => void) | undefined;
const after = (run: () => void) => {
  waiting = run;
  return () => {
    waiting = undefined;
  };
};
function timeIsOver(): void {
  const run = waiting;
  waiting = undefined;
  run?.();
}
const nothing = () => undefined;
const sink = () =>
  collectingSink(
    { ids: (changed) => told.push(changed), gap: nothing, keepAlive: nothing, end: nothing },
    after,
  );
const changeOf = (kind: string, id: string) => ({ clusterId: 'c', subject: { kind, id } });
/** Of an event only its subject and its volume are read. */
const eventOf = (id: string, subject: Event['subject'], volumeId: string | null) =>
  ({ id, subject, volumeId }) as Event;

beforeEach(() => {
  told.length = 0;
  waiting = undefined;
});

describe('changes that are told by their ids', () => {
  test('are told at once, and what comes soon after that once and together', () => {
    const { change } = sink();
    for (const id of ['a', 'b', 'a', 'b', 'a']) change(changeOf('volume', id));
    expect(told).toEqual([{ volume: ['a'] }]);
    timeIsOver();
    expect(told.slice(1)).toEqual([{ volume: ['b', 'a'] }]);
    timeIsOver();
    change(changeOf('node', 'n'));
    expect(told.slice(2)).toEqual([{ node: ['n'] }]);
  });

  test('name no more than a reader asks for one by one', () => {
    const { change } = sink();
    for (let at = 0; at <= 21; at += 1) change(changeOf('volume', `v${at}`));
    timeIsOver();
    expect(told[1]).toEqual({ volume: null });
  });

  test('name the volume of an event, and a rebuild by it', () => {
    const { event } = sink();
    event(eventOf('1-1', { kind: 'replica', id: 'r' }, 'v'));
    event(eventOf('1-2', { kind: 'rebuild', id: 'b' }, 'w'));
    timeIsOver();
    expect(told).toEqual([
      { event: ['1-1'], volume: ['v'], replica: ['r'] },
      { event: ['1-2'], volume: ['w'], rebuild: ['w'] },
    ]);
  });

  test('are not told after the end', () => {
    const { change, end } = sink();
    change(changeOf('volume', 'a'));
    change(changeOf('volume', 'b'));
    end();
    timeIsOver();
    expect(told).toHaveLength(1);
  });
});
