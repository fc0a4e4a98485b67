import { Command } from 'commander';
import { bodyOf, itemsOf } from '../api.js';
import { Context, print, printLine } from '../context.js';
import { formatList } from '../output/format.js';
import type { Column } from '../output/table.js';
import type { Organization } from '../types.js';
import { signInProviderCommand } from './sign-in-provider.js';

const COLUMNS: Column<Organization>[] = [
  { header: 'name', cell: ({ name }) => name },
  { header: 'id', cell: ({ id }) => id },
  { header: 'created', cell: ({ createdAt }) => createdAt },
];

export function organizationCommand(): Command {
  const organization = new Command('organization');
  organization
    .command('list')
    .description('the organization of the token')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const found = await itemsOf((query) => context.api.GET('/organizations', { params: { query } }));
      print(formatList(found, COLUMNS, context.output));
    });
  organization
    .command('create')
    .argument('<name>')
    .description('create another organization, with you as its owner')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const created = await bodyOf(context.api.POST('/organizations', { body: { name } }));
      printLine(context, created, `${created.name}: created, ${created.id}`);
    });
  organization
    .command('rename')
    .argument('<name>', 'the new one')
    .description('rename the organization of the token')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const { organizationId } = await bodyOf(context.api.GET('/sessions/current'));
      const params = { path: { organizationId } };
      const renamed = await bodyOf(
        context.api.PATCH('/organizations/{organizationId}', { params, body: { name } }),
      );
      printLine(context, renamed, `${renamed.name}: renamed`);
    });
  organization.addCommand(signInProviderCommand());
  return organization;
}
