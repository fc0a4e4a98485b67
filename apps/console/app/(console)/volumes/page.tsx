'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import { Plus } from 'lucide-react';
import Link from 'next/link';
import { Suspense, useState } from 'react';
import { useRisk, useVolumePages } from '../../../src/api/queries';
import type { Volume } from '../../../src/api/types';
import { paths } from '../../../src/paths';
import { ListSearch } from '../../../src/shared/list-search';
import { PageHeader } from '../../../src/shared/page-header';
import { Paged } from '../../../src/shared/paged';
import { ReplicaDots } from '../../../src/shared/replica-dots';
import { useNodeNames } from '../../../src/shared/use-names';
import { useSearchText } from '../../../src/shared/use-search-text';
import { RobustnessBadge, StateBadge } from '../../../src/shared/volume-badges';
import { CreateVolume } from '../../../src/volumes/create-volume';
import { filterOf, QUICK_FILTERS } from '../../../src/volumes/volume-filter';

function columns(nodeName: (id: string | null) => string): Column<Volume>[] {
  return [
    {
      header: 'Name',
      cell: (volume) => (
        <Link
          href={paths.volume(volume.id)}
          className="inline-flex min-h-6 items-center font-medium hover:underline"
        >
          {volume.name}
        </Link>
      ),
    },
    { header: 'Health', cell: (volume) => <RobustnessBadge volume={volume} /> },
    { header: 'Copies', cell: (volume) => <ReplicaDots volume={volume} /> },
    { header: 'State', cell: (volume) => <StateBadge volume={volume} /> },
    {
      header: 'Attached to',
      cell: (volume) => <span className="text-muted">{nodeName(volume.attachedNodeId)}</span>,
    },
    { header: 'Size', align: 'right', cell: (volume) => formatBytes(volume.size) },
    {
      header: 'Written',
      align: 'right',
      cell: (volume) => <span className="text-muted">{formatBytes(volume.writtenBytes)}</span>,
    },
  ];
}

/** Worst first, so that the list starts with what needs a look. */
const SORT = '-risk,name';

export default function VolumesPage() {
  return (
    <Suspense>
      <Volumes />
    </Suspense>
  );
}

function Volumes() {
  const [text, search] = useSearchText(paths.volumes);
  const [creating, setCreating] = useState(false);
  const create = (
    <Button variant="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden size={15} /> Create volume
    </Button>
  );
  return (
    <>
      <title>Volumes · Holdfast</title>
      <PageHeader title="Volumes" subtitle="What needs a look comes first." actions={create} />
      <Panel title="All volumes" flush>
        <ListSearch
          label="Search volumes"
          placeholder="Name, or a filter such as size>10Gi"
          quickFilters={QUICK_FILTERS}
          text={text}
          onText={search}
        />
        <VolumeTable text={text} onCreate={() => setCreating(true)} onClear={() => search('')} />
      </Panel>
      <CreateVolume open={creating} onOpenChange={setCreating} />
    </>
  );
}

type TableProps = { text: string; onCreate: () => void; onClear: () => void };

function VolumeTable({ text, onCreate, onClear }: TableProps) {
  const volumes = useVolumePages(filterOf(text), SORT);
  const risk = useRisk();
  const names = useNodeNames();
  const total = text === '' ? risk.data?.volumes.total : undefined;
  const note = (shown: number) => (total === undefined ? `${shown} shown` : `${shown} shown of ${total}`);
  const empty =
    text === '' ? (
      <Message
        title="No volumes yet"
        body={
          <code className="font-mono text-xs">npx holdfast volume create data --size 1Gi --replicas 3</code>
        }
        action={<Button onClick={onCreate}>Create the first one</Button>}
      />
    ) : (
      <Message title="No volume matches" action={<Button onClick={onClear}>Show all</Button>} />
    );
  return (
    <Paged query={volumes} what="the volumes" rows={6} empty={empty} note={note}>
      {(rows) => (
        <Table
          label="Volumes"
          rows={rows}
          columns={columns(names)}
          rowKey={(volume) => volume.id}
          empty={empty}
        />
      )}
    </Paged>
  );
}
