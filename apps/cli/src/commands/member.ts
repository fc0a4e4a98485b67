import { Command } from 'commander';
import { bodyOf, doneOf, itemsOf } from '../api.js';
import { Context, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import { age } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { Invitation, Member, OpenInvitation } from '../types.js';
import { findMember } from './find-member.js';

const MEMBER = '/members/{userId}';

function columns(now: Date): Column<Member>[] {
  return [
    { header: 'email', cell: ({ email }) => email },
    { header: 'role', cell: ({ role }) => role },
    { header: 'name', cell: ({ name }) => name },
    { header: 'since', cell: ({ createdAt }) => age(createdAt, now), align: 'right' },
    { header: 'user id', cell: ({ userId }) => userId, wide: true },
  ];
}

const INVITATION_COLUMNS: Column<Invitation>[] = [
  { header: 'email', cell: ({ email }) => email },
  { header: 'role', cell: ({ role }) => role },
  { header: 'until', cell: ({ expiresAt }) => expiresAt },
  { header: 'id', cell: ({ id }) => id },
];

export function memberCommand(): Command {
  const member = new Command('member');
  member
    .command('list')
    .description('all members')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const found = await itemsOf((query) => context.api.GET('/members', { params: { query } }));
      print(formatList(found, columns(context.now), context.output));
    });
  member
    .command('set-role')
    .argument('<member>', 'e-mail address or id')
    .argument('<role>', 'member, viewer, operator, admin or owner')
    .description("change a member's role")
    .action(async (emailOrId: string, role: string, _options: object, command: Command) => {
      const context = new Context(command);
      const { userId } = await findMember(context, emailOrId);
      // The API knows which roles there are, and says so.
      const body = { role: role as Member['role'] };
      const changed = await bodyOf(context.api.PATCH(MEMBER, { params: { path: { userId } }, body }));
      print(formatItem(changed, () => `${changed.email}: ${changed.role}`, context.output));
    });
  member
    .command('remove')
    .argument('<member>', 'e-mail address or id')
    .description('remove a member from the organization')
    .action(async (emailOrId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await findMember(context, emailOrId);
      if (!context.isSure) {
        const what = `this removes ${found.email}, with all its tokens in the organization`;
        throw new CliError(EXIT.usage, what, ['add --yes to do it']);
      }
      await doneOf(context.api.DELETE(MEMBER, { params: { path: { userId: found.userId } } }));
      print(formatItem(found, () => `${found.email}: is removed`, context.output));
    });
  addInvitationCommands(member);
  return member;
}

function addInvitationCommands(member: Command): void {
  member
    .command('invite')
    .argument('<email>')
    .requiredOption('--role <role>', 'member, viewer, operator, admin or owner')
    .option('--hours <n>', 'hours in which it can be accepted', Number)
    .description('invite a user; prints the secret to accept with, once')
    .action(async (email: string, options: { role: string; hours?: number }, command: Command) => {
      const context = new Context(command);
      const validHours = options.hours === undefined ? {} : { validHours: options.hours };
      const body = { email, role: options.role as Member['role'], ...validHours };
      const made = await bodyOf(context.api.POST('/invitations', { body }));
      const accept = `holdfast member accept ${made.secret} --name <name>`;
      const text = () => `${made.email} may join until ${made.expiresAt}, with\n  ${accept}`;
      print(formatItem(made, text, context.output));
    });
  member
    .command('invitations')
    .description('invitations that have not been accepted')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const found = await itemsOf((query) => context.api.GET('/invitations', { params: { query } }));
      print(formatList(found, INVITATION_COLUMNS, context.output));
    });
  member
    .command('withdraw')
    .argument('<invitation>', 'id')
    .description('withdraw an invitation')
    .action(async (invitationId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = { invitationId };
      await doneOf(context.api.DELETE('/invitations/{invitationId}', { params: { path } }));
      print(formatItem(path, () => `${invitationId}: is withdrawn`, context.output));
    });
  member
    .command('join')
    .argument('<secret>', 'of the invitation, or its link')
    .description('join another organization as the signed-in user; with a token: prints the page to use')
    .action(async (given: string, _options: object, command: Command) => {
      const context = new Context(command);
      // A link has the secret behind the hash sign.
      const body = { secret: given.slice(given.indexOf('#') + 1) };
      const invitation = await bodyOf(context.api.POST('/invitations/read', { body }));
      const joined = await bodyOf(context.api.POST('/invitations/join', { body })).catch((error: unknown) => {
        throw error instanceof CliError && error.exitCode === EXIT.auth ? withPage(error, invitation) : error;
      });
      const text = () => `${joined.email} is ${joined.role} of ${invitation.organizationName} now`;
      print(formatItem(joined, text, context.output));
    });
  member
    .command('accept')
    .argument('<secret>', 'of the invitation')
    .requiredOption('--name <name>', 'your name, for people')
    .description('join an organization; the password is read from HOLDFAST_PASSWORD')
    .action(async (secret: string, { name }: { name: string }, command: Command) => {
      const context = new Context(command);
      const password = process.env.HOLDFAST_PASSWORD;
      if (password === undefined) throw new CliError(EXIT.usage, 'HOLDFAST_PASSWORD is not set');
      const body = { secret, name, password };
      const joined = await bodyOf(context.api.POST('/invitations/accept', { body }));
      print(formatItem(joined, () => `${joined.email} is ${joined.role} now`, context.output));
    });
}

/** A token joins no organization; the user whom it belongs to does, in a browser. */
function withPage({ exitCode, message, hints }: CliError, { page, email }: OpenInvitation): CliError {
  return new CliError(exitCode, message, [...hints, `as ${email}, open ${page}`]);
}
