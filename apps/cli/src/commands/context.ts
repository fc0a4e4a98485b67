import { Command } from 'commander';
import { print } from '../context.js';
import { contextNamed, readContexts, removeContext, saveContext, writeContexts } from '../contexts.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList, type OutputOptions, parseFormat } from '../output/format.js';
import type { Column } from '../output/table.js';

type Row = { name: string; isCurrent: boolean; endpoint: string; cluster: string };

const COLUMNS: Column<Row>[] = [
  { header: '', cell: ({ isCurrent }) => (isCurrent ? '*' : '') },
  { header: 'name', cell: ({ name }) => name },
  { header: 'endpoint', cell: ({ endpoint }) => endpoint },
  { header: 'cluster', cell: ({ cluster }) => cluster },
];

export function contextCommand(): Command {
  const context = new Command('context');
  context
    .command('list')
    .description('all contexts; the current one has a star')
    .action((_options: object, command: Command) => {
      const { current, contexts } = readContexts(process.env);
      const rows = Object.entries(contexts).map(([name, { endpoint, cluster = '' }]) => {
        return { name, isCurrent: name === current, endpoint, cluster };
      });
      print(formatList(rows, COLUMNS, outputOf(command)));
    });
  context
    .command('use')
    .argument('<name>')
    .description('make a context the current one')
    .action((name: string, _options: object, command: Command) => {
      const stored = readContexts(process.env);
      contextNamed(stored, name);
      writeContexts(process.env, { ...stored, current: name });
      print(formatItem({ name }, () => `${name}: is the current context`, outputOf(command)));
    });
  context
    .command('add')
    .argument('<name>')
    .description('keep --endpoint and --token under a name, and make it the current context')
    .action((name: string, _options: object, command: Command) => {
      const { endpoint, token, cluster } = command.optsWithGlobals<Record<string, string | undefined>>();
      if (endpoint === undefined || token === undefined) {
        throw new CliError(EXIT.usage, 'a context needs --endpoint and --token', [
          'or sign in with `holdfast auth login`',
        ]);
      }
      saveContext(process.env, name, { endpoint, token, ...(cluster === undefined ? {} : { cluster }) });
      print(formatItem({ name, endpoint }, () => `${name}: ${endpoint}`, outputOf(command)));
    });
  context
    .command('remove')
    .argument('<name>')
    .description('forget a context; its token stays valid (`holdfast auth logout` ends it)')
    .action((name: string, _options: object, command: Command) => {
      const { endpoint } = removeContext(process.env, name);
      print(formatItem({ name, endpoint }, () => `${name}: is forgotten`, outputOf(command)));
    });
  return context;
}

function outputOf(command: Command): OutputOptions {
  const { output, headers } = command.optsWithGlobals<{ output: string; headers: boolean }>();
  return { output: parseFormat(output), headers, color: false };
}
