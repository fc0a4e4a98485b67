'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { ChevronDown, ChevronUp } from 'lucide-react';
import Link from 'next/link';
import { usePathname, useSearchParams } from 'next/navigation';
import { useSomeNodes } from '../api/node-queries';
import type { StorageNode, Zone } from '../api/types';
import { paths } from '../paths';
import { CapacityBar, usageOfSums } from '../shared/capacity-panel';
import { CountedCopies } from '../shared/counted-copies';
import { NODE_STANDINGS } from '../states';
import { NodeFrame } from './node-card';
import { ZoneNodes } from './zone-nodes';

/** Nodes of a zone that are drawn because they need attention; a zone that is down as a whole needs one line, and not a hundred. */
const SHOWN_MAX = 4;
/** Nodes that need attention, of all zones: beyond that the sums show them. */
const UNWELL_MAX = 100;

/** The opened zone is in the address. */
const OPEN = 'zone';

/**
 * The zones of a cluster with more nodes than one can look at: each summed up by the API, with those of its nodes that are not well.
 * One zone at a time is opened to its nodes and their disks, so that as much is drawn of a thousand nodes as of thirty.
 */
export function ZoneSummaries({ zones }: { zones: readonly Zone[] }) {
  const unwell = useSomeNodes({ filter: 'risk>0', sort: '-risk,name', limit: UNWELL_MAX }).data ?? [];
  const path = usePathname();
  const named = useSearchParams().get(OPEN);
  const opened = zones.find((zone) => keyOf(zone) === named);

  /** The same again closes it. Without the router, which would ask the server for a page that is here already. */
  function open(zone: Zone) {
    const query = opened === zone ? '' : `?${OPEN}=${encodeURIComponent(keyOf(zone))}`;
    window.history.replaceState(null, '', `${path}${query}`);
  }

  return (
    <div className="flex flex-col gap-3">
      <div className="grid gap-3 [grid-template-columns:repeat(auto-fit,minmax(14rem,1fr))]">
        {zones.map((zone) => (
          <Summary
            key={keyOf(zone)}
            zone={zone}
            unwell={unwell.filter((node) => node.zone === zone.zone && node.region === zone.region)}
            isOpen={zone === opened}
            onOpen={() => open(zone)}
          />
        ))}
      </div>
      {opened !== undefined && <ZoneNodes key={keyOf(opened)} zone={opened} />}
    </div>
  );
}

/** Zones of one name in two regions are two. */
function keyOf({ zone, region }: Zone): string {
  return region === null ? (zone ?? '') : `${region}/${zone ?? ''}`;
}

type SummaryProps = { zone: Zone; unwell: readonly StorageNode[]; isOpen: boolean; onOpen: () => void };

function Summary({ zone, unwell, isOpen, onOpen }: SummaryProps) {
  const { nodes, disks, storage, replicas } = zone;
  const name = zone.zone ?? 'no zone';
  const shown = unwell.slice(0, SHOWN_MAX);
  const more = nodes.total - nodes.open - nodes.drained - shown.length;
  return (
    <section
      aria-label={`Zone ${name}`}
      className="flex flex-col gap-2 rounded-md border border-border bg-raised p-3"
    >
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="text-sm font-medium">{name}</h3>
        <p className="text-xs tabular-nums text-muted">
          {countOf(nodes.total, 'node')}, {countOf(disks, 'disk')}
        </p>
      </div>
      <p className="flex flex-wrap gap-x-3">
        {looksOf(nodes).map(({ word, tone, count }) => (
          <Badge key={word} tone={tone} quiet>
            {`${count.toLocaleString('en')} ${word.toLowerCase()}`}
          </Badge>
        ))}
      </p>
      <CountedCopies count={replicas} isSilent={false} />
      <CapacityBar label={name} usage={usageOfSums([storage])} />
      {shown.map((node) => (
        <UnwellNode key={node.id} node={node} />
      ))}
      {more > 0 && shown.length > 0 && (
        <Link href={paths.nodes} className="text-xs text-accent hover:underline">
          {more.toLocaleString('en')} more that need a look
        </Link>
      )}
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onOpen}
        className="mt-auto inline-flex min-h-6 items-center gap-1 self-start text-xs text-accent hover:underline"
      >
        {isOpen ? <ChevronUp aria-hidden size={13} /> : <ChevronDown aria-hidden size={13} />}
        {isOpen ? `Close ${name}` : `Nodes and disks of ${name}`}
      </button>
    </section>
  );
}

function countOf(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
}

/** How many nodes are in which state, the most first. */
function looksOf(nodes: Zone['nodes']) {
  return NODE_STANDINGS.map(({ standing, ...look }) => ({ ...look, count: nodes[standing] }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
}

function UnwellNode({ node }: { node: StorageNode }) {
  return (
    <NodeFrame node={node}>
      <p className="mb-2 text-xs text-muted">
        {node.replicas === 1 ? '1 copy' : `${node.replicas.toLocaleString('en')} copies`}
      </p>
      <CapacityBar label={node.name} usage={usageOfSums([node.storage])} />
    </NodeFrame>
  );
}
