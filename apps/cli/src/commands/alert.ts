import { Command } from 'commander';
import { bodyOf, itemsOf } from '../api.js';
import { Context, print } from '../context.js';
import { formatItem, formatList } from '../output/format.js';
import { age } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { Alert, Silence } from '../types.js';

const SILENCES = '/clusters/{clusterId}/silences';

function columns(now: Date): Column<Alert>[] {
  return [
    {
      header: 'severity',
      cell: ({ severity }) => severity,
      tone: ({ severity }) => (severity === 'error' ? 'bad' : 'warn'),
    },
    { header: 'state', cell: ({ state }) => state },
    { header: 'rule', cell: ({ rule }) => rule },
    { header: 'what', cell: ({ message }) => message },
    { header: 'since', cell: ({ since }) => age(since, now), align: 'right' },
    { header: 'id', cell: ({ id }) => id, wide: true },
  ];
}

const SILENCE_COLUMNS: Column<Silence>[] = [
  { header: 'matcher', cell: ({ matcher }) => matcher },
  { header: 'from', cell: ({ startsAt }) => startsAt },
  { header: 'until', cell: ({ endsAt }) => endsAt },
  { header: 'comment', cell: ({ comment }) => comment },
  { header: 'id', cell: ({ id }) => id },
];

export function alertCommand(): Command {
  const alert = new Command('alert');
  alert
    .command('list')
    .option('--all', 'those that are gone too')
    .description('alerts that fire')
    .action(async ({ all }: { all?: boolean }, command: Command) => {
      const context = new Context(command);
      const path = { clusterId: await context.clusterId() };
      const filter = all === true ? {} : { filter: 'state!=resolved' };
      const found = await itemsOf((query) =>
        context.api.GET('/clusters/{clusterId}/alerts', { params: { path, query: { ...query, ...filter } } }),
      );
      print(formatList(found, columns(context.now), context.output));
    });
  alert
    .command('silences')
    .description('times in which alerts are not announced')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const path = { clusterId: await context.clusterId() };
      const found = await itemsOf((query) => context.api.GET(SILENCES, { params: { path, query } }));
      print(formatList(found, SILENCE_COLUMNS, context.output));
    });
  alert
    .command('silence')
    .argument('<matcher>', 'such as "rule=NodeSilent AND subjectName=node-2"')
    .requiredOption('--comment <comment>', 'why, for the others')
    .requiredOption('--until <time>', 'RFC 3339, such as 2026-01-31T12:00:00Z')
    .option('--from <time>', 'left out: at once')
    .description('suppress matching alerts for a time')
    .action(async (matcher: string, { comment, until, from }: SilenceOptions, command: Command) => {
      const context = new Context(command);
      const path = { clusterId: await context.clusterId() };
      const body = { matcher, comment, endsAt: until, ...(from === undefined ? {} : { startsAt: from }) };
      const made = await bodyOf(context.api.POST(SILENCES, { params: { path }, body }));
      print(formatItem(made, () => `${made.id}: silent until ${made.endsAt}`, context.output));
    });
  alert
    .command('end-silence')
    .argument('<silence>', 'id')
    .description('end a silence; alerts that still fire are announced')
    .action(async (silenceId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = { clusterId: await context.clusterId(), silenceId };
      const ended = await bodyOf(context.api.DELETE(`${SILENCES}/{silenceId}`, { params: { path } }));
      print(formatItem(ended, () => `${silenceId}: has ended`, context.output));
    });
  return alert;
}

type SilenceOptions = { comment: string; until: string; from?: string };
