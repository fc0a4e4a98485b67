/** Order in which a lane's parts are requested and handled. */
import { expect, test } from '@jest/globals';
import { eachPart, Lane, PART_WINDOWS, type WindowSpan } from './lanes.js';

const PARTS = 8;
const SPAN = { first: 0, end: PARTS * PART_WINDOWS };

/** Walks a layer of which the source holds something in these parts, and records what was done in which order. */
async function walked(
  held: readonly number[],
  options: { asksAhead: boolean; lanes?: number; own?: readonly number[] },
) {
  const { asksAhead, lanes = 1, own = [] } = options;
  // The cast: a walk only asks it for its parts.
  const lane = new Lane({} as Lane['control'], {} as Lane['client'], 0, lanes);
  const log: string[] = [];
  const partOf = ({ first }: WindowSpan) => Math.floor(first / PART_WINDOWS);
  await eachPart(
    lane,
    SPAN,
    (window) => own.map((part) => part * PART_WINDOWS).find((first) => first >= window),
    async (part) => {
      log.push(`ask ${partOf(part)}`);
      const next = held.find((one) => one > partOf(part));
      await new Promise((resolve) => setImmediate(resolve));
      return { next: next === undefined ? null : next * PART_WINDOWS };
    },
    async (part) => {
      log.push(`handle ${partOf(part)}`);
    },
    asksAhead,
  );
  return log;
}

test('the next part is asked for when the answer for this one is there', async () => {
  expect(await walked([0, 1, 2], { asksAhead: false })).toEqual([
    'ask 0',
    'ask 1',
    'handle 0',
    'ask 2',
    'handle 1',
    'handle 2',
  ]);
});

test('one that asks ahead asks before that answer, and uses what it asked for', async () => {
  expect(await walked([0, 1, 2], { asksAhead: true })).toEqual([
    'ask 0',
    'ask 1',
    'ask 2',
    'handle 0',
    'ask 3',
    'handle 1',
    'handle 2',
  ]);
});

test('a part that was asked for in vain is left: every part with data is handled once, and no other', async () => {
  const log = await walked([0, 3, 4, 7], { asksAhead: true });
  const handled = log.filter((line) => line.startsWith('handle'));
  expect(handled).toEqual(['handle 0', 'handle 3', 'handle 4', 'handle 7']);
  expect(log.filter((line) => line === 'ask 4')).toHaveLength(1);
});

test('of two lanes each asks for its own parts only', async () => {
  const log = await walked([0, 1, 2, 3], { asksAhead: true, lanes: 2 });
  expect(log.every((line) => Number(line.split(' ')[1]) % 2 === 0)).toBe(true);
  expect(log.filter((line) => line.startsWith('handle'))).toEqual(['handle 0', 'handle 2', 'handle 4']);
});

test('a part that only the target holds is asked for too: it may have to be emptied', async () => {
  const log = await walked([0, 5], { asksAhead: false, own: [2, 7] });
  expect(log.filter((line) => line.startsWith('handle'))).toEqual(
    [0, 2, 5, 7].map((part) => `handle ${part}`),
  );
});

test.each([1, 2, 3])('of %i lanes exactly one owns each window, the one that asks for its part', (count) => {
  // The cast: which parts a lane owns has nothing to do with its source.
  const lanes = Array.from(
    { length: count },
    (_, index) => new Lane({} as Lane['control'], {} as Lane['client'], index, count),
  );
  for (let window = SPAN.first; window < SPAN.end; window += PART_WINDOWS / 2) {
    const owners = lanes.filter((lane) => lane.owns(window));
    expect(owners).toEqual(lanes.filter((lane) => lane.partFrom(window, SPAN)?.first === window));
    expect(owners).toHaveLength(1);
  }
});
