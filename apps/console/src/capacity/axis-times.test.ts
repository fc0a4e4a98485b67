import { describe, expect, test } from '@jest/globals';
import { axisSpan, axisTimes, axisWords } from './axis-times';

const EVENING_S = Date.UTC(2026, 0, 1, 22) / 1_000;
const HOUR_S = 3_600;
const steps = (seconds: number) => [0, 1, 2, 3].map((step) => EVENING_S + step * seconds);

describe('times below a chart', () => {
  test('have the day where it begins', () => {
    expect(axisTimes(steps(HOUR_S), 'UTC')).toEqual(['22:00\nJan 1', '23:00', '00:00\nJan 2', '01:00']);
  });

  test('are days where they are days apart', () => {
    expect(axisTimes(steps(24 * HOUR_S), 'UTC')).toEqual(['Jan 1', 'Jan 2', 'Jan 3', 'Jan 4']);
  });

  test('are none where nothing was sampled', () => {
    expect(axisTimes([])).toEqual([]);
  });
});

describe('an axis', () => {
  test.each([
    { name: 'of one sample', times: [EVENING_S], from: EVENING_S - HOUR_S },
    { name: 'of samples of a few minutes', times: [EVENING_S - 300, EVENING_S], from: EVENING_S - HOUR_S },
    {
      name: 'of samples of a day',
      times: [EVENING_S - 24 * HOUR_S, EVENING_S - 300, EVENING_S],
      from: EVENING_S - 24 * HOUR_S,
    },
  ])('$name goes over an hour at least', ({ times, from }) => {
    expect(axisSpan(times)).toEqual([from, EVENING_S]);
  });

  test('says nothing twice where values are rounded to the same', () => {
    expect(axisWords([0, 0.25, 0.5, 1], (value) => `${Math.round(value)} B`)).toEqual(['0 B', '', '1 B', '']);
  });
});
