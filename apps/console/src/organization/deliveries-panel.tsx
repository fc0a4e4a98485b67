'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import { usePages } from '../api/queries';
import { useForbidden } from '../api/use-access';
import { type Delivery, webhooksApi } from '../api/webhooks';
import { capitalized } from '../sentence';
import { CopyQuestionAs } from '../shared/copy-question';
import { Paged } from '../shared/paged';
import { useAction } from '../shared/use-action';
import { ORGANIZATION_KEYS, useRefresh } from './use-refresh';
import { DELIVERY_LOOK } from './webhook-words';

/** The log of a webhook's deliveries: request, the receiver's status, and next attempts. */
export function DeliveriesPanel({ webhookId }: { webhookId: string }) {
  const refresh = useRefresh();
  const forbidden = useForbidden()('webhook:write');
  const deliveries = usePages(
    ['organization', 'deliveries', webhookId],
    (cursor) => webhooksApi.deliveryPage(webhookId, cursor),
    // No stream reports deliveries, and the next event may bring one.
    () => true,
  );
  const redeliver = useAction({
    run: ({ id }: Delivery) => webhooksApi.redeliver(webhookId, id),
    done: (_, { type }) => `${type} is sent again.`,
    refusal: 'noted',
    stale: ORGANIZATION_KEYS,
  });
  const columns: Column<Delivery>[] = [
    ...COLUMNS,
    {
      header: 'Actions',
      isHeaderHidden: true,
      align: 'right',
      cell: (delivery) => (
        <Button
          variant="ghost"
          aria-label={`Send again: ${delivery.type}`}
          disabledReason={
            forbidden ?? (delivery.state === 'waiting' ? 'It waits to be sent already.' : undefined)
          }
          onClick={() => redeliver.mutate(delivery)}
        >
          Send again
        </Button>
      ),
    },
  ];
  return (
    <Panel
      title="Deliveries"
      hint="Newest first"
      flush
      aside={
        <span className="flex flex-wrap gap-2">
          <Button onClick={refresh}>Look again</Button>
          <CopyQuestionAs
            of="the deliveries"
            question={{ path: `/webhooks/${webhookId}/deliveries` }}
            isList
          />
        </span>
      }
    >
      <Paged
        query={deliveries}
        what="the deliveries"
        rows={4}
        empty={
          <Message title="Nothing was sent yet" body="The next event that its filter lets through is." />
        }
      >
        {(rows) => (
          <Table
            label="Deliveries"
            rows={rows}
            columns={columns}
            rowKey={({ id }) => id}
            empty={<Message title="Nothing was sent yet" />}
          />
        )}
      </Paged>
    </Panel>
  );
}

const COLUMNS: Column<Delivery>[] = [
  { header: 'Event', cell: ({ type }) => <span className="font-medium">{type}</span> },
  {
    header: 'State',
    cell: ({ state }) => (
      <Badge tone={DELIVERY_LOOK[state].tone} quiet>
        {DELIVERY_LOOK[state].word}
      </Badge>
    ),
  },
  { header: 'Attempts', align: 'right', cell: ({ attempts }) => attempts },
  {
    header: 'The receiver said',
    cell: ({ lastStatus, lastError }) => (
      <span className="text-muted">{lastError === null ? (lastStatus ?? '–') : capitalized(lastError)}</span>
    ),
  },
  {
    header: 'Tried',
    cell: ({ lastAttemptAt, nextAttemptAt }) => (
      <>
        {lastAttemptAt === null ? 'Not yet' : <Moment at={lastAttemptAt} />}
        {lastAttemptAt !== null && nextAttemptAt !== null && (
          <span className="text-muted">
            , again <Moment at={nextAttemptAt} coming />
          </span>
        )}
      </>
    ),
  },
];
