'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Message } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { use, useState } from 'react';
import { useForbidden } from '../../../../../src/api/use-access';
import { type Webhook, webhooksApi } from '../../../../../src/api/webhooks';
import { ConfirmButton } from '../../../../../src/organization/confirm-button';
import { DeliveriesPanel } from '../../../../../src/organization/deliveries-panel';
import { type Secret, SecretDialog } from '../../../../../src/organization/secret-dialog';
import { webhookLook } from '../../../../../src/organization/webhook-words';
import { paths } from '../../../../../src/paths';
import { sentence } from '../../../../../src/sentence';
import { Breadcrumbs } from '../../../../../src/shared/breadcrumbs';
import { FactsList } from '../../../../../src/shared/facts-list';
import { Loaded } from '../../../../../src/shared/loaded';

const LOOK_MS = 10_000;

/** One webhook: filter, address, and the log of its deliveries. */
export default function WebhookPage({ params }: { params: Promise<{ webhookId: string }> }) {
  const { webhookId } = use(params);
  const webhook = useQuery({
    queryKey: ['organization', 'webhooks', webhookId],
    queryFn: () => webhooksApi.webhook(webhookId),
    // No stream reports whether its receiver still answers.
    refetchInterval: LOOK_MS,
  });
  return (
    <>
      <Breadcrumbs trail={[{ href: paths.webhooks, label: 'Webhooks' }]} />
      <Loaded query={webhook} what="the webhook">
        {(data) => (
          <>
            <WebhookPanel webhook={data} />
            <DeliveriesPanel webhookId={webhookId} />
          </>
        )}
      </Loaded>
    </>
  );
}

function WebhookPanel({ webhook }: { webhook: Webhook }) {
  const { name, url, filter, disabledReason, failingSince, lastDeliveredAt } = webhook;
  const look = webhookLook(webhook);
  return (
    <Panel title={name} aside={<WebhookButtons webhook={webhook} />}>
      <div className="sm:[&_dd]:text-left">
        <FactsList
          facts={{
            State: <Badge tone={look.tone}>{look.word}</Badge>,
            'Sends to': <span className="break-all font-mono text-xs">{url}</span>,
            'Which events': filter === '' ? 'All' : <code className="font-mono text-xs">{filter}</code>,
            'Last taken': lastDeliveredAt === null ? 'Never' : <Moment at={lastDeliveredAt} />,
            'Failing since': failingSince === null ? undefined : <Moment at={failingSince} />,
          }}
        />
      </div>
      {disabledReason !== null && <Message tone="problem" title={sentence(disabledReason)} />}
    </Panel>
  );
}

function WebhookButtons({ webhook: { id, name, isEnabled } }: { webhook: Webhook }) {
  const router = useRouter();
  const forbidden = useForbidden()('webhook:write');
  const [secret, setSecret] = useState<Secret>();
  return (
    <span className="flex flex-wrap">
      <ConfirmButton
        label={isEnabled ? 'Turn off' : 'Turn on'}
        of={name}
        question={isEnabled ? `Turn ${name} off?` : `Turn ${name} on?`}
        consequence={isEnabled ? 'Events wait until it is on again.' : 'Waiting deliveries are sent first.'}
        done={isEnabled ? `${name} is off.` : `${name} is on.`}
        disabledReason={forbidden}
        run={() => webhooksApi.change(id, { isEnabled: !isEnabled })}
      />
      <ConfirmButton
        label="Rotate secret"
        of={`of ${name}`}
        question={`A new secret for ${name}?`}
        consequence="The one before signs too for a while, so that the receiver can change over."
        done={`${name} has a new secret.`}
        disabledReason={forbidden}
        run={async () =>
          setSecret({
            title: `Secret of ${name}`,
            use: 'Its receiver checks signatures with this.',
            text: (await webhooksApi.rotateSecret(id)).secret,
          })
        }
      />
      <ConfirmButton
        label="Delete"
        of={name}
        question={`Delete ${name}?`}
        consequence="Waiting deliveries are dropped, and their log is deleted."
        done={`${name} is deleted.`}
        disabledReason={forbidden}
        run={() => webhooksApi.remove(id)}
        onDone={() => router.replace(paths.webhooks)}
      />
      <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />
    </span>
  );
}
