/** Entry of the CLI, `holdfast <noun> <verb>`: reads the arguments, runs one command, and sets the exit code. */

import { Command, CommanderError } from 'commander';
import { auditCommand } from './commands/audit.js';
import { authCommand } from './commands/auth.js';
import { conformanceCommand } from './commands/conformance.js';
import { contextCommand } from './commands/context.js';
import { diskCommand } from './commands/disk.js';
import { eventCommand } from './commands/event.js';
import { grantCommand } from './commands/grant.js';
import { localCommand } from './commands/local.js';
import { memberCommand } from './commands/member.js';
import { nodeCommand } from './commands/node.js';
import { organizationCommand } from './commands/organization.js';
import { orphanCommand } from './commands/orphan.js';
import { placementCommand, whatIfCommand } from './commands/placement.js';
import { projectCommand } from './commands/project.js';
import { quotaCommand } from './commands/quota.js';
import { rebuildCommand } from './commands/rebuild.js';
import { settingCommand } from './commands/setting.js';
import { simulateCommand } from './commands/simulate.js';
import { snapshotCommand } from './commands/snapshot.js';
import { volumeCommand } from './commands/volume.js';
import { print, remark } from './context.js';
import { CliError, EXIT, EXIT_CODE_HELP } from './exit-codes.js';
import { FORMATS } from './output/format.js';
import { printable } from './output/printable.js';

const DEFAULT_TIMEOUT = '5m';

function program(): Command {
  const root = new Command('holdfast')
    .description('Replicated block volumes: create, attach, watch, repair.')
    .option('-o, --output <format>', `${FORMATS.join(', ')}`, 'table')
    .option('--no-headers', 'leave the header line of tables out')
    .option('--no-color', 'no colour')
    .option('--timeout <duration>', 'how long to wait where a command waits', DEFAULT_TIMEOUT)
    .option('--endpoint <url>', 'the API, such as http://host:7400/api/v1 (HOLDFAST_ENDPOINT)')
    .option('--token <token>', 'an API token (HOLDFAST_TOKEN)')
    .option('--context <name>', 'a context of `holdfast context list`, in the place of the current one')
    .option('--cluster <id>', 'the cluster, where there are several (HOLDFAST_CLUSTER)')
    .addHelpText(
      'after',
      '\nWithout an endpoint the current context is used (`holdfast auth login`), else the local stack: the one that `npm start` runs.\nSee also: holdfast help exit-codes',
    )
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(printable(text)) });
  const commands = [
    nodeCommand,
    diskCommand,
    orphanCommand,
    volumeCommand,
    rebuildCommand,
    snapshotCommand,
    settingCommand,
    auditCommand,
    eventCommand,
    placementCommand,
    whatIfCommand,
    authCommand,
    contextCommand,
    organizationCommand,
    projectCommand,
    memberCommand,
    quotaCommand,
    grantCommand,
    localCommand,
    conformanceCommand,
    simulateCommand,
  ];
  for (const make of commands) root.addCommand(inherit(make()));
  root
    .command('exit-codes', { hidden: true })
    .description('what the exit codes mean')
    .action(() => print(EXIT_CODE_HELP));
  return root;
}

/** Passes settings on to a command: commander copies them only to commands that it makes itself. */
function inherit(command: Command): Command {
  command.exitOverride();
  for (const child of command.commands) inherit(child);
  return command;
}

async function run(argv: readonly string[]): Promise<number> {
  if (argv[2] === 'help' && argv[3] === 'exit-codes') {
    print(EXIT_CODE_HELP);
    return EXIT.ok;
  }
  try {
    await program().parseAsync([...argv]);
    return EXIT.ok;
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): number {
  // Commander has printed its own text already: help and version are no failures.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof CliError) {
    remark(`holdfast: ${error.message}`);
    for (const hint of error.hints) remark(`  ${hint}`);
    return error.exitCode;
  }
  remark(`holdfast: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return EXIT.unexpected;
}

process.on('SIGINT', () => process.exit(EXIT.interrupted));
// A reader that has closed the pipe (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.unexpected),
);

const exitCode = await run(process.argv);
// A command that has printed what is wrong has set its code already.
process.exitCode ??= exitCode;
