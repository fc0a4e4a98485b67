'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import Link from 'next/link';
import { useSomeNodes } from '../api/node-queries';
import type { StorageNode } from '../api/types';
import { paths } from '../paths';
import { CapacityBar, usageOfSums } from '../shared/capacity-panel';
import { Loaded } from '../shared/loaded';

/** Nodes that are listed; the rest have more room. */
const SHOWN_MAX = 20;

/**
 * Nodes by how much of their space is promised, the fullest first.
 *
 * @param total how many nodes there are
 */
export function FullestPanel({ total }: { total: number }) {
  const nodes = useSomeNodes({ sort: '-promisedPercent,name', limit: SHOWN_MAX });
  const hint = total > SHOWN_MAX ? `${SHOWN_MAX} of ${total.toLocaleString('en')} shown` : 'All nodes';
  return (
    <Panel title="The fullest nodes" hint={hint} flush>
      <Loaded query={nodes} what="the nodes">
        {(fullest) => (
          <Table label="Nodes" rows={fullest} columns={COLUMNS} rowKey={({ id }) => id} empty={null} />
        )}
      </Loaded>
    </Panel>
  );
}

/** Share of a node's capacity that is promised to volumes. */
function promised({ storage }: StorageNode): number {
  const usable = storage.maximum - storage.reserved;
  return usable > 0 ? storage.scheduled / usable : 0;
}

const COLUMNS: Column<StorageNode>[] = [
  {
    header: 'Node',
    cell: ({ id, name }) => (
      <Link href={paths.node(id)} className="inline-flex min-h-6 items-center font-medium hover:underline">
        {name}
      </Link>
    ),
  },
  { header: 'Zone', cell: ({ zone }) => zone ?? 'no zone' },
  {
    header: 'Use',
    className: 'min-w-44',
    cell: ({ name, storage }) => (
      <span className="block w-full min-w-32">
        <CapacityBar label={name} usage={usageOfSums([storage])} />
      </span>
    ),
  },
  { header: 'Promised', align: 'right', cell: (node) => `${Math.round(100 * promised(node))} %` },
  { header: 'Written', align: 'right', cell: ({ storage }) => formatBytes(storage.written) },
  { header: 'Free', align: 'right', cell: ({ storage }) => formatBytes(storage.available) },
];
