'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import { Plus } from 'lucide-react';
import Link from 'next/link';
import { useState } from 'react';
import { useVolumes } from '../../../src/api/queries';
import type { Volume } from '../../../src/api/types';
import { paths } from '../../../src/paths';
import { Loaded } from '../../../src/shared/loaded';
import { PageHeader } from '../../../src/shared/page-header';
import { ReplicaDots } from '../../../src/shared/replica-dots';
import { useNames } from '../../../src/shared/use-names';
import { RobustnessBadge, StateBadge } from '../../../src/shared/volume-badges';
import { byRisk } from '../../../src/states';
import { CreateVolume } from '../../../src/volumes/create-volume';

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

export default function VolumesPage() {
  const volumes = useVolumes();
  const names = useNames();
  const [creating, setCreating] = useState(false);
  const create = (
    <Button variant="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden size={15} /> Create volume
    </Button>
  );
  const empty = (
    <Message
      title="No volumes yet"
      body={
        <code className="font-mono text-xs">npx holdfast volume create data --size 1Gi --replicas 3</code>
      }
      action={<Button onClick={() => setCreating(true)}>Create the first one</Button>}
    />
  );
  return (
    <>
      <title>Volumes · Holdfast</title>
      <PageHeader title="Volumes" subtitle="What needs a look comes first." actions={create} />
      <Panel title="All volumes" flush>
        <Loaded query={volumes} what="the volumes" rows={6}>
          {(data) => (
            <Table
              label="Volumes"
              rows={[...data].sort(byRisk)}
              columns={columns(names.node)}
              rowKey={(volume) => volume.id}
              empty={empty}
            />
          )}
        </Loaded>
      </Panel>
      <CreateVolume open={creating} onOpenChange={setCreating} />
    </>
  );
}
