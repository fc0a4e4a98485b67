import fs from 'node:fs';
import { Command } from 'commander';
import { Context, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { fieldOf } from '../json.js';
import { collect } from '../output/options.js';
import { refusal } from '../refusal.js';
import { literal } from './setting-value.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Most pages that are read of one list. */
const PAGES_MAX = 500;
const STDIN = 0;

type Options = { field?: string[]; body?: string; paginate?: boolean };

/** `holdfast api GET /clusters`: any request of the API, with the CLI's own connection. */
export function apiCommand(): Command {
  return new Command('api')
    .argument('<method>', METHODS.join(', '))
    .argument('<path>', 'below /api/v1; {clusterId} stands for the cluster: /clusters/{clusterId}/volumes')
    .option('-F, --field <field>', 'name=value of the body; may be given again', collect)
    .option('--body <file>', 'read the body from a file, - for the standard input')
    .option('--paginate', 'of a list: all pages, as one')
    .action(async (method: string, path: string, options: Options, command: Command) => {
      const context = new Context(command);
      const wanted = METHODS.find((known) => known === method.toUpperCase());
      if (wanted === undefined)
        throw new CliError(EXIT.usage, `there is no method ${method}`, [`use one of ${METHODS.join(', ')}`]);
      const url = await urlOf(context, path);
      const body = bodyText(options);
      const ask = (at: URL) => answerOf(context, requestOf(context, { method: wanted, url: at, body }));
      const answer = options.paginate === true ? await allPages(url, ask) : await ask(url);
      print(typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2));
    });
}

async function urlOf(context: Context, path: string): Promise<URL> {
  const below = path.replace(/^\/?(api\/)?(v1\/)?/, '/');
  const filled = below.includes('{clusterId}')
    ? below.replaceAll('{clusterId}', await context.clusterId())
    : below;
  const { apiUrl } = context.connection;
  const url = new URL(`${apiUrl}${filled}`);
  // The token goes nowhere else, whatever the path holds.
  if (!url.href.startsWith(`${apiUrl}/`)) throw new CliError(EXIT.usage, `${path} is no path below the API`);
  return url;
}

function bodyText({ field, body }: { field?: string[]; body?: string }): string | undefined {
  if (body !== undefined) return textOf(body);
  if (field === undefined) return undefined;
  return JSON.stringify(Object.fromEntries(field.map(entryOf)));
}

function textOf(file: string): string {
  try {
    return fs.readFileSync(file === '-' ? STDIN : file, 'utf8');
  } catch (error) {
    throw new CliError(EXIT.usage, `${file} can't be read: ${error instanceof Error ? error.message : ''}`);
  }
}

function entryOf(text: string): [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1) throw new CliError(EXIT.usage, `${text} is no field`, ['write name=value']);
  return [text.slice(0, at), literal(text.slice(at + 1))];
}

function requestOf(
  { connection }: Context,
  { method, url, body }: { method: string; url: URL; body: string | undefined },
): Request {
  return new Request(url, {
    method,
    headers: {
      authorization: `Bearer ${connection.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  });
}

async function answerOf(context: Context, request: Request): Promise<unknown> {
  const answer = await context.send(request);
  const text = await answer.text();
  const isJson = /json/.test(answer.headers.get('content-type') ?? '') && !/ndjson/.test(text);
  const content: unknown = isJson && text !== '' ? JSON.parse(text) : text;
  if (!answer.ok) throw refusal(answer.status, content);
  return content;
}

async function allPages(first: URL, ask: (url: URL) => Promise<unknown>): Promise<object> {
  const items: unknown[] = [];
  const url = new URL(first);
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await ask(url);
    const more = fieldOf(answer, 'items');
    if (!Array.isArray(more)) throw new CliError(EXIT.usage, `${first.pathname} is no list`);
    items.push(...more);
    const next = fieldOf(answer, 'nextCursor');
    if (typeof next !== 'string') break;
    url.searchParams.set('cursor', next);
  }
  return { items };
}
