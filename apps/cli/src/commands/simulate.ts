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
import { parseChoice } from '../output/choices.js';

type Options = { against: string };

/** `holdfast simulate`: runs scenario files through the product's own rules and reconcilers. */
export function simulateCommand(): Command {
  return new Command('simulate')
    .description('run scenario files: given, steps and expectations')
    .argument('<files...>', 'scenario files (docs/scenarios.md)')
    .option('--against <target>', `${TARGETS.join(' or ')}`, 'simulator')
    .addHelpText(
      'after',
      '\nPrints one line per scenario, and of one that fails what led to it; the last line is `N passed, M failed`.' +
        '\nExit code 3 when any failed, 2 when a file is no scenario.',
    )
    .action(async (files: string[], options: Options) => {
      const target = parseChoice<Target>(options.against, { simulator: true, local: true });
      const scenarios = await readFiles(files);
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

function driverFor(_target: Target, { seed }: Scenario): ScenarioDriver {
  return new SimDriver(seed);
}

type ReadFile = { readonly file: string; readonly scenario: Scenario };

/** All files are read before any is run, so that a mistake in the last one is told at once. */
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

/** The size is asked for before anything is read. */
async function textOf(file: string): Promise<string> {
  const entry = await stat(file).catch(() => undefined);
  if (entry?.isFile() !== true) throw new CliError(EXIT.usage, `there is no file ${file}`);
  if (entry.size > FILE_BYTES_MAX) {
    throw new CliError(EXIT.usage, `${file}:1: the file is larger than ${FILE_BYTES_MAX} bytes`);
  }
  return readFile(file, 'utf8');
}
