import { Command } from 'commander';
import { bodyOf } from '../api.js';
import { Context, print } from '../context.js';
import { formatList } from '../output/format.js';
import { age, parseCount } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { ClusterEvent } from '../types.js';
import { addExportOptions, type ExportOptions, exportQuery, writeOut } from './export-options.js';

const DEFAULT_LIMIT = '20';

function columns(now: Date): Column<ClusterEvent>[] {
  return [
    { header: 'when', cell: (event) => `${age(event.at, now)} ago`, align: 'right' },
    {
      header: 'severity',
      cell: (event) => event.severity,
      tone: (event) => (event.severity === 'error' ? 'bad' : event.severity === 'warning' ? 'warn' : 'plain'),
    },
    { header: 'what', cell: (event) => event.type },
    { header: 'message', cell: (event) => event.message },
    { header: 'effects', cell: (event) => String(event.effects), align: 'right', wide: true },
    { header: 'at', cell: (event) => event.at, wide: true },
  ];
}

export function eventCommand(): Command {
  const event = new Command('event');
  event
    .command('list')
    .option('--limit <n>', 'at most so many', DEFAULT_LIMIT)
    .option('--volume <volume>', 'only about one volume, by name or id')
    .option('--filter <filter>', 'such as "severity!=info AND subjectKind=node"')
    .description('the last events, newest first')
    .action(async (options: { limit: string; volume?: string; filter?: string }, command: Command) => {
      const context = new Context(command);
      const volume = options.volume === undefined ? undefined : await context.volume(options.volume);
      const path = { clusterId: await context.clusterId() };
      const query = {
        limit: parseCount(options.limit),
        ...filterOf(volume?.id, options.filter),
      };
      const page = await bodyOf(context.api.GET('/clusters/{clusterId}/events', { params: { path, query } }));
      print(formatList(page.items, columns(context.now), context.output));
    });
  addExportOptions(event.command('export'), 'severity!=info')
    .description('write events to the output, oldest first, at most 100,000')
    .action(async (options: ExportOptions, command: Command) => {
      const context = new Context(command);
      const params = { path: { clusterId: await context.clusterId() }, query: exportQuery(options) };
      await writeOut(
        await bodyOf(context.api.GET('/clusters/{clusterId}/events/export', { params, parseAs: 'stream' })),
      );
    });
  return event;
}

function filterOf(volumeId: string | undefined, filter: string | undefined): { filter?: string } {
  const parts = [
    ...(volumeId === undefined ? [] : [`volumeId=${volumeId}`]),
    ...(filter === undefined ? [] : [`(${filter})`]),
  ];
  return parts.length === 0 ? {} : { filter: parts.join(' AND ') };
}
