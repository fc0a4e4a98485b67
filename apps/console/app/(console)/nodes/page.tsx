'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Message, Skeleton } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import Link from 'next/link';
import { Suspense } from 'react';
import { useNodePages, useZones } from '../../../src/api/node-queries';
import type { StorageNode } from '../../../src/api/types';
import { AddNodeButton } from '../../../src/join/add-node';
import { DiskTable } from '../../../src/nodes/disk-table';
import { OrphansPanel } from '../../../src/nodes/orphans-panel';
import { paths } from '../../../src/paths';
import { LostVolumesPanel } from '../../../src/recovery/lost-volumes-panel';
import { CopyQuestionAs } from '../../../src/shared/copy-question';
import { AddDiskButton } from '../../../src/shared/disk-dialogs';
import { DrainNote } from '../../../src/shared/drain-panel';
import { FilterInput } from '../../../src/shared/filter-input';
import { CopyNodeAs, MaintenanceNote, NodeButtons } from '../../../src/shared/node-buttons';
import { nodeSearch } from '../../../src/shared/node-search';
import { PageHeader } from '../../../src/shared/page-header';
import { Paged } from '../../../src/shared/paged';
import { useSearchText } from '../../../src/shared/use-search-text';
import { zonesOf } from '../../../src/shared/zone-grid';
import { nodeLook, silenceOf } from '../../../src/states';

/** Panels that are drawn at first, and with each step: as many nodes as one filter names, so that their disks are one request. */
const PANELS = 24;

export default function NodesPage() {
  return (
    <>
      <title>Nodes and disks · Holdfast</title>
      <PageHeader
        title="Nodes and disks"
        subtitle="Which nodes hold the copies, how full they are, and whether they answer."
        actions={
          <>
            <AddNodeButton />
            <CopyQuestionAs
              question={{ path: '/clusters/{clusterId}/nodes', query: { sort: 'zone,name' } }}
              isList
            />
          </>
        }
      />
      <Suspense fallback={<Skeleton rows={6} />}>
        <div className="flex flex-col gap-4">
          <NodePanels />
          <LostVolumesPanel />
          <OrphansPanel />
        </div>
      </Suspense>
    </>
  );
}

/**
 * In a large cluster nodes that need attention come first, a page at a time; a search finds any. A few are in the order of their
 * zones.
 */
function NodePanels() {
  const [text, search] = useSearchText(paths.nodes);
  const total = useZones().data?.reduce((sum, { nodes }) => sum + nodes.total, 0);
  const isMany = total !== undefined && total > PANELS;
  const nodes = useNodePages(nodeSearch(text), { sort: isMany ? '-risk,name' : 'zone,name', limit: PANELS });
  return (
    <>
      {isMany && (
        <FilterInput label="Search nodes" placeholder="Name, zone or tag" value={text} onChange={search} />
      )}
      <Paged
        query={nodes}
        what="the nodes"
        rows={6}
        empty={
          text === '' ? <NoNodes /> : <Message title="No such node" body="No name, zone or tag begins so." />
        }
        note={(shown) => `${shown} shown of ${(total ?? shown).toLocaleString('en')}`}
      >
        {(found) =>
          pagesOf(isMany ? found : zonesOf(found).flatMap(([, members]) => members)).map((page) =>
            page.map((node) => panelOf(node, page)),
          )
        }
      </Paged>
    </>
  );
}

function NoNodes() {
  return (
    <Message
      title="No nodes yet"
      body={
        <>
          A node is a machine with disks, whose agent has joined this cluster by a token: <em>Add node</em>{' '}
          shows the command. A local stack starts one by{' '}
          <code className="font-mono text-xs">npx holdfast local start-agent node-1</code>.
        </>
      }
    />
  );
}

function pagesOf(nodes: readonly StorageNode[]): (readonly StorageNode[])[] {
  return Array.from({ length: Math.ceil(nodes.length / PANELS) }, (_, at) =>
    nodes.slice(at * PANELS, (at + 1) * PANELS),
  );
}

function panelOf(node: StorageNode, page: readonly StorageNode[]) {
  return <NodePanel key={node.id} node={node} beside={page.map(({ id }) => id)} />;
}

function NodePanel({ node, beside }: { node: StorageNode; beside: readonly string[] }) {
  const look = nodeLook(node);
  const silence = silenceOf(node);
  const copies = node.replicas;
  return (
    <Panel
      title={node.name}
      hint={`${node.zone ?? 'no zone'} · ${copies === 1 ? '1 copy' : `${copies} copies`}${node.tags.length > 0 ? ` · ${node.tags.join(', ')}` : ''}`}
      flush
      aside={
        <span className="flex flex-wrap items-center justify-end gap-2 max-sm:justify-start">
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
          {/* On a phone its own page has them: four nodes with all of their buttons would be four screens. */}
          <span className="contents max-sm:hidden">
            <AddDiskButton node={node} />
            <NodeButtons node={node} />
            <CopyNodeAs node={node} />
          </span>
          <Link
            href={paths.node(node.id)}
            className="inline-flex h-8 items-center rounded-md px-2 text-sm text-accent hover:underline"
          >
            Open {node.name}
          </Link>
        </span>
      }
    >
      {silence !== undefined && silence.message !== '' && (
        <p className="bg-bad-soft px-4 py-2 text-sm text-bad">{silence.message}</p>
      )}
      <DrainNote node={node} />
      <MaintenanceNote node={node} />
      <DiskTable node={node} beside={beside} />
    </Panel>
  );
}
