import { Command } from 'commander';
import { bodyOf, doneOf, itemsOf } from '../api.js';
import { Context, print, printLine } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import { given } from '../output/options.js';
import { age, parseDurationMs } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { Member, NewToken, ServiceAccount } from '../types.js';

const ACCOUNT = '/service-accounts/{serviceAccountId}';

function columns(now: Date): Column<ServiceAccount>[] {
  return [
    { header: 'name', cell: ({ name }) => name },
    { header: 'role', cell: ({ role }) => role },
    { header: 'enabled', cell: ({ isDisabled }) => (isDisabled ? 'no' : 'yes') },
    { header: 'tokens', cell: ({ tokens }) => String(tokens), align: 'right' },
    { header: 'used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? '-' : `${age(lastUsedAt, now)} ago`) },
    { header: 'id', cell: ({ id }) => id },
  ];
}

export function serviceAccountCommand(): Command {
  const account = new Command('service-account');
  account
    .command('list')
    .description('all service accounts')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const found = await itemsOf((query) => context.api.GET('/service-accounts', { params: { query } }));
      print(formatList(found, columns(context.now), context.output));
    });
  account
    .command('create')
    .argument('<name>')
    .requiredOption('--role <role>', 'member, viewer, operator or admin')
    .description('make a service account')
    .action(async (name: string, options: { role: string }, command: Command) => {
      const context = new Context(command);
      // The API knows which roles there are, and says so.
      const body = { name, role: options.role as Member['role'] };
      const created = await bodyOf(context.api.POST('/service-accounts', { body }));
      printLine(context, created, `${created.name}: created, ${created.role}`);
    });
  account
    .command('get')
    .argument('<account>', 'name or id')
    .description('one service account')
    .action(async (nameOrId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await findAccount(context, nameOrId);
      const text = () => formatList([found], columns(context.now), context.output);
      print(formatItem(found, text, context.output));
    });
  addChangeCommands(account);
  addTokenCommand(account);
  return account;
}

type SetOptions = { name?: string; role?: string };

function addChangeCommands(account: Command): void {
  account
    .command('set')
    .argument('<account>', 'name or id')
    .option('--name <name>', 'another name')
    .option('--role <role>', 'member, viewer, operator or admin')
    .description('rename a service account, or change its role')
    .action(async (nameOrId: string, { name, role }: SetOptions, command: Command) => {
      const body = given({ name, role: role as Member['role'] | undefined });
      await change(new Context(command), nameOrId, body);
    });
  for (const [verb, isDisabled, what] of [
    ['disable', true, 'have its tokens let no one in'],
    ['enable', false, 'have its tokens work again'],
  ] as const) {
    account
      .command(verb)
      .argument('<account>', 'name or id')
      .description(what)
      .action(async (nameOrId: string, _options: object, command: Command) => {
        await change(new Context(command), nameOrId, { isDisabled });
      });
  }
  account
    .command('delete')
    .argument('<account>', 'name or id')
    .description('delete a service account, with its tokens')
    .action(async (nameOrId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await findAccount(context, nameOrId);
      await context.confirm(`This deletes ${found.name}, and ends its ${found.tokens} tokens`);
      await doneOf(context.api.DELETE(ACCOUNT, { params: { path: { serviceAccountId: found.id } } }));
      print(formatItem(found, () => `${found.name}: is deleted`, context.output));
    });
}

type TokenOptions = { role?: NewToken['role']; readOnly?: boolean; for?: string };

function addTokenCommand(account: Command): void {
  account
    .command('token')
    .argument('<account>', 'name or id')
    .argument('<name>', 'purpose of the token')
    .option(
      '--role <role>',
      'at most your own, which is the default; it never allows more than the account may do',
    )
    .option('--read-only', 'it is to change nothing')
    .option('--for <duration>', 'how long it works, such as 720h')
    .description('make a token of a service account; its secret is printed once')
    .action(async (nameOrId: string, name: string, options: TokenOptions, command: Command) => {
      const context = new Context(command);
      const { id: serviceAccountId } = await findAccount(context, nameOrId);
      const { role, readOnly, for: life } = options;
      const expiresAt =
        life === undefined
          ? undefined
          : new Date(context.now.getTime() + parseDurationMs(life)).toISOString();
      const body: NewToken = { name, ...given({ role, readOnly, expiresAt }) };
      const path = { serviceAccountId };
      const made = await bodyOf(context.api.POST(`${ACCOUNT}/tokens`, { params: { path }, body }));
      print(formatItem(made, () => made.token, context.output));
    });
}

type Change = { name?: string; role?: Member['role']; isDisabled?: boolean };

async function change(context: Context, nameOrId: string, body: Change): Promise<void> {
  const { id: serviceAccountId } = await findAccount(context, nameOrId);
  const changed = await bodyOf(context.api.PATCH(ACCOUNT, { params: { path: { serviceAccountId } }, body }));
  printLine(context, changed, `${changed.name}: ${changed.isDisabled ? 'disabled' : changed.role}`);
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @throws CliError when no service account has that name or id */
async function findAccount(context: Context, nameOrId: string): Promise<ServiceAccount> {
  if (ID.test(nameOrId)) {
    const path = { serviceAccountId: nameOrId };
    return bodyOf(context.api.GET(ACCOUNT, { params: { path } }));
  }
  const filter = `name="${nameOrId.replaceAll('"', '')}"`;
  const [found] = await itemsOf((query) =>
    context.api.GET('/service-accounts', { params: { query: { ...query, filter } } }),
  );
  if (found === undefined) throw new CliError(EXIT.notFound, `there is no service account ${nameOrId}`);
  return found;
}
