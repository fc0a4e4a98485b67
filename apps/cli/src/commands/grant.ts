import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Command } from 'commander';
import { bodyOf, doneOf, itemsOf } from '../api.js';
import { Context, print, printLine } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import { parseSize } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { Grant, ReceivedGrant } from '../types.js';

const GRANTS = '/clusters/{clusterId}/grants';
const GRANT = `${GRANTS}/{grantId}` as const;

const COLUMNS: Column<Grant>[] = [
  { header: 'id', cell: ({ id }) => id },
  { header: 'organization', cell: ({ organizationId }) => organizationId },
  {
    header: 'volumes',
    cell: ({ used, limits }) => ofLimit(used.volumes, limits.volumes, String),
    align: 'right',
  },
  {
    header: 'bytes',
    cell: ({ used, limits }) => ofLimit(used.provisionedBytes, limits.provisionedBytes, formatBytes),
    align: 'right',
  },
  { header: 'rebuilds', cell: ({ limits }) => String(limits.runningRebuilds ?? 'no limit'), align: 'right' },
  { header: 'node tags', cell: ({ nodeTags }) => nodeTags.join(', ') },
  { header: 'disk tags', cell: ({ diskTags }) => diskTags.join(', ') },
];

const RECEIVED: Column<ReceivedGrant>[] = [
  { header: 'cluster', cell: ({ clusterName }) => clusterName },
  { header: 'cluster id', cell: ({ clusterId }) => clusterId },
  ...COLUMNS.slice(2),
];

type Limits = {
  bytes?: string;
  volumes?: string;
  rebuilds?: string;
  nodeTags?: string;
  diskTags?: string;
};

export function grantCommand(): Command {
  const grant = new Command('grant');
  grant
    .command('list')
    .description('the grants of the cluster')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const path = { clusterId: await context.clusterId() };
      const found = await itemsOf((query) => context.api.GET(GRANTS, { params: { path, query } }));
      print(formatList(found, COLUMNS, context.output));
    });
  grant
    .command('received')
    .description('clusters of other organizations that volumes may be in')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const found = await itemsOf((query) => context.api.GET('/grants', { params: { query } }));
      print(formatList(found, RECEIVED, context.output));
    });
  withLimits(grant.command('create').argument('<organization>', 'its id'))
    .description('let an organization place volumes in the cluster')
    .action(async (organizationId: string, options: Limits, command: Command) => {
      const context = new Context(command);
      const path = { clusterId: await context.clusterId() };
      const body = { organizationId, ...changesOf(options) };
      const created = await bodyOf(context.api.POST(GRANTS, { params: { path }, body }));
      printLine(context, created, `${created.id}: created`);
    });
  withLimits(grant.command('set').argument('<grant>', 'its id'))
    .description('change the limits of a grant')
    .action(async (grantId: string, options: Limits, command: Command) => {
      const context = new Context(command);
      const path = { clusterId: await context.clusterId(), grantId };
      const changed = await bodyOf(context.api.PATCH(GRANT, { params: { path }, body: changesOf(options) }));
      printLine(context, changed, `${changed.id}: set`);
    });
  grant
    .command('delete')
    .argument('<grant>', 'its id')
    .description('delete a grant without volumes')
    .action(async (grantId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = { clusterId: await context.clusterId(), grantId };
      await doneOf(context.api.DELETE(GRANT, { params: { path } }));
      print(formatItem({ id: grantId }, () => `${grantId}: is gone`, context.output));
    });
  return grant;
}

function withLimits(command: Command): Command {
  return command
    .option('--bytes <size>', 'bytes of all volumes there, such as 10Ti, or none')
    .option('--volumes <count>', 'number of volumes, or none')
    .option('--rebuilds <count>', 'rebuilds that run at once, or none')
    .option('--node-tags <tags>', 'tags that nodes need, by commas; empty: none')
    .option('--disk-tags <tags>', 'tags that disks need, by commas; empty: none');
}

function changesOf({ bytes, volumes, rebuilds, nodeTags, diskTags }: Limits) {
  return {
    ...(bytes === undefined ? {} : { provisionedBytes: limitOf(bytes, parseSize) }),
    ...(volumes === undefined ? {} : { volumes: limitOf(volumes, Number) }),
    ...(rebuilds === undefined ? {} : { runningRebuilds: limitOf(rebuilds, Number) }),
    ...(nodeTags === undefined ? {} : { nodeTags: tagsOf(nodeTags) }),
    ...(diskTags === undefined ? {} : { diskTags: tagsOf(diskTags) }),
  };
}

function limitOf(text: string, parse: (text: string) => number): number | null {
  if (text === 'none') return null;
  const value = parse(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new CliError(EXIT.usage, `${text} is no limit: a whole number, or none`);
}

function tagsOf(text: string): string[] {
  return text.split(',').flatMap((tag) => (tag.trim() === '' ? [] : [tag.trim()]));
}

function ofLimit(used: number, limit: number | null, told: (amount: number) => string): string {
  return limit === null ? told(used) : `${told(used)} of ${told(limit)}`;
}
