/** Texts of "Copy as": a request as a command of the CLI, as curl, and its answer as JSON. */
import { shellWord } from '@holdfast/core/model/shell-word.js';
import type { CopyForm } from './copy-as';

type Read = {
  /** Arguments of the CLI. */
  readonly cli: readonly string[];
  /** Below the API's origin. */
  readonly path: string;
  /** Also what the CLI reads from its standard input; left out: it is read by GET. */
  readonly body?: unknown;
  readonly value: unknown;
};

/** A token is named and not shown: copied texts end up in tickets and chats. */
const AUTHORIZATION = '-H "authorization: Bearer $HOLDFAST_TOKEN"';

/** @param origin of the API, which the console passes calls on to */
export function copyForms({ cli, path, body, value }: Read, origin = window.location.origin): CopyForm[] {
  const json = body === undefined ? undefined : shellWord(JSON.stringify(body));
  const sent = json === undefined ? '' : ` -H 'content-type: application/json' -d ${json}`;
  const piped = json === undefined ? '' : `echo ${json} | `;
  return [
    { label: 'CLI', text: `${piped}npx holdfast ${cli.map(shellWord).join(' ')}` },
    { label: 'curl', text: `curl -sS ${AUTHORIZATION}${sent} ${shellWord(`${origin}${path}`)}` },
    { label: 'JSON', text: JSON.stringify(value, null, 2) },
  ];
}

/** One GET of the API, as a page asks it. */
export type Question = {
  /** Below `/api/v1`; `{clusterId}` stands for the shown cluster, as in the CLI. */
  readonly path: string;
  /** Empty values are left out. */
  readonly query?: Readonly<Record<string, string>>;
};

/** Address of the question, below the origin. */
export function addressOf({ path, query = {} }: Question, clusterId: string): string {
  return `/api/v1${path.replaceAll('{clusterId}', clusterId)}${queryText(query)}`;
}

/** The question by the CLI, which fills in its own cluster and reads all pages, and by curl. */
export function questionForms(
  question: Question,
  { clusterId, isList }: { clusterId: string; isList: boolean },
  origin = window.location.origin,
): CopyForm[] {
  const { path, query = {} } = question;
  const cli = ['api', 'GET', `${path}${queryText(query)}`, ...(isList ? ['--paginate'] : [])];
  return [
    { label: 'CLI', text: `npx holdfast ${cli.map(shellWord).join(' ')}` },
    {
      label: 'curl',
      text: `curl -sS ${AUTHORIZATION} ${shellWord(`${origin}${addressOf(question, clusterId)}`)}`,
    },
  ];
}

function queryText(query: Readonly<Record<string, string>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
