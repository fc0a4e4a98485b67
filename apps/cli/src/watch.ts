/** `--watch`: prints a list or an object again whenever the cluster's event stream reports a change. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { Context, collectOutput, print } from './context.js';
import { CliError, EXIT, exitCodeFor } from './exit-codes.js';

const WATCHED = new Set(['list', 'get', 'status', 'settings']);
/** Changes come in groups: one reading for each. */
const PAUSE_MS = 300;
const RECONNECT_MS = 1_000;
/** A token that ended or may not read, or a cluster that is gone: asking again changes nothing. */
const REFUSALS = new Set([401, 403, 404]);
const CLEAR = '\u001b[2J\u001b[H';

/** @param parse runs the command once, of arguments without `--watch` */
export async function watch(
  argv: readonly string[],
  parse: (argv: string[]) => Promise<Command>,
): Promise<never> {
  if (!argv.some((arg) => WATCHED.has(arg)))
    throw new CliError(EXIT.usage, '--watch goes with a list or a get');
  const once = argv.filter((arg) => arg !== '--watch');
  let shown: string | undefined;
  const show = async () => {
    const lines: string[] = [];
    collectOutput(lines);
    const root = await parse([...once]).finally(() => collectOutput(undefined));
    const text = lines.join('\n');
    if (text !== shown) display(text);
    shown = text;
    return root;
  };
  const context = new Context(await show());
  const clusterId = await context.clusterId();
  for (;;) {
    await nextChange(context, clusterId);
    await sleep(PAUSE_MS);
    await show();
  }
}

function display(text: string): void {
  if (process.stdout.isTTY === true) process.stdout.write(CLEAR);
  print(text);
}

let changes: AsyncGenerator<void> | undefined;

/** Resolves when something has changed, or may have while the stream was not open. @throws CliError when the stream is refused */
async function nextChange(context: Context, clusterId: string): Promise<void> {
  changes ??= follow(context, clusterId);
  const next = await changes.next().catch((error: unknown) => {
    if (error instanceof CliError) throw error;
    return undefined;
  });
  if (next?.done === false) return;
  // The stream has ended, for instance because the API was restarted: the state is read again.
  changes = undefined;
  await sleep(RECONNECT_MS);
}

/** Each message of the stream about an event or a change. */
async function* follow({ connection }: Context, clusterId: string): AsyncGenerator<void> {
  const answer = await fetch(`${connection.apiUrl}/clusters/${clusterId}/events/stream`, {
    headers: { authorization: `Bearer ${connection.token}` },
  });
  if (REFUSALS.has(answer.status))
    throw new CliError(
      exitCodeFor(answer.status),
      `the event stream was refused with status ${answer.status}`,
    );
  if (answer.body === null || !answer.ok) return;
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream()))
    if (piece.includes('event:')) yield;
}
