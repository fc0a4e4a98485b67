'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import { BellRing } from 'lucide-react';
import { useState } from 'react';
import { SilenceDialog } from '../../../src/alerts/silence-dialog';
import { api, RESOLVED_ALERTS, silencesNow } from '../../../src/api/client';
import { keys, useAlertsNow, useResolvedAlerts, useSilences } from '../../../src/api/queries';
import type { Alert, Silence } from '../../../src/api/types';
import { useForbidden } from '../../../src/api/use-access';
import { useCluster } from '../../../src/api/use-cluster';
import { capitalized } from '../../../src/sentence';
import { CopyQuestionAs } from '../../../src/shared/copy-question';
import { Loaded } from '../../../src/shared/loaded';
import { Maker } from '../../../src/shared/maker';
import { PageHeader } from '../../../src/shared/page-header';
import { Paged } from '../../../src/shared/paged';
import { useAction } from '../../../src/shared/use-action';

/** As the page lists them: those that fire, then those that are silenced. */
const ALERTS = {
  path: '/clusters/{clusterId}/alerts',
  query: { filter: 'state in (firing, silenced)', sort: 'state,-since' },
};

const RESOLVED = { path: '/clusters/{clusterId}/alerts', query: RESOLVED_ALERTS };

const STATES = {
  firing: { tone: 'bad', word: 'Firing' },
  silenced: { tone: 'idle', word: 'Silenced' },
  resolved: { tone: 'good', word: 'Resolved' },
} as const;

export default function AlertsPage() {
  const alerts = useAlertsNow();
  const resolved = useResolvedAlerts();
  const silences = useSilences();
  const [silencing, setSilencing] = useState<Alert>();
  return (
    <>
      <title>Alerts · Holdfast</title>
      <PageHeader
        title="Alerts"
        subtitle="Causes that need an operator, each once, with its effects."
        actions={<CopyQuestionAs question={ALERTS} isList />}
      />
      <div className="flex flex-col gap-4">
        <Panel title="Now" hint="All that fire, then those that are silenced" flush>
          <Loaded query={alerts} what="the alerts" rows={4}>
            {(data) =>
              data.length === 0 ? (
                <Message title="Nothing needs attention" />
              ) : (
                <AlertRows alerts={data} onSilence={setSilencing} />
              )
            }
          </Loaded>
        </Panel>
        <Panel
          title="Silences"
          hint="Times in which matching alerts are not announced"
          flush
          aside={
            <CopyQuestionAs
              of="the silences"
              question={{ path: '/clusters/{clusterId}/silences', query: { filter: silencesNow() } }}
              isList
            />
          }
        >
          <Loaded query={silences} what="the silences" rows={1}>
            {(data) =>
              data.length === 0 ? (
                <p className="p-4 text-sm text-muted">None. An alert is silenced from its line above.</p>
              ) : (
                <ul>
                  {data.map((silence) => (
                    <SilenceRow key={silence.id} silence={silence} />
                  ))}
                </ul>
              )
            }
          </Loaded>
        </Panel>
        <Panel
          title="Over"
          hint="The last first"
          flush
          aside={<CopyQuestionAs of="the alerts that are over" question={RESOLVED} isList />}
        >
          <Paged
            query={resolved}
            what="the alerts that are over"
            rows={2}
            empty={<p className="p-4 text-sm text-muted">None is over yet.</p>}
            note={(shown) => `${shown.toLocaleString('en')} shown; there are older ones`}
            more="Show older"
          >
            {(data) => <AlertRows alerts={data} onSilence={setSilencing} />}
          </Paged>
        </Panel>
      </div>
      {silencing !== undefined && <SilenceDialog alert={silencing} onDone={() => setSilencing(undefined)} />}
    </>
  );
}

type RowsProps = { alerts: readonly Alert[]; onSilence: (alert: Alert) => void };

function AlertRows({ alerts, onSilence }: RowsProps) {
  return (
    <ul>
      {alerts.map((alert) => (
        <AlertRow key={alert.id} alert={alert} onSilence={onSilence} />
      ))}
    </ul>
  );
}

function AlertRow({ alert, onSilence }: { alert: Alert; onSilence: (alert: Alert) => void }) {
  const { tone, word } = STATES[alert.state];
  const forbidden = useForbidden()('alert:write');
  const isWarning = alert.state === 'firing' && alert.severity === 'warning';
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-border px-4 py-3 last:border-0">
      <span className="w-24">
        <Badge tone={isWarning ? 'warn' : tone}>{word}</Badge>
      </span>
      <span className="min-w-0 flex-1 basis-72">
        <span className="block text-sm font-medium">{capitalized(alert.message)}</span>
        <span className="block text-xs text-muted">
          {alert.rule}, since <Moment at={alert.since} />
          {alert.resolvedAt !== null && (
            <>
              , gone <Moment at={alert.resolvedAt} />
            </>
          )}
        </span>
      </span>
      {alert.state === 'firing' && (
        <Button
          aria-label={`Silence: ${alert.message}`}
          disabledReason={forbidden}
          onClick={() => onSilence(alert)}
        >
          Silence
        </Button>
      )}
    </li>
  );
}

function SilenceRow({ silence }: { silence: Silence }) {
  const cluster = useCluster();
  const forbidden = useForbidden()('alert:write');
  const end = useAction({
    run: () => api.endSilence(cluster.id, silence.id),
    done: () => 'The silence has ended.',
    refusal: 'noted',
    stale: [keys.alerts(cluster.id)],
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-border px-4 py-2 last:border-0">
      <span className="min-w-0 flex-1 basis-72">
        <span className="block text-sm">{silence.comment}</span>
        <span className="block font-mono text-xs break-words text-muted">{silence.matcher}</span>
        <span className="block text-xs text-muted">
          Ends <Moment at={silence.endsAt} coming />, made by <Maker id={silence.author} />
        </span>
      </span>
      <Button busy={end.isPending} disabledReason={forbidden} onClick={() => end.mutate()}>
        <BellRing aria-hidden size={15} /> End
      </Button>
    </li>
  );
}
