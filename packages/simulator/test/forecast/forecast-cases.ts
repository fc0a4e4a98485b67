/** Changes by chance on clusters by chance, each compared with what was forecast of it. */
import { loadWhatIf } from '@holdfast/control/use-cases/what-if.js';
import { answerWhatIf } from '@holdfast/core/forecast/answer-what-if.js';
import type { Forecast } from '@holdfast/core/forecast/forecast.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { make, randomChange } from './random-change.js';
import { type RandomCluster, randomCluster } from './random-cluster.js';
import { differences, watchChange } from './watch-change.js';

/** After the end that was told: a rest of the worker, and whatever would come too late. */
const AFTERWARDS_SECONDS = 1500;
/** A range that is wider says nothing. Short times are left out: most of them is what control takes to notice. */
const RANGE_FACTOR_MAX = 4;
const SHORT_SECONDS = 30;

type Compared = {
  /** Cases that went otherwise, with what differs. */
  readonly missed: readonly string[];
  /** How many moved something, so that an end was told. */
  readonly timed: number;
  /** How many of these ends took long enough for their range to say something. */
  readonly ranges: number;
  /** Ranges that are too wide to say anything. */
  readonly wide: readonly NonNullable<Forecast['time']>[];
};

export async function compareForecasts(first: number, last: number): Promise<Compared> {
  const missed: string[] = [];
  const ends: NonNullable<Forecast['time']>[] = [];
  for (let seed = first; seed <= last; seed += 1) {
    const { problem, time } = await caseOf(await randomCluster(seed));
    if (problem !== undefined) missed.push(`case ${seed}: ${problem}`);
    if (time !== null) ends.push(time);
  }
  const told = ends.filter(({ lowSeconds }) => lowSeconds >= SHORT_SECONDS);
  const wide = told.filter(({ lowSeconds, p90Seconds }) => p90Seconds > RANGE_FACTOR_MAX * lowSeconds);
  return { missed, timed: ends.length, ranges: told.length, wide };
}

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
