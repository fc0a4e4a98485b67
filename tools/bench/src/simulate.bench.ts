// How fast the fault search runs: virtual days of one cluster per minute of one core, healing included. Small clusters with its
// usual thirty steps an hour, and 30 nodes with 300 volumes with as many steps a day as a long search makes, and with thirty. Beside
// each a run of the same cluster in which nothing happens, which shows what steps and faults cost.

import {
  generateScenario,
  LATER_STEPS_PER_DAY,
  type SearchSize,
} from '@holdfast/simulator/search/generate.js';
import { runSearch } from '@holdfast/simulator/search/run-search.js';
import { report } from './report.js';
import type { RunOptions } from './run-options.js';

const SECONDS_PER_DAY = 86_400;
const CPU_MICROSECONDS_PER_MINUTE = 60_000_000;
/** Of a cluster with 30 nodes and 300 volumes, on one core. */
const TARGET_DAYS = 200;
const MANY_STEPS_PER_DAY = 30;

type Case = {
  readonly name: string;
  readonly seeds: number;
  readonly size: SearchSize;
  readonly target?: number;
};

export async function run({ quick }: RunOptions): Promise<void> {
  const days = quick ? 2 : 10;
  const large = (perDay: number, target?: number): Case => ({
    name: `30 nodes, 300 volumes, ${perDay} steps a day`,
    seeds: quick ? 3 : 8,
    size: { hours: 24 * days, nodes: 30, volumes: 300, stepsPerHour: perDay / 24 },
    ...(target === undefined ? {} : { target }),
  });
  const cases: Case[] = [
    { name: 'small clusters, 30 steps an hour', seeds: quick ? 20 : 100, size: { hours: 0.5 } },
    large(LATER_STEPS_PER_DAY, TARGET_DAYS),
    large(MANY_STEPS_PER_DAY),
  ];
  // Compiled code is measured, not its compilation.
  await daysPerMinute({ name: 'warm-up', seeds: 10, size: { hours: 0.5 } }, false);
  for (const one of cases) {
    report({
      bench: 'simulate',
      case: one.name,
      metric: 'cluster-days a minute',
      value: await daysPerMinute(one, false),
      baseline: await daysPerMinute(one, true),
      unit: 'days/min',
      better: 'higher',
      ...(one.target === undefined ? {} : { target: one.target }),
    });
  }
}

async function daysPerMinute({ seeds, size }: Case, isCalm: boolean): Promise<number> {
  const from = process.cpuUsage();
  let seconds = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    const value = generateScenario(seed, size);
    const last = value.steps.at(-1);
    const calm = { ...value, steps: last === undefined ? [] : [last] };
    const { problems, seconds: virtual } = await runSearch(isCalm ? calm : value);
    if (problems.length > 0) throw new Error(`seed ${seed} fails: ${problems.join('; ')}`);
    seconds += virtual;
  }
  const { user, system } = process.cpuUsage(from);
  return seconds / SECONDS_PER_DAY / ((user + system) / CPU_MICROSECONDS_PER_MINUTE);
}
