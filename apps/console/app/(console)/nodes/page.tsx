'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import Link from 'next/link';
import { useState } from 'react';
import { useNodes } from '../../../src/api/queries';
import type { StorageNode } from '../../../src/api/types';
import { AddDiskButton } from '../../../src/nodes/disk-dialogs';
import { DiskTable } from '../../../src/nodes/disk-table';
import { DrainNote } from '../../../src/nodes/drain-panel';
import { MaintenanceNote, NodeButtons } from '../../../src/nodes/node-buttons';
import { OrphansPanel } from '../../../src/nodes/orphans-panel';
import { paths } from '../../../src/paths';
import { FilterInput } from '../../../src/shared/filter-input';
import { Loaded } from '../../../src/shared/loaded';
import { PageHeader } from '../../../src/shared/page-header';
import { useSearchText } from '../../../src/shared/use-search-text';
import { zonesOf } from '../../../src/shared/zone-grid';
import { nodeLook } from '../../../src/states';

/** Panels that are drawn at first, and with each step. */
const PANELS = 24;

export default function NodesPage() {
  const nodes = useNodes();
  return (
    <>
      <title>Nodes and disks · Holdfast</title>
      <PageHeader
        title="Nodes and disks"
        subtitle="Who holds the copies, how full they are, and whether they answer."
      />
      <Loaded query={nodes} what="the nodes" rows={6}>
        {(data) =>
          data.length === 0 ? (
            <Message
              title="No nodes yet"
              body={<code className="font-mono text-xs">npx holdfast local start-agent node-1</code>}
            />
          ) : (
            <div className="flex flex-col gap-4">
              <NodePanels nodes={data} />
              <OrphansPanel />
            </div>
          )
        }
      </Loaded>
    </>
  );
}

/** Of many nodes those that need a look come first, a screen or two at a time; a search finds any. */
function NodePanels({ nodes }: { nodes: readonly StorageNode[] }) {
  const [text, search] = useSearchText(paths.nodes);
  const [shown, setShown] = useState(PANELS);
  const all = zonesOf(nodes).flatMap(([, members]) => members);
  if (all.length <= PANELS) return all.map((node) => <NodePanel key={node.id} node={node} />);
  const words = text.trim().toLowerCase();
  const found = all.filter(({ name, zone, tags }) =>
    [name, zone ?? '', ...tags].some((word) => word.toLowerCase().includes(words)),
  );
  const rank = (node: StorageNode) => (nodeLook(node).tone === 'good' ? 1 : 0);
  const inOrder = found.sort((a, b) => rank(a) - rank(b));
  return (
    <>
      <FilterInput label="Search nodes" placeholder="Name, zone or tag" value={text} onChange={search} />
      {inOrder.slice(0, shown).map((node) => (
        <NodePanel key={node.id} node={node} />
      ))}
      {inOrder.length === 0 && (
        <Message title="No such node" body="No name, zone or tag has these letters." />
      )}
      {inOrder.length > shown && (
        <p className="flex items-center gap-3 text-xs text-muted">
          {`${shown} shown of ${inOrder.length.toLocaleString('en')}`}
          <Button onClick={() => setShown(shown + PANELS)}>Show more</Button>
        </p>
      )}
    </>
  );
}

function NodePanel({ node }: { node: StorageNode }) {
  const look = nodeLook(node);
  const ready = node.conditions.find((condition) => condition.type === 'Ready');
  const copies = node.replicas;
  return (
    <Panel
      title={node.name}
      hint={`${node.zone ?? 'no zone'} · ${copies === 1 ? '1 copy' : `${copies} copies`}${node.tags.length > 0 ? ` · ${node.tags.join(', ')}` : ''}`}
      flush
      aside={
        <span className="flex flex-wrap items-center justify-end gap-2">
          <span className="text-xs text-muted max-sm:hidden">
            {node.lastHeartbeatAt === null ? (
              'Never heard of'
            ) : (
              <>
                Heard <Moment at={node.lastHeartbeatAt} />
              </>
            )}
          </span>
          <Badge tone={look.tone}>{look.word}</Badge>
          <AddDiskButton node={node} />
          <NodeButtons node={node} />
          <Link
            href={paths.node(node.id)}
            className="inline-flex h-8 items-center rounded-md px-2 text-sm text-accent hover:underline"
          >
            Open {node.name}
          </Link>
        </span>
      }
    >
      {look.tone === 'bad' && ready !== undefined && ready.message !== '' && (
        <p className="bg-bad-soft px-4 py-2 text-sm text-bad">{ready.message}</p>
      )}
      <DrainNote node={node} />
      <MaintenanceNote node={node} />
      <DiskTable node={node} />
    </Panel>
  );
}
