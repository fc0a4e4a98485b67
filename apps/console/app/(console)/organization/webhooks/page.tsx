'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { Moment } from '@holdfast/ui/moment.js';
import type { Column } from '@holdfast/ui/table.js';
import Link from 'next/link';
import { useState } from 'react';
import { useForbidden } from '../../../../src/api/use-access';
import { type Webhook, webhooksApi } from '../../../../src/api/webhooks';
import { FormDialog } from '../../../../src/organization/form-dialog';
import { ListPanel, useOrganizationList } from '../../../../src/organization/list-panel';
import { textIn } from '../../../../src/organization/role-field';
import { type Secret, SecretDialog } from '../../../../src/organization/secret-dialog';
import { webhookLook } from '../../../../src/organization/webhook-words';
import { paths } from '../../../../src/paths';

/** Where events are sent to, and whether they arrive. */
export default function WebhooksPage() {
  const webhooks = useOrganizationList('webhooks', webhooksApi.webhooks);
  const forbidden = useForbidden()('webhook:write');
  const [isAsked, setAsked] = useState(false);
  const [secret, setSecret] = useState<Secret>();
  return (
    <>
      <ListPanel
        title="Webhooks"
        hint="Where events are sent to, signed"
        query={webhooks}
        what="the webhooks"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={{
          title: 'No webhooks yet',
          body: 'Events can be sent to a chat, a pager or a program of yours.',
        }}
        aside={
          <Button variant="primary" disabledReason={forbidden} onClick={() => setAsked(true)}>
            New webhook…
          </Button>
        }
      />
      {isAsked && (
        <FormDialog
          title="New webhook"
          description="It gets new events. You get the secret that signs its deliveries."
          submitLabel="Create webhook"
          done="shown"
          run={(form) =>
            webhooksApi.create({
              name: textIn(form, 'name'),
              url: textIn(form, 'url'),
              filter: textIn(form, 'filter'),
            })
          }
          onClose={() => setAsked(false)}
          onResult={({ name, secret: text }) =>
            setSecret({ title: `Webhook ${name}`, use: 'Its receiver checks signatures with this.', text })
          }
        >
          {(errorAt) => (
            <>
              <TextField label="Name" name="name" required error={errorAt('/name')} />
              <TextField
                label="Address"
                name="url"
                type="url"
                required
                placeholder="https://example.com/events"
                error={errorAt('/url')}
              />
              <TextField
                label="Which events"
                name="filter"
                placeholder="severity in (warning, error)"
                hint="As lists are filtered. Empty: all."
                error={errorAt('/filter')}
              />
            </>
          )}
        </FormDialog>
      )}
      <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />
    </>
  );
}

const COLUMNS: Column<Webhook>[] = [
  {
    header: 'Name',
    cell: ({ id, name }) => (
      <Link href={paths.webhook(id)} className="inline-flex min-h-6 items-center font-medium hover:underline">
        {name}
      </Link>
    ),
  },
  {
    header: 'To',
    cell: ({ url }) => <span className="break-all font-mono text-xs text-muted">{url}</span>,
  },
  {
    header: 'Which',
    cell: ({ filter }) =>
      filter === '' ? 'All events' : <code className="font-mono text-xs">{filter}</code>,
  },
  {
    header: 'State',
    cell: (webhook) => {
      const { tone, word } = webhookLook(webhook);
      return (
        <Badge tone={tone} quiet>
          {word}
        </Badge>
      );
    },
  },
  {
    header: 'Last taken',
    cell: ({ lastDeliveredAt }) => (lastDeliveredAt === null ? 'Never' : <Moment at={lastDeliveredAt} />),
  },
];
