import { Command } from 'commander';
import { bodyOf, doneOf, itemsOf } from '../api.js';
import { Context, print } from '../context.js';
import { formatItem, formatList } from '../output/format.js';
import { given } from '../output/options.js';
import { age, parseDurationMs } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { NewToken, Token } from '../types.js';

const TOKEN = '/tokens/{tokenId}';

function columns(now: Date): Column<Token>[] {
  return [
    { header: 'name', cell: ({ name }) => name },
    { header: 'role', cell: ({ role }) => role },
    { header: 'reads only', cell: ({ readOnly }) => (readOnly ? 'yes' : 'no') },
    { header: 'used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? '-' : `${age(lastUsedAt, now)} ago`) },
    { header: 'expires', cell: ({ expiresAt }) => expiresAt ?? 'never' },
    { header: 'id', cell: ({ id }) => id },
    { header: 'actions', cell: ({ actions }) => actions?.join(' ') ?? 'all', wide: true },
  ];
}

type CreateOptions = { role?: NewToken['role']; readOnly?: boolean; action?: string[]; for?: string };

export function tokenCommand(): Command {
  const token = new Command('token');
  token
    .command('list')
    .description('your tokens and sessions')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const found = await itemsOf((query) => context.api.GET('/tokens', { params: { query } }));
      print(formatList(found, columns(context.now), context.output));
    });
  token
    .command('get')
    .argument('<token>', 'id')
    .description('one token, without its secret')
    .action(async (tokenId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await bodyOf(context.api.GET(TOKEN, { params: { path: { tokenId } } }));
      const text = () => formatList([found], columns(context.now), context.output);
      print(formatItem(found, text, context.output));
    });
  token
    .command('create')
    .argument('<name>', 'what it is for')
    .option('--role <role>', 'at most your own, which is the default')
    .option('--read-only', 'it is to change nothing')
    .option('--action <actions...>', 'only these, such as volume:write')
    .option('--for <duration>', 'how long it works, such as 720h')
    .description('make a token; its secret is printed once')
    .action(async (name: string, options: CreateOptions, command: Command) => {
      const context = new Context(command);
      // The API refuses actions that there are not, by their names.
      const actions = options.action as NewToken['actions'];
      const body: NewToken = {
        name,
        ...given({ role: options.role, actions, ...limitsOf(options, context) }),
      };
      const made = await bodyOf(context.api.POST('/tokens', { body }));
      print(formatItem(made, () => made.token, context.output));
    });
  token
    .command('rotate')
    .argument('<token>', 'id')
    .description('give a token another secret, which is printed once')
    .action(async (tokenId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const rotated = await bodyOf(context.api.POST(`${TOKEN}/rotate`, { params: { path: { tokenId } } }));
      print(formatItem(rotated, () => rotated.token, context.output));
    });
  token
    .command('delete')
    .argument('<token>', 'id')
    .description('end a token, and those that were made with it')
    .action(async (tokenId: string, _options: object, command: Command) => {
      const context = new Context(command);
      await context.confirm(`This ends token ${tokenId}`);
      await doneOf(context.api.DELETE(TOKEN, { params: { path: { tokenId } } }));
      print(`${tokenId}: is ended`);
    });
  return token;
}

function limitsOf(options: CreateOptions, { now }: Context) {
  return {
    readOnly: options.readOnly,
    expiresAt:
      options.for === undefined
        ? undefined
        : new Date(now.getTime() + parseDurationMs(options.for)).toISOString(),
  };
}
