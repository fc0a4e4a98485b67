import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Command } from 'commander';
import { bodyOf } from '../api.js';
import { Context, print, printLine } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import { parseSize } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { Quota } from '../types.js';
import { findProject } from './find-project.js';

type Row = { what: string; used: string; limit: string; isFull: boolean };

const COLUMNS: Column<Row>[] = [
  { header: 'what', cell: ({ what }) => what },
  {
    header: 'used',
    cell: ({ used }) => used,
    align: 'right',
    tone: ({ isFull }) => (isFull ? 'warn' : 'plain'),
  },
  { header: 'limit', cell: ({ limit }) => limit, align: 'right' },
];

const LIMITS = [
  'provisionedBytes',
  'physicalBytes',
  'volumes',
  'snapshots',
  'runningRebuilds',
  'requestsPerMinute',
] as const;
type LimitName = (typeof LIMITS)[number];

export function quotaCommand(): Command {
  const quota = new Command('quota');
  quota
    .command('get')
    .argument('[project]', 'name or id; left out: the organization')
    .description('limits and usage')
    .action(async (project: string | undefined, _options: object, command: Command) => {
      const context = new Context(command);
      show(context, await read(context, project));
    });
  quota
    .command('set')
    .argument('<what>', LIMITS.join(', '))
    .argument('<limit>', 'a number, a size such as 10Ti, or none')
    .option('--project <project>', 'name or id; left out: the organization')
    .description('set one limit')
    .action(async (what: string, limit: string, options: { project?: string }, command: Command) => {
      const context = new Context(command);
      const name = LIMITS.find((known) => known === what);
      if (name === undefined) {
        throw new CliError(EXIT.usage, `there is no limit of ${what}`, [`there are ${LIMITS.join(', ')}`]);
      }
      const before = await read(context, options.project);
      const body = { ...before.limits, [name]: limitOf(name, limit) };
      // Of two users who set different limits at once, the second gets a conflict.
      const headers = { 'If-Match': `"${before.version}"` };
      const changed = await put(context, options.project, { body, headers });
      printLine(context, changed, `${options.project ?? 'the organization'}: quota set`);
    });
  return quota;
}

function limitOf(name: LimitName, text: string): number | null {
  if (text === 'none') return null;
  const value = name.endsWith('Bytes') ? parseSize(text) : Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new CliError(EXIT.usage, `${text} is no limit: a whole number, or none`);
}

async function read(context: Context, project: string | undefined): Promise<Quota> {
  if (project !== undefined) {
    const path = { projectId: (await findProject(context, project)).id };
    return bodyOf(context.api.GET(OF_PROJECT, { params: { path } }));
  }
  const path = { organizationId: await ownOrganization(context) };
  return bodyOf(context.api.GET(OF_ORGANIZATION, { params: { path } }));
}

type Change = { body: Quota['limits']; headers: Record<string, string> };

async function put(context: Context, project: string | undefined, change: Change): Promise<Quota> {
  if (project !== undefined) {
    const path = { projectId: (await findProject(context, project)).id };
    return bodyOf(context.api.PUT(OF_PROJECT, { params: { path }, ...change }));
  }
  const path = { organizationId: await ownOrganization(context) };
  return bodyOf(context.api.PUT(OF_ORGANIZATION, { params: { path }, ...change }));
}

const OF_PROJECT = '/projects/{projectId}/quota';
const OF_ORGANIZATION = '/organizations/{organizationId}/quota';

async function ownOrganization(context: Context): Promise<string> {
  return (await bodyOf(context.api.GET('/sessions/current'))).organizationId;
}

function show({ output }: Context, quota: Quota): void {
  print(formatItem(quota, () => formatList(rowsOf(quota), COLUMNS, output), output));
}

function rowsOf({ limits, used }: Quota): Row[] {
  const counted: Partial<Record<LimitName, number>> = used;
  return LIMITS.map((what) => {
    const told = (amount: number) => (what.endsWith('Bytes') ? formatBytes(amount) : String(amount));
    const limit = limits[what];
    const count = counted[what];
    return {
      what,
      used: count === undefined ? '' : told(count),
      limit: limit === null ? 'none' : told(limit),
      isFull: limit !== null && count !== undefined && count >= limit,
    };
  });
}
