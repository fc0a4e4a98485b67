'use client';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { useState } from 'react';
import { useDisksOf, useNodePage, useReplicaCounts } from '../api/node-queries';
import type { StorageNode, Zone } from '../api/types';
import { FilterInput } from '../shared/filter-input';
import { Loaded } from '../shared/loaded';
import { nodeSearch, nodesIn } from '../shared/node-search';
import { NoneFound } from '../shared/none-found';
import { NodeCard } from './node-card';

/** Nodes that are drawn at a time, about a screen of them. */
const SHOWN = 12;

/**
 * The nodes of one zone with their disks, those that need attention first. A page replaces the previous one, so that neither the page
 * nor its refetching grows.
 */
export function ZoneNodes({ zone }: { zone: Zone }) {
  const [text, setText] = useState('');
  /** Where the pages up to the shown one begin; the first has no cursor. */
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const found = nodeSearch(text);
  const nodes = useNodePage({
    filter: found === '' ? nodesIn(zone) : `${nodesIn(zone)} AND (${found})`,
    sort: '-risk,name',
    limit: SHOWN,
    cursor: cursors.at(-1),
  });
  const name = zone.zone ?? 'no zone';
  return (
    <section aria-label={`Nodes of ${name}`} className="rounded-md border border-border bg-sunken p-2">
      <div className="flex flex-wrap items-center justify-between gap-2 px-1 pb-2">
        <h3 className="text-sm font-medium">Nodes of {name}</h3>
        <FilterInput
          label={`Search nodes of ${name}`}
          placeholder="Name or tag"
          value={text}
          onChange={(next) => {
            setText(next);
            setCursors([]);
          }}
        />
      </div>
      <Loaded query={nodes} what="the nodes" rows={4}>
        {({ items, nextCursor }) => (
          <>
            {items.length === 0 ? (
              <NoneFound query={nodes} rows={4}>
                <Message title="No such node" />
              </NoneFound>
            ) : (
              <Nodes nodes={items} />
            )}
            {(cursors.length > 0 || nextCursor !== null) && (
              <div className="flex items-center justify-between gap-2 px-1 pt-2">
                <p role="status" className="text-xs text-muted tabular-nums">
                  {placeText(cursors.length, items.length, found === '' ? zone.nodes.total : undefined)}
                </p>
                <span className="flex gap-2">
                  <Button
                    disabledReason={cursors.length === 0 ? 'These are the first' : undefined}
                    onClick={() => setCursors(cursors.slice(0, -1))}
                  >
                    Earlier
                  </Button>
                  <Button
                    disabledReason={nextCursor === null ? 'These are the last' : undefined}
                    busy={nodes.isPlaceholderData}
                    onClick={() => nextCursor !== null && setCursors([...cursors, nextCursor])}
                  >
                    Later
                  </Button>
                </span>
              </div>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

/** `25 to 48 of 200`, and without the last part where it is not known. */
function placeText(pagesBefore: number, shown: number, total: number | undefined): string {
  const first = pagesBefore * SHOWN + 1;
  const span = `${first.toLocaleString('en')} to ${(first + shown - 1).toLocaleString('en')}`;
  return total === undefined ? span : `${span} of ${total.toLocaleString('en')}`;
}

function Nodes({ nodes }: { nodes: readonly StorageNode[] }) {
  const ids = nodes.map(({ id }) => id);
  const disks = useDisksOf(ids).data ?? [];
  const counts = useReplicaCounts(ids).data;
  return (
    <div className="grid gap-2 [grid-template-columns:repeat(auto-fill,minmax(13rem,1fr))]">
      {nodes.map((node) => (
        <NodeCard
          key={node.id}
          node={node}
          disks={disks.filter(({ nodeId }) => nodeId === node.id)}
          placed={undefined}
          counts={counts}
        />
      ))}
    </div>
  );
}
