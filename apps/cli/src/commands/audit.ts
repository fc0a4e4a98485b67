import { Command } from 'commander';
import { bodyOf } from '../api.js';
import { Context, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import { age, parseCount } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { AuditEntry, AuditVerification } from '../types.js';
import { addExportOptions, type ExportOptions, exportQuery, writeOut } from './export-options.js';

const DEFAULT_LIMIT = '20';

function columns(now: Date): Column<AuditEntry>[] {
  return [
    { header: 'when', cell: (entry) => `${age(entry.at, now)} ago`, align: 'right' },
    { header: 'user', cell: ({ actor }) => actor.id },
    { header: 'from', cell: ({ address }) => address },
    {
      header: 'result',
      cell: ({ result, reason }) => (result === 'done' ? result : `${result}: ${reason}`),
      tone: ({ result }) => (result === 'done' ? 'plain' : 'warn'),
    },
    { header: 'action', cell: ({ action }) => action },
    { header: 'target', cell: ({ target }) => `${target.kind} ${target.id}` },
    { header: 'at', cell: (entry) => entry.at, wide: true },
    { header: 'request', cell: ({ requestId }) => requestId, wide: true },
  ];
}

export function auditCommand(): Command {
  const audit = new Command('audit');
  addList(audit);
  addExport(audit);
  addVerify(audit);
  return audit;
}

function addList(audit: Command): void {
  audit
    .command('list')
    .option('--limit <n>', 'at most so many', DEFAULT_LIMIT)
    .option('--filter <filter>', 'such as "result=refused AND targetKind=volume"')
    .description('the last entries, newest first')
    .action(async ({ limit, filter }: { limit: string; filter?: string }, command: Command) => {
      const context = new Context(command);
      const query = { limit: parseCount(limit), ...(filter === undefined ? {} : { filter }) };
      const page = await bodyOf(context.api.GET('/audit', { params: { query } }));
      print(formatList(page.items, columns(context.now), context.output));
    });
}

function addExport(audit: Command): void {
  addExportOptions(audit.command('export'), 'at>2026-01-01T00:00:00Z')
    .description('write entries to the output, oldest first, at most 100,000')
    .action(async (options: ExportOptions, command: Command) => {
      const context = new Context(command);
      const query = exportQuery(options);
      await writeOut(
        await bodyOf(context.api.GET('/audit/export', { params: { query }, parseAs: 'stream' })),
      );
    });
}

function addVerify(audit: Command): void {
  audit
    .command('verify')
    .option('--expect <place:hash>', 'a place that was noted earlier, such as 1042:9f86d0…')
    .description('compute all hashes of the log anew; exit code 3 when an entry was changed, with its number')
    .action(async ({ expect }: { expect?: string }, command: Command) => {
      const context = new Context(command);
      const expected = expect === undefined ? undefined : parsePlace(expect);
      const report = await verifyAll(context, expected);
      print(formatItem(report, () => describe(report), context.output));
      if (!report.intact) throw new CliError(EXIT.unsatisfied, brokenText(report));
    });
}

/** Long logs are verified in parts, each within a request. */
async function verifyAll(context: Context, expected: Place | undefined): Promise<AuditVerification> {
  const ask = (body: { after?: number; expected?: Place }) =>
    bodyOf(context.api.POST('/audit/verify', { body }));
  const first = await ask(expected === undefined ? {} : { expected });
  let report = first;
  let { checked } = first;
  while (report.nextAfter !== null) {
    report = await ask({ after: report.nextAfter });
    checked += report.checked;
  }
  return { ...report, from: first.from, checked };
}

type Place = { sequence: number; hash: string };

function parsePlace(text: string): Place {
  const [, sequence, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (sequence === undefined || hash === undefined)
    throw new CliError(EXIT.usage, `${text} is no place in the log`, [
      'write its number, a colon and its hash',
    ]);
  return { sequence: Number(sequence), hash };
}

function describe(report: AuditVerification): string {
  const { checked, from, through, unsealed } = report;
  const begin =
    from.sequence === 0 ? 'its first entry' : `entry ${from.sequence + 1}, older ones were pruned`;
  const lines = [
    report.intact ? `the audit log holds, from ${begin}` : brokenText(report),
    `checked    ${checked}`,
    `holds to   ${through.sequence}:${through.hash}`,
  ];
  return [...lines, ...(unsealed === 0 ? [] : [`not sealed yet  ${unsealed}`])].join('\n');
}

const WHY: Readonly<Record<NonNullable<AuditVerification['broken']>['why'], string>> = {
  'entry-missing': 'it was deleted',
  'entry-changed': 'it was changed, or its hash was',
  'entry-unlinked': 'it was kept out of the chain',
  'link-missing': 'its hash was deleted',
  'other-head': 'it has another hash than was expected',
};

function brokenText({ broken }: AuditVerification): string {
  if (broken === null) return '';
  const number = broken.entryId === null ? '' : ` (number ${broken.entryId})`;
  return `the audit log does not hold at entry ${broken.sequence}${number}: ${WHY[broken.why]}`;
}
