/** The CLI's commands and the options that all of them take. */
import fs from 'node:fs';
import { Command } from 'commander';
import { completionCommand } from './commands/completion.js';
import { print } from './context.js';
import { EXIT_CODE_HELP } from './exit-codes.js';
import { listed, loaded, NOUNS, type Noun } from './nouns.js';
import { FORMATS } from './output/format.js';
import { printable } from './output/printable.js';
import { loadYaml } from './output/yaml.js';

const DEFAULT_TIMEOUT = '5m';
/** In a folder beside this one both as a source and built. */
const PACKAGE = new URL('../package.json', import.meta.url);

/** The program with its nouns' verbs. @param nouns those to load; left out: all nouns are listed, without their verbs */
export async function program(nouns?: readonly Noun[]): Promise<Command> {
  const root = new Command('holdfast')
    .description('Replicated block volumes: create, attach, watch, repair.')
    .version(versionOf(PACKAGE), '-V, --version', 'print the version of this program')
    .option(
      '-o, --output <format>',
      `${FORMATS.join(', ')}; json, jsonl and yaml are the API's own objects`,
      'table',
    )
    .option('--columns <names>', 'columns of tables, by their headers: name,state')
    .option('--no-headers', 'leave the header line of tables out')
    .option('--no-color', 'no colour')
    .option('--watch', 'of a list or get: show it again whenever something changes')
    .option('--timeout <duration>', 'how long to wait where a command waits', DEFAULT_TIMEOUT)
    .option('--dry-run', 'show the effect of a change, and change nothing')
    .option('--curl', 'print the requests as curl commands; changes are not made')
    .option('--yes', 'do not ask before destructive changes')
    .option('--no-input', 'never ask: without --yes destructive changes are refused')
    .option('--idempotency-key <key>', 'of the first POST, so that a script may repeat the command')
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
  const commands = nouns === undefined ? NOUNS.map(listed) : await Promise.all(nouns.map(loaded));
  for (const command of commands) root.addCommand(inherit(command));
  root.hook('preAction', async (_root, command) => {
    if (command.optsWithGlobals<{ output: string }>().output === 'yaml') await loadYaml();
  });
  const words = async (given: readonly string[]) =>
    (await import('./completions.js')).completions(given, program);
  root.addCommand(inherit(completionCommand(words)));
  root
    .command('exit-codes', { hidden: true })
    .description('meaning of the exit codes')
    .action(() => print(EXIT_CODE_HELP));
  return root;
}

function versionOf(file: URL): string {
  // Our own package, which always has one.
  return (JSON.parse(fs.readFileSync(file, 'utf8')) as { version: string }).version;
}

/** Passes settings on to a command: commander copies them only to commands that it makes itself. */
function inherit(command: Command): Command {
  command.exitOverride();
  for (const child of command.commands) inherit(child);
  return command;
}
