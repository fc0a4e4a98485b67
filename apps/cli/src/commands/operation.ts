import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Command } from 'commander';
import { bodyOf, itemsOf } from '../api.js';
import { Context, print, printLine } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import { age } from '../output/quantities.js';
import { rebuildLook } from '../output/states.js';
import type { Column } from '../output/table.js';
import type { Operation } from '../types.js';
import { waitFor } from '../wait.js';

const OPERATION = '/clusters/{clusterId}/operations/{operationId}';
const ACTIVE = 'state in (queued, running)';

function columns(now: Date): Column<Operation>[] {
  return [
    { header: 'kind', cell: ({ kind }) => kind },
    { header: 'of', cell: ({ target }) => `${target.kind} ${target.id}` },
    {
      header: 'state',
      cell: ({ state }) => rebuildLook(state).text,
      tone: ({ state }) => rebuildLook(state).tone,
    },
    { header: 'step', cell: ({ steps }) => steps.find(({ state }) => state === 'current')?.name ?? '-' },
    { header: 'done', cell: progressText, align: 'right' },
    { header: 'left', cell: (operation) => leftText(operation, now), align: 'right' },
    { header: 'asked for', cell: ({ requestedAt }) => `${age(requestedAt, now)} ago`, align: 'right' },
    { header: 'note', cell: ({ message }) => message },
    { header: 'id', cell: ({ id }) => id, wide: true },
  ];
}

function progressText({ progress }: Operation): string {
  if (progress === null || progress.done === null) return '-';
  const { done, total, unit } = progress;
  if (unit === 'percent') return `${done}%`;
  const text = (count: number) => (unit === 'bytes' ? formatBytes(count) : String(count));
  return total === null ? text(done) : `${text(done)} of ${text(total)}`;
}

function leftText({ eta }: Operation, now: Date): string {
  if (eta === null) return '-';
  const [even, sure] = [eta.p50, eta.p90].map((at) => age(now.toISOString(), new Date(at)));
  return even === sure ? `${even}` : `${even} to ${sure}`;
}

export function operationCommand(): Command {
  const operation = new Command('operation');
  operation
    .command('list')
    .option('--active', 'only running and waiting ones')
    .option('--filter <filter>', 'such as "kind=drain AND state=running"')
    .description('operations, the last ones first')
    .action(async (options: { active?: boolean; filter?: string }, command: Command) => {
      const context = new Context(command);
      const parts = [...(options.active === true ? [ACTIVE] : []), ...bracketed(options.filter)];
      const filter = parts.length === 0 ? {} : { filter: parts.join(' AND ') };
      const path = { clusterId: await context.clusterId() };
      const found = await itemsOf((page) =>
        context.api.GET('/clusters/{clusterId}/operations', {
          params: { path, query: { ...filter, ...page } },
        }),
      );
      print(formatList(found, columns(context.now), context.output));
    });
  operation
    .command('get')
    .argument('<operation>', 'id')
    .description('one operation')
    .action(async (id: string, _options: object, command: Command) => {
      const context = new Context(command);
      show(await bodyOf(context.api.GET(OPERATION, await at(context, id))), context);
    });
  operation
    .command('cancel')
    .argument('<operation>', 'id')
    .description('cancel a rebuild, a verification, a drain or an eviction')
    .action(async (id: string, _options: object, command: Command) => {
      const context = new Context(command);
      const address = { ...(await at(context, id)), body: {} };
      const cancelled = await bodyOf(context.api.POST(`${OPERATION}/cancel`, address));
      printLine(context, cancelled, `${id}: ${cancelled.state}`);
    });
  operation
    .command('wait')
    .argument('<operation>', 'id')
    .description('wait until one has ended; exit code 3 unless it succeeded')
    .action(async (id: string, _options: object, command: Command) => {
      const context = new Context(command);
      const address = await at(context, id);
      const read = () => bodyOf(context.api.GET(OPERATION, address));
      const ended = await waitFor(read, ({ finishedAt }) => finishedAt !== null, context.timeoutMs, id);
      show(ended, context);
      if (ended.state !== 'succeeded')
        throw new CliError(EXIT.unsatisfied, `${ended.kind}: ${ended.state} ${ended.message}`.trimEnd());
    });
  return operation;
}

function bracketed(filter: string | undefined): string[] {
  return filter === undefined ? [] : [`(${filter})`];
}

function show(operation: Operation, context: Context): void {
  const text = () => formatList([operation], columns(context.now), context.output);
  print(formatItem(operation, text, context.output));
}

async function at(context: Context, operationId: string) {
  return { params: { path: { clusterId: await context.clusterId(), operationId } } };
}
