'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Message } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import Link from 'next/link';
import { ACTIVE_REBUILDS, ENDED_REBUILDS, ENDED_REBUILDS_SORT } from '../../../src/api/client';
import { useActiveRebuilds, useEndedRebuilds, useQueueLength } from '../../../src/api/rebuild-queries';
import type { Rebuild } from '../../../src/api/types';
import { paths } from '../../../src/paths';
import { RebuildLimitPanel } from '../../../src/rebuilds/rebuild-limit-panel';
import { CopyQuestionAs } from '../../../src/shared/copy-question';
import { PageHeader } from '../../../src/shared/page-header';
import { Paged } from '../../../src/shared/paged';
import { RebuildProgress } from '../../../src/shared/rebuild-progress';
import { useNames } from '../../../src/shared/use-names';
import { WaitingCopies } from '../../../src/shared/waiting-copies';
import { REBUILD_STATE } from '../../../src/states';

const ACTIVE = {
  path: '/clusters/{clusterId}/rebuilds',
  query: { filter: ACTIVE_REBUILDS, sort: 'queueOrder' },
};

const ENDED = {
  path: '/clusters/{clusterId}/rebuilds',
  query: { filter: ENDED_REBUILDS, sort: ENDED_REBUILDS_SORT },
};

type Names = ReturnType<typeof useNames>;

function historyColumns(names: Names): Column<Rebuild>[] {
  return [
    {
      header: 'Volume',
      cell: (rebuild) => (
        <Link
          href={paths.volume(rebuild.volumeId)}
          className="inline-flex min-h-6 items-center font-medium hover:underline"
        >
          {names.volume(rebuild.volumeId)}
        </Link>
      ),
    },
    { header: 'To', cell: (rebuild) => names.node(rebuild.targetNodeId) },
    {
      header: 'End',
      cell: (rebuild) => (
        <span title={rebuild.error?.message}>
          <Badge tone={REBUILD_STATE[rebuild.state].tone} quiet>
            {REBUILD_STATE[rebuild.state].word}
          </Badge>
        </span>
      ),
    },
    {
      header: 'How',
      cell: (rebuild) => (
        <span className="text-muted">
          {[...new Set(rebuild.snapshots.map(({ method }) => method))].join(', ')}
        </span>
      ),
    },
    { header: 'Sent', align: 'right', cell: (rebuild) => formatBytes(rebuild.bytes.sent) },
    { header: 'Took', align: 'right', cell: duration },
    {
      header: 'Ended',
      align: 'right',
      cell: (rebuild) => (rebuild.finishedAt === null ? '' : <Moment at={rebuild.finishedAt} />),
    },
  ];
}

function duration(rebuild: Rebuild): string {
  if (rebuild.startedAt === null || rebuild.finishedAt === null) return '–';
  const seconds = (Date.parse(rebuild.finishedAt) - Date.parse(rebuild.startedAt)) / 1000;
  return seconds < 60
    ? `${seconds.toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

export default function RebuildsPage() {
  const active = useActiveRebuilds();
  const queue = useQueueLength(active.hasNextPage);
  const ended = useEndedRebuilds();
  return (
    <>
      <title>Rebuilds · Holdfast</title>
      <PageHeader
        title="Rebuilds"
        subtitle="Running and waiting rebuilds with their reasons, and earlier ones."
        actions={<CopyQuestionAs question={ACTIVE} isList />}
      />
      <div className="flex flex-col gap-4">
        <Panel
          title="Running and waiting"
          hint="Those that wait go by priority: fewest full copies first, then the oldest"
          flush
        >
          <Paged
            query={active}
            what="the rebuilds"
            rows={3}
            empty={<NoRebuilds />}
            note={(shown) => shownOf(shown, queue.data)}
          >
            {(rebuilds) => <ActiveList rebuilds={rebuilds} />}
          </Paged>
          <WaitingCopies />
        </Panel>
        <RebuildLimitPanel />
        <Panel title="History" flush aside={<CopyQuestionAs of="the history" question={ENDED} isList />}>
          <Paged
            query={ended}
            what="the history"
            rows={3}
            empty={<Message title="No rebuild has ended yet" />}
            note={(shown) => `${shown.toLocaleString('en')} shown; there are older ones`}
            more="Show older"
          >
            {(rebuilds) => <History rebuilds={rebuilds} />}
          </Paged>
        </Panel>
      </div>
    </>
  );
}

/** @param waiting number of those in the queue, once it is known */
function shownOf(shown: number, waiting: number | undefined): string {
  const more = `${shown.toLocaleString('en')} shown; there are more`;
  return waiting === undefined ? more : `${more}: ${waiting.toLocaleString('en')} wait in the queue`;
}

function NoRebuilds() {
  return (
    <Message
      title="Nothing is being rebuilt"
      body="A copy that is missing and not in the queue is listed here with the reason."
    />
  );
}

function ActiveList({ rebuilds }: { rebuilds: readonly Rebuild[] }) {
  const names = useNames(rebuilds);
  return (
    <ul>
      {rebuilds.map((rebuild) => (
        <li key={rebuild.id} className="border-b border-border px-4 py-3 last:border-0">
          <RebuildProgress
            rebuild={rebuild}
            withControls
            names={{ volume: names.volume(rebuild.volumeId), node: names.node(rebuild.targetNodeId) }}
          />
        </li>
      ))}
    </ul>
  );
}

function History({ rebuilds }: { rebuilds: readonly Rebuild[] }) {
  const names = useNames(rebuilds);
  return (
    <Table
      label="Ended rebuilds"
      rows={rebuilds}
      columns={historyColumns(names)}
      rowKey={(rebuild) => rebuild.id}
      empty={null}
    />
  );
}
