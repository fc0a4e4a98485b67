import { Command } from 'commander';
import { bodyOf, doneOf, itemsOf } from '../api.js';
import { Context, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import { age } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { Webhook, WebhookChange, WebhookDelivery } from '../types.js';

const WEBHOOK = '/webhooks/{webhookId}';
const DELIVERY = '/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver';

function columns(now: Date): Column<Webhook>[] {
  return [
    { header: 'name', cell: ({ name }) => name },
    { header: 'state', cell: stateOf, tone: (hook) => (stateOf(hook) === 'delivers' ? 'good' : 'warn') },
    { header: 'url', cell: ({ url }) => url },
    { header: 'filter', cell: ({ filter }) => filter },
    {
      header: 'delivered',
      cell: ({ lastDeliveredAt }) => (lastDeliveredAt === null ? '' : age(lastDeliveredAt, now)),
      align: 'right',
    },
    { header: 'id', cell: ({ id }) => id },
  ];
}

function stateOf({ isEnabled, disabledReason, failingSince }: Webhook): string {
  if (!isEnabled) return disabledReason === null ? 'disabled' : `disabled: ${disabledReason}`;
  return failingSince === null ? 'delivers' : `fails since ${failingSince}`;
}

const DELIVERY_COLUMNS: Column<WebhookDelivery>[] = [
  { header: 'event', cell: ({ type }) => type },
  {
    header: 'state',
    cell: ({ state }) => state,
    tone: ({ state }) => (state === 'failed' ? 'warn' : 'plain'),
  },
  { header: 'attempts', cell: ({ attempts }) => String(attempts), align: 'right' },
  { header: 'last', cell: ({ lastError, lastStatus }) => lastError ?? String(lastStatus ?? '') },
  { header: 'next', cell: ({ nextAttemptAt }) => nextAttemptAt ?? '' },
  { header: 'id', cell: ({ id }) => id },
];

export function webhookCommand(): Command {
  const webhook = new Command('webhook');
  webhook
    .command('list')
    .description('all webhooks of the organization')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const found = await itemsOf((query) => context.api.GET('/webhooks', { params: { query } }));
      print(formatList(found, columns(context.now), context.output));
    });
  webhook
    .command('create')
    .argument('<name>')
    .argument('<url>', 'an https address')
    .option('--filter <filter>', 'which events, such as "severity=error OR type=Node*"', '')
    .description('have events sent to an address; prints the secret that they are signed with, once')
    .action(async (name: string, url: string, { filter }: { filter: string }, command: Command) => {
      const context = new Context(command);
      const made = await bodyOf(context.api.POST('/webhooks', { body: { name, url, filter } }));
      print(formatItem(made, () => `${made.name}: ${made.id}\n  signed with ${made.secret}`, context.output));
    });
  webhook
    .command('set')
    .argument('<webhook>', 'id')
    .option('--name <name>')
    .option('--url <url>', 'an https address')
    .option('--filter <filter>', 'which events; empty: all')
    .option('--enable', 'go on where it stopped')
    .option('--disable', 'send nothing until it is enabled')
    .option('--skip-backlog', 'drop waiting deliveries, and continue with new events')
    .description('change a webhook')
    .action(async (webhookId: string, options: SetOptions, command: Command) => {
      const context = new Context(command);
      const params = { path: { webhookId } };
      const changed = await bodyOf(context.api.PATCH(WEBHOOK, { params, body: changeOf(options) }));
      print(formatItem(changed, () => `${changed.name}: ${stateOf(changed)}`, context.output));
    });
  addOtherCommands(webhook);
  return webhook;
}

type SetOptions = Pick<WebhookChange, 'name' | 'url' | 'filter'> & {
  enable?: boolean;
  disable?: boolean;
  skipBacklog?: boolean;
};

function changeOf({ enable, disable, skipBacklog = false, ...fields }: SetOptions): WebhookChange {
  if (enable === true && disable === true) throw new CliError(EXIT.usage, 'it is enabled or disabled');
  const isEnabled = enable === true ? true : disable === true ? false : undefined;
  return { ...fields, skipBacklog, ...(isEnabled === undefined ? {} : { isEnabled }) };
}

function addOtherCommands(webhook: Command): void {
  webhook
    .command('rotate-secret')
    .argument('<webhook>', 'id')
    .option('--overlap-hours <n>', 'hours in which the secret before signs too', Number, 24)
    .description('give it another secret, printed once')
    .action(async (webhookId: string, { overlapHours }: { overlapHours: number }, command: Command) => {
      const context = new Context(command);
      const params = { path: { webhookId } };
      const made = await bodyOf(
        context.api.POST(`${WEBHOOK}/rotate-secret`, { params, body: { overlapHours } }),
      );
      const text = () => `${made.secret}\n  the one before signs too until ${made.previousValidUntil}`;
      print(formatItem(made, text, context.output));
    });
  webhook
    .command('deliveries')
    .argument('<webhook>', 'id')
    .description('its deliveries, done and waiting')
    .action(async (webhookId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await itemsOf((query) =>
        context.api.GET(`${WEBHOOK}/deliveries`, { params: { path: { webhookId }, query } }),
      );
      print(formatList(found, DELIVERY_COLUMNS, context.output));
    });
  webhook
    .command('redeliver')
    .argument('<webhook>', 'id')
    .argument('<delivery>', 'id')
    .description('repeat a delivery that was done or given up')
    .action(async (webhookId: string, deliveryId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const asked = await bodyOf(context.api.POST(DELIVERY, { params: { path: { webhookId, deliveryId } } }));
      print(formatItem(asked, () => `${asked.type}: is sent again`, context.output));
    });
  webhook
    .command('delete')
    .argument('<webhook>', 'id')
    .description('delete a webhook, with the log of its deliveries')
    .action(async (webhookId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = { webhookId };
      await doneOf(context.api.DELETE(WEBHOOK, { params: { path } }));
      print(formatItem(path, () => `${webhookId}: is deleted`, context.output));
    });
}
