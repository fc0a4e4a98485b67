import { Command } from 'commander';
import { bodyOf } from '../api.js';
import { Context, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import type { Column } from '../output/table.js';
import type { Access } from '../types.js';
import { addLoginCommands } from './auth-login.js';
import { findProject } from './find-project.js';

const COLUMNS: Column<Access>[] = [
  { header: 'action', cell: ({ action }) => action },
  {
    header: 'allowed',
    cell: ({ isAllowed, projectIds }) => (isAllowed ? (projectIds === null ? 'yes' : 'in projects') : 'no'),
    tone: ({ isAllowed }) => (isAllowed ? 'good' : 'warn'),
  },
  { header: 'because', cell: ({ why }) => why },
  { header: 'meaning', cell: ({ allows }) => allows, wide: true },
];

export function authCommand(): Command {
  const auth = new Command('auth');
  auth
    .command('why')
    .argument('[action]', 'such as volume:write; left out: all')
    .option('--project <project>', 'name or id: in this project')
    .description('why may I, and why may I not?')
    .action(async (action: string | undefined, options: { project?: string }, command: Command) => {
      const context = new Context(command);
      const project = options.project === undefined ? undefined : await findProject(context, options.project);
      const query = project === undefined ? {} : { projectId: project.id };
      const { permissions } = await bodyOf(context.api.GET('/me/permissions', { params: { query } }));
      if (action === undefined) return print(formatList(permissions, COLUMNS, context.output));
      const found = permissions.find((one) => one.action === action);
      if (found === undefined) throw unknownAction(action, permissions);
      print(formatItem(found, () => sentences(found), context.output));
    });
  auth
    .command('status')
    .description('who the token belongs to')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const me = await bodyOf(context.api.GET('/sessions/current'));
      print(formatItem(me, () => `${me.email}, ${me.role} of ${me.organizationName}`, context.output));
    });
  addLoginCommands(auth);
  return auth;
}

function sentences({ isAllowed, why, cures, allows }: Access): string {
  const answer = isAllowed ? `yes: ${why}` : `no: ${why}`;
  return [answer, ...cures.map((cure) => `  ${cure}`), `  it is to ${allows}`].join('\n');
}

function unknownAction(action: string, permissions: readonly Access[]): CliError {
  const known = permissions.map((one) => one.action).join(', ');
  return new CliError(EXIT.usage, `there is no action ${action}`, [`there are ${known}`]);
}
