/** What-ifs come true: on clusters by chance, a change does what was forecast, within the range that was told. */
import { loadWhatIf } from '@holdfast/control/use-cases/what-if.js';
import { answerWhatIf } from '@holdfast/core/forecast/answer-what-if.js';
import type { Forecast } from '@holdfast/core/forecast/forecast.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { expect, test } from '@jest/globals';
import { make, randomChange } from './random-change.js';
import { type RandomCluster, randomCluster } from './random-cluster.js';
import { differences, watchChange } from './watch-change.js';

const CASES = 100;
const MISSED_MAX = 5;
/** After the end that was told: a rest of the worker, and whatever would come too late. */
const AFTERWARDS_SECONDS = 1500;
/** A range that is wider says nothing. Short times are left out: most of them is what control takes to notice. */
const RANGE_FACTOR_MAX = 4;
const SHORT_SECONDS = 30;

test('at least 95 of 100 forecasts come true', async () => {
  const missed: string[] = [];
  const ranges: NonNullable<Forecast['time']>[] = [];
  for (let seed = 1; seed <= CASES; seed += 1) {
    const { problem, time } = await caseOf(await randomCluster(seed));
    if (problem !== undefined) missed.push(`case ${seed}: ${problem}`);
    if (time !== null) ranges.push(time);
  }
  expect(missed.length > MISSED_MAX ? missed : []).toEqual([]);
  // Most of the changes move something, and the ranges say when.
  expect(ranges.length).toBeGreaterThan(CASES / 2);
  const told = ranges.filter(({ lowSeconds }) => lowSeconds >= SHORT_SECONDS);
  const wide = told.filter(({ lowSeconds, p90Seconds }) => p90Seconds > RANGE_FACTOR_MAX * lowSeconds);
  expect(told.length).toBeGreaterThan(CASES / 10);
  expect(wide).toEqual([]);
}, 300_000);

async function caseOf({ world }: RandomCluster): Promise<{ problem?: string; time: Forecast['time'] }> {
  const { useCases, clusterId, clock } = world;
  for (;;) {
    const request = randomChange(world);
    try {
      const view = await loadWhatIf(useCases, clusterId, request);
      const { forecast } = answerWhatIf(request, view, clock.now());
      const reality = await watchChange(world, async () => {
        await make(request, world);
        await world.run((forecast.time?.p90Seconds ?? 0) + AFTERWARDS_SECONDS);
      });
      const found = differences(forecast, reality);
      const { time } = forecast;
      return found.length === 0
        ? { time }
        : { time, problem: `${JSON.stringify(request)}: ${found.join('; ')}` };
    } catch (error) {
      // A drain of the last node, say: another change is asked about.
      if (!isFault(error, 'request.invalid')) throw error;
    }
  }
}
