import { Command } from 'commander';
import { bodyOf } from '../api.js';
import { Context, print } from '../context.js';
import { formatItem, formatList } from '../output/format.js';
import type { Column } from '../output/table.js';
import type { Setting } from '../types.js';
import { literal } from './setting-value.js';

const COLUMNS: Column<Setting>[] = [
  { header: 'name', cell: (setting) => setting.name },
  {
    header: 'value',
    cell: (setting) => String(setting.value),
    tone: (setting) => (setting.value === setting.default ? 'plain' : 'busy'),
  },
  { header: 'default', cell: (setting) => String(setting.default) },
  { header: 'meaning', cell: (setting) => setting.definition?.description ?? '', wide: true },
];

export function settingCommand(): Command {
  const setting = new Command('setting');
  setting
    .command('list')
    .description('every setting; -o wide describes each')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const params = { path: { clusterId: await context.clusterId() } };
      const { items } = await bodyOf(context.api.GET('/clusters/{clusterId}/settings', { params }));
      print(formatList(items, COLUMNS, context.output));
    });
  setting
    .command('get')
    .argument('<name>')
    .description('one value')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await bodyOf(context.api.GET(SETTING, await at(context, name)));
      print(formatItem(found, () => String(found.value), context.output));
    });
  setting
    .command('set')
    .argument('<name>')
    .argument('<value>')
    .description('change one')
    .action(async (name: string, value: string, _options: object, command: Command) => {
      const context = new Context(command);
      const body = { value: literal(value) };
      const changed = await bodyOf(context.api.PUT(SETTING, { ...(await at(context, name)), body }));
      print(formatItem(changed, () => `${changed.name} = ${String(changed.value)}`, context.output));
    });
  setting
    .command('reset')
    .argument('<name>')
    .description('back to its default')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const current = await bodyOf(context.api.DELETE(SETTING, await at(context, name)));
      print(formatItem(current, () => `${current.name} = ${String(current.value)}`, context.output));
    });
  return setting;
}

const SETTING = '/clusters/{clusterId}/settings/{name}';

async function at(context: Context, name: string) {
  return { params: { path: { clusterId: await context.clusterId(), name } } };
}
