import { Command } from 'commander';
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
  const setting = new Command('setting').alias('settings').description('settings of the cluster');
  setting
    .command('list')
    .description('every setting; -o wide says what each means')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      print(
        formatList(
          await context.api.list<Setting>(`${await context.clusterPath()}/settings`),
          COLUMNS,
          context.output,
        ),
      );
    });
  setting
    .command('get')
    .argument('<name>')
    .description('one value')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await context.api.get<Setting>(await settingPath(context, name));
      print(formatItem(found, () => String(found.value), context.output));
    });
  setting
    .command('set')
    .argument('<name>')
    .argument('<value>')
    .description('change one')
    .action(async (name: string, value: string, _options: object, command: Command) => {
      const context = new Context(command);
      const changed = await context.api.put<Setting>(await settingPath(context, name), {
        value: literal(value),
      });
      print(formatItem(changed, () => `${changed.name} = ${String(changed.value)}`, context.output));
    });
  setting
    .command('reset')
    .argument('<name>')
    .description('back to its default')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = await settingPath(context, name);
      await context.api.delete(path);
      const current = await context.api.get<Setting>(path);
      print(formatItem(current, () => `${current.name} = ${String(current.value)}`, context.output));
    });
  return setting;
}

async function settingPath(context: Context, name: string): Promise<string> {
  return `${await context.clusterPath()}/settings/${encodeURIComponent(name)}`;
}
