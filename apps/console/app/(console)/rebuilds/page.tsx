'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Message } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import Link from 'next/link';
import { useRebuilds } from '../../../src/api/queries';
import type { Rebuild } from '../../../src/api/types';
import { paths } from '../../../src/paths';
import { RebuildLimitPanel } from '../../../src/rebuilds/rebuild-limit-panel';
import { Loaded } from '../../../src/shared/loaded';
import { PageHeader } from '../../../src/shared/page-header';
import { RebuildProgress } from '../../../src/shared/rebuild-progress';
import { isActive } from '../../../src/shared/rebuilds-panel';
import { useNames } from '../../../src/shared/use-names';
import { WaitingCopies } from '../../../src/shared/waiting-copies';
import { REBUILD_STATE } from '../../../src/states';

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
  const rebuilds = useRebuilds();
  const names = useNames(rebuilds.data ?? []);
  return (
    <>
      <title>Rebuilds · Holdfast</title>
      <PageHeader title="Rebuilds" subtitle="What runs, what waits and for what, and how it went before." />
      <div className="flex flex-col gap-4">
        <Panel title="Running and waiting" flush>
          <Loaded query={rebuilds} what="the rebuilds">
            {(data) => (
              <>
                <ActiveList rebuilds={data.filter(isActive)} names={names} />
                <WaitingCopies />
              </>
            )}
          </Loaded>
        </Panel>
        <RebuildLimitPanel />
        <Panel title="History" flush>
          <Loaded query={rebuilds} what="the history">
            {(data) => (
              <Table
                label="Ended rebuilds"
                rows={data.filter((rebuild) => !isActive(rebuild))}
                columns={historyColumns(names)}
                rowKey={(rebuild) => rebuild.id}
                empty={<Message title="No rebuild has ended yet" />}
              />
            )}
          </Loaded>
        </Panel>
      </div>
    </>
  );
}

function ActiveList({ rebuilds, names }: { rebuilds: readonly Rebuild[]; names: Names }) {
  if (rebuilds.length === 0)
    return (
      <Message
        title="Nothing is being rebuilt"
        body="A copy that is missing and not in the queue is listed here with the reason."
      />
    );
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
