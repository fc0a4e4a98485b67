import { describe, expect, test } from '@jest/globals';
import { failuresPerHour, lossPerYear, lossWithNodes, meanHoursToLoss } from './durability.js';

describe('a volume without copies in the wrong place', () => {
  test.each([
    { rate: 0.0131, hours: 6, copies: 2, mean: 3.68273e10, year: 2.38e-7 },
    { rate: 0.0131, hours: 6, copies: 3, mean: 2.7202e15, year: 3.223e-12 },
    { rate: 0.0157, hours: 1, copies: 2, mean: 1.53431e11, year: 5.713e-8 },
    { rate: 0.0157, hours: 6, copies: 3, mean: 1.57399e15, year: 5.569e-12 },
    { rate: 0.0157, hours: 24, copies: 3, mean: 9.83858e13, year: 8.91e-11 },
    { rate: 0.03, hours: 24, copies: 2, mean: 1.72597e9, year: 5.079e-6 },
  ])('of $copies copies, $rate failures a year and $hours h of repair is lost as worked out', (one) => {
    const disk = { failuresPerHour: failuresPerHour(one.rate), repairHours: one.hours };
    const mean = meanHoursToLoss(one.copies, 0, disk);
    expect(mean / one.mean).toBeCloseTo(1, 4);
    expect(lossPerYear(mean) / one.year).toBeCloseTo(1, 3);
  });

  test('that has one copy is lost with its disk', () => {
    const disk = { failuresPerHour: 0.001, repairHours: 5 };
    expect(meanHoursToLoss(1, 0, disk)).toBeCloseTo(1000, 9);
  });

  test('that lacks copies now is lost sooner, and never later than with one copy less', () => {
    const disk = { failuresPerHour: failuresPerHour(0.02), repairHours: 10 };
    const means = [0, 1, 2].map((failed) => meanHoursToLoss(3, failed, disk));
    expect([...means].sort((a, b) => b - a)).toEqual(means);
    expect(means[2]).toBeGreaterThan(meanHoursToLoss(1, 0, disk));
  });
});

test.each([
  { sets: 84, nodes: 9, copies: 3, wanted: 1 },
  { sets: 3, nodes: 9, copies: 3, wanted: 0.0357 },
  { sets: 4, nodes: 12, copies: 3, wanted: 0.01818 },
  { sets: 10, nodes: 2, copies: 3, wanted: 0 },
])(
  '$sets sets of $copies of $nodes nodes: some volume is lost with $copies at $wanted',
  ({ wanted, ...given }) => {
    expect(lossWithNodes(given.sets, given.nodes, given.copies)).toBeCloseTo(wanted, 4);
  },
);
