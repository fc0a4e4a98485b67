import { readFile, stat } from 'node:fs/promises';
import type { ScenarioDriver } from '@holdfast/scenario/driver.js';
import { FILE_BYTES_MAX, readScenario } from '@holdfast/scenario/read-scenario.js';
import { resultText } from '@holdfast/scenario/result-text.js';
import { runScenario } from '@holdfast/scenario/run-scenario.js';
import { type Scenario, TARGETS, type Target } from '@holdfast/scenario/scenario.js';
import { SimDriver } from '@holdfast/simulator/scenario/sim-driver.js';
import { Command } from 'commander';
import { print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { LocalDriver } from '../local-scenario/local-driver.js';
import { parseChoice } from '../output/choices.js';
import { parseCount } from '../output/quantities.js';
import { type SearchRequest, searchFaults } from './simulate-random.js';

type Options = {
  against: string;
  random?: boolean;
  seeds: string;
  seedFrom: string;
  seed?: string;
  hours: string;
  nodes?: string;
  volumes?: string;
  stepsPerHour?: string;
};

/** `holdfast simulate`: runs scenario files through the product's own rules and reconcilers. */
export function simulateCommand(): Command {
  return new Command('simulate')
    .argument('[files...]', 'scenario files (docs/scenarios.md)')
    .option('--against <target>', `${TARGETS.join(' or ')}`, 'simulator')
    .option('--random', 'run random scenarios instead of files, and watch the invariants')
    .option('--seeds <number>', 'with --random: how many', '100')
    .option('--seed-from <number>', 'with --random: the first of them', '1')
    .option('--seed <number>', 'with --random: this one only')
    .option('--hours <number>', 'with --random: virtual hours of each', '1')
    .option('--nodes <number>', 'with --random: nodes of each cluster, else 3 to 60')
    .option('--volumes <number>', 'with --random: volumes of each cluster')
    .option('--steps-per-hour <number>', 'with --random: else 30 an hour for two hours, then four a day')
    .addHelpText(
      'after',
      '\nPrints one line per scenario, and the history of a failed one; the last line is `N passed, M failed`.' +
        '\nExit code 3 when any failed, 2 when a file is no scenario.',
    )
    .action(async (files: string[], options: Options) => {
      if (options.random === true) return searchFaults(searchRequest(files, options));
      if (files.length === 0) throw new CliError(EXIT.usage, 'name a scenario file, or use --random');
      const target = parseChoice<Target>(options.against, { simulator: true, local: true });
      const scenarios = await readFiles(files);
      for (const scenario of scenarios) assertAgainst(target, scenario);
      const counts = { passed: 0, failed: 0 };
      for (const { file, scenario } of scenarios) {
        const result = await runScenario(scenario, driverFor(target, scenario));
        counts[result.kind] += 1;
        print(resultText(file, scenario, result));
      }
      print(`${counts.passed} passed, ${counts.failed} failed`);
      if (counts.failed > 0) process.exitCode = EXIT.unsatisfied;
    });
}

function searchRequest(files: readonly string[], options: Options): SearchRequest {
  if (files.length > 0) throw new CliError(EXIT.usage, '--random takes no files');
  const first = positive('--seed-from', options.seedFrom);
  const seeds =
    options.seed === undefined
      ? Array.from({ length: positive('--seeds', options.seeds) }, (_, index) => first + index)
      : [positive('--seed', options.seed)];
  const optional = (flag: string, text: string | undefined) =>
    text === undefined ? undefined : positive(flag, text);
  const size = {
    hours: hoursOf(options.hours),
    nodes: optional('--nodes', options.nodes),
    volumes: optional('--volumes', options.volumes),
    stepsPerHour: optional('--steps-per-hour', options.stepsPerHour),
  };
  return { seeds, size };
}

function positive(flag: string, text: string): number {
  const number = parseCount(text);
  if (number < 1) throw new CliError(EXIT.usage, `${flag} must be at least 1`);
  return number;
}

/** A month: a longer run is a typing error. */
const HOURS_MAX = 24 * 31;

function hoursOf(text: string): number {
  const hours = Number(text);
  if (hours > 0 && hours <= HOURS_MAX) return hours;
  throw new CliError(EXIT.usage, `--hours must be more than 0 and at most ${HOURS_MAX}`);
}

function driverFor(target: Target, { seed }: Scenario): ScenarioDriver {
  return target === 'local' ? new LocalDriver(process.env) : new SimDriver(seed);
}

function assertAgainst(target: Target, { file, scenario }: ReadFile): void {
  if (scenario.against.includes(target)) return;
  throw new CliError(EXIT.usage, `${file}:1: the scenario is not for --against ${target}`, [
    'its field `against` lists where it can be run',
  ]);
}

type ReadFile = { readonly file: string; readonly scenario: Scenario };

/** All files are read before any is run, so that an error in the last one is reported at once. */
async function readFiles(files: readonly string[]): Promise<ReadFile[]> {
  const read: ReadFile[] = [];
  const problems: string[] = [];
  for (const file of files) {
    const result = readScenario(await textOf(file));
    if (result.kind === 'read') read.push({ file, scenario: result.scenario });
    else problems.push(...result.problems.map(({ line, message }) => `${file}:${line}: ${message}`));
  }
  const [first, ...others] = problems;
  if (first !== undefined) throw new CliError(EXIT.usage, first, others);
  return read;
}

/** The size is checked before anything is read. */
async function textOf(file: string): Promise<string> {
  const entry = await stat(file).catch(() => undefined);
  if (entry?.isFile() !== true) throw new CliError(EXIT.usage, `there is no file ${file}`);
  if (entry.size > FILE_BYTES_MAX) {
    throw new CliError(EXIT.usage, `${file}:1: the file is larger than ${FILE_BYTES_MAX} bytes`);
  }
  return readFile(file, 'utf8');
}
