import { stat, writeFile } from 'node:fs/promises';
import { inspectCluster, isLonghorn } from '@holdfast/longhorn/inspect-cluster.js';
import { type InspectionReport, SEVERITIES, type Severity } from '@holdfast/longhorn/inspection/report.js';
import { htmlOf } from '@holdfast/longhorn/output/html.js';
import { redacted } from '@holdfast/longhorn/output/redact.js';
import { sarifOf } from '@holdfast/longhorn/output/sarif.js';
import { readSource } from '@holdfast/longhorn/read-cluster.js';
import { Command } from 'commander';
import { outputOf, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem } from '../output/format.js';
import { addRestoreCommands } from './longhorn-restore.js';
import { inspectionText } from './longhorn-text.js';

type InspectOptions = { failOn: string; redact?: boolean; html?: string; sarif?: string };
type FailOn = Severity | 'never';
const FAIL_ON: readonly FailOn[] = [...SEVERITIES, 'never'];

/** `holdfast longhorn`: reads clusters of Longhorn from files, and its backups and replicas. Needs no stack, no database and no network. */
export function longhornCommand(): Command {
  const command = new Command('longhorn');
  command
    .command('inspect')
    .argument('<path>', 'a support bundle, a dump of kubectl, a system backup, or a folder of any of these')
    .description('problems of a Longhorn cluster: volumes first, with reasons and cures')
    .option('--redact', 'names, addresses and ids become numbered words, the same one everywhere')
    .option('--html <file>', 'writes the report as one HTML file that needs nothing else')
    .option('--sarif <file>', 'writes the report in SARIF, for CI')
    .option('--fail-on <severity>', `least severity for exit code 1: ${FAIL_ON.join(', ')}`, 'warning')
    .addHelpText(
      'after',
      '\nExit code 0: nothing at or above --fail-on; 1: something; 2: there is nothing of Longhorn that can be read.' +
        '\nThe form of -o json is docs/longhorn-inspect.schema.json.',
    )
    .action(async (path: string, options: InspectOptions, given: Command) => {
      const failOn = FAIL_ON.find((one) => one === options.failOn);
      if (failOn === undefined)
        throw new CliError(EXIT.usage, `--fail-on takes ${FAIL_ON.join(', ')}, and not ${options.failOn}`);
      const output = outputOf(given);
      const report = await inspect(path, options.redact === true);
      if (options.html !== undefined) await writeReport(options.html, htmlOf(report));
      if (options.sarif !== undefined)
        await writeReport(options.sarif, `${JSON.stringify(sarifOf(report), null, 2)}\n`);
      print(formatItem(report, () => inspectionText(report, output), output));
      if (isReached(report, failOn)) process.exitCode = EXIT.unexpected;
    });
  addRestoreCommands(command);
  return command;
}

async function writeReport(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new CliError(
      EXIT.usage,
      `${file} can not be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function inspect(path: string, isRedacted: boolean): Promise<InspectionReport> {
  const entry = await stat(path).catch(() => undefined);
  if (entry === undefined) throw new CliError(EXIT.usage, `there is no file or folder ${path}`);
  const now = timeOf(path) ?? entry.mtime;
  const source = await readSource(path, now);
  const { cluster } = source;
  if (!isLonghorn(cluster)) {
    const problems = cluster.problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
    throw new CliError(
      EXIT.usage,
      `${path} holds no objects of Longhorn that can be read`,
      problems.slice(0, 5),
    );
  }
  const report = inspectCluster(source, path, now);
  return isRedacted ? redacted(report, cluster) : report;
}

/** When a bundle was made, as its name says. */
function timeOf(path: string): Date | undefined {
  const found = /_(\d{4}-\d{2}-\d{2}T\d{2})-(\d{2})-(\d{2}Z)/.exec(path);
  const time = found === null ? undefined : new Date(`${found[1]}:${found[2]}:${found[3]}`);
  return time === undefined || Number.isNaN(time.getTime()) ? undefined : time;
}

/** An unreadable part counts as a warning: something may be wrong there. */
function isReached({ summary, problems }: InspectionReport, failOn: FailOn): boolean {
  if (failOn === 'never') return false;
  const counts: Record<Severity, number> = { ...summary, warning: summary.warning + problems.length };
  return SEVERITIES.slice(0, SEVERITIES.indexOf(failOn) + 1).some((severity) => counts[severity] > 0);
}
