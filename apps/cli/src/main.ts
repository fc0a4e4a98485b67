/** Entry of the CLI, `holdfast <noun> <verb>`: reads the arguments, runs one command, and sets the exit code. */
import { CommanderError } from 'commander';
import { print, remark } from './context.js';
import { CliError, EXIT, EXIT_CODE_HELP } from './exit-codes.js';
import { nounIn } from './nouns.js';
import { program } from './program.js';
import { Shown } from './send.js';

async function run(argv: readonly string[]): Promise<number> {
  if (argv[2] === 'help' && argv[3] === 'exit-codes') {
    print(EXIT_CODE_HELP);
    return EXIT.ok;
  }
  try {
    const noun = nounIn(argv.slice(2));
    const nouns = noun === undefined ? undefined : [noun];
    if (isWatching(argv)) {
      const { watch } = await import('./watch.js');
      await watch(argv, async (given) => (await program(nouns)).parseAsync(given));
    } else {
      await (await program(nouns)).parseAsync([...argv]);
    }
    return EXIT.ok;
  } catch (error) {
    return await explain(error);
  }
}

/** Words after `--` are no options. */
function isWatching(argv: readonly string[]): boolean {
  const at = argv.indexOf('--');
  return argv.slice(0, at === -1 ? undefined : at).includes('--watch');
}

async function explain(error: unknown): Promise<number> {
  if (error instanceof Shown) return EXIT.ok;
  // Commander has printed its own text already: help and version are no failures.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof CliError) {
    remark(`holdfast: ${error.message}`);
    for (const hint of error.hints) remark(`  ${hint}`);
    return error.exitCode;
  }
  const { withSourcePositions } = await import('@holdfast/tracing/stack-positions.js');
  remark(
    `holdfast: ${error instanceof Error ? withSourcePositions(error.stack ?? error.message) : String(error)}`,
  );
  return EXIT.unexpected;
}

process.on('SIGINT', () => process.exit(EXIT.interrupted));
// A reader that has closed the pipe (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.unexpected),
);

const exitCode = await run(process.argv);
// A command that has printed its error has set its code already.
process.exitCode ??= exitCode;
