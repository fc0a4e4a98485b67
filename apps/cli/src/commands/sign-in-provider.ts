import { Command } from 'commander';
import { bodyOf, doneOf } from '../api.js';
import { Context, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem } from '../output/format.js';
import type { SignInProvider, SignInProviderChange } from '../types.js';

const PROVIDER = '/organizations/{organizationId}/sign-in-provider';

type SetOptions = { issuer: string; clientId: string; domain: string[]; role: string };

/** Commands on the organization's own OpenID provider. */
export function signInProviderCommand(): Command {
  const provider = new Command('sign-in-provider').description('the OpenID provider that users sign in by');
  provider
    .command('get')
    .description('the provider, and the values to configure there')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      show(context, await bodyOf(context.api.GET(PROVIDER, { params: await own(context) })));
    });
  provider
    .command('set')
    .requiredOption('--issuer <url>', 'its address, https')
    .requiredOption('--client-id <id>', 'client id of this control plane at the provider')
    .requiredOption('--domain <domain...>', 'domains of the e-mail addresses that may sign in')
    .option('--role <role>', 'of a user at the first sign-in: member, viewer, operator or admin', 'viewer')
    .description(
      "set it; the client's secret is read from HOLDFAST_CLIENT_SECRET, and left out stays as it is",
    )
    .action(async ({ issuer, clientId, domain, role }: SetOptions, command: Command) => {
      const context = new Context(command);
      const clientSecret = process.env.HOLDFAST_CLIENT_SECRET;
      const body = {
        issuer,
        clientId,
        domains: domain,
        // The API knows which roles there are, and says so.
        defaultRole: role as NonNullable<SignInProviderChange['defaultRole']>,
        ...(clientSecret === undefined ? {} : { clientSecret }),
      };
      show(context, await bodyOf(context.api.PUT(PROVIDER, { params: await own(context), body })));
    });
  provider
    .command('delete')
    .description('delete it; its users are signed out, and stay members')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const params = await own(context);
      if (!context.isSure) {
        const what = 'this signs all its users out, who can not sign in again';
        throw new CliError(EXIT.usage, what, ['add --yes to do it']);
      }
      await doneOf(context.api.DELETE(PROVIDER, { params }));
      print(formatItem(params.path, () => 'the sign-in provider is deleted', context.output));
    });
  return provider;
}

async function own(context: Context) {
  const { organizationId } = await bodyOf(context.api.GET('/sessions/current'));
  return { path: { organizationId } };
}

function show({ output }: Context, provider: SignInProvider): void {
  const { issuer, clientId, domains, defaultRole, callbackPath } = provider;
  const lines = [
    `issuer    ${issuer}`,
    `client    ${clientId}`,
    `domains   ${domains.join(', ')}`,
    `role      ${defaultRole}`,
    `callback  ${callbackPath}, under the console's address`,
  ];
  print(formatItem(provider, () => lines.join('\n'), output));
}
