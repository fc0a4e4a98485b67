'use client';
import { Badge } from '@holdfast/ui/badge.js';
import type { Tone } from '@holdfast/ui/tone.js';
import Link from 'next/link';
import type { ReactNode } from 'react';
import type { Disk, ReplicaCounts, StorageNode } from '../api/types';
import { paths } from '../paths';
import { CapacityBar, usageOf } from '../shared/capacity-panel';
import { zonesOf } from '../shared/zone-grid';
import { nodeLook } from '../states';
import { type CopyCount, Counted } from './node-card';

/** Nodes of a zone that are drawn because they need a look; a zone that is down as a whole needs one, and not a hundred. */
const SHOWN_MAX = 4;

type Props = {
  nodes: readonly StorageNode[];
  disksOf: ReadonlyMap<string, readonly Disk[]>;
  counts: ReplicaCounts | undefined;
  renderNode: (node: StorageNode) => ReactNode;
};

/** The zones of a cluster with more nodes than one can look at: each summed up, with those of its nodes that are not well. */
export function ZoneSummaries({ nodes, disksOf, counts, renderNode }: Props) {
  const countOf = new Map(counts?.disks.map((count) => [count.diskId, count]));
  return (
    <div className="grid gap-3 [grid-template-columns:repeat(auto-fit,minmax(14rem,1fr))]">
      {zonesOf(nodes).map(([zone, members]) => {
        const disks = members.flatMap(({ id }) => disksOf.get(id) ?? []);
        const unwell = members.filter((node) => nodeLook(node).tone !== 'good');
        return (
          <section
            key={zone}
            aria-label={`Zone ${zone}`}
            className="flex flex-col gap-2 rounded-md border border-border bg-sunken p-3"
          >
            <div className="flex flex-wrap items-center justify-between gap-2">
              <h3 className="text-sm font-medium">{zone}</h3>
              <p className="text-xs tabular-nums text-muted">
                {members.length.toLocaleString('en')} nodes, {disks.length.toLocaleString('en')} disks
              </p>
            </div>
            <p className="flex flex-wrap gap-x-3">
              {looksOf(members).map(({ word, tone, count }) => (
                <Badge key={word} tone={tone} quiet>
                  {`${count.toLocaleString('en')} ${word.toLowerCase()}`}
                </Badge>
              ))}
            </p>
            <Counted count={sumOf(disks.flatMap(({ id }) => countOf.get(id) ?? []))} isSilent={false} />
            <CapacityBar label={zone} usage={usageOf(disks)} />
            {unwell.slice(0, SHOWN_MAX).map(renderNode)}
            {unwell.length > SHOWN_MAX && (
              <Link href={paths.nodes} className="text-xs text-accent hover:underline">
                {(unwell.length - SHOWN_MAX).toLocaleString('en')} more that need a look
              </Link>
            )}
          </section>
        );
      })}
    </div>
  );
}

/** How many nodes are in which state, the most first. */
function looksOf(nodes: readonly StorageNode[]): { word: string; tone: Tone; count: number }[] {
  const found = new Map<string, { word: string; tone: Tone; count: number }>();
  for (const node of nodes) {
    const look = nodeLook(node);
    const known = found.get(look.word) ?? { ...look, count: 0 };
    found.set(look.word, { ...known, count: known.count + 1 });
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}

function sumOf(counts: readonly CopyCount[]): CopyCount | undefined {
  if (counts.length === 0) return undefined;
  const sum = (pick: (count: CopyCount) => number) => counts.reduce((total, count) => total + pick(count), 0);
  return {
    total: sum(({ total }) => total),
    failed: sum(({ failed }) => failed),
    rebuilding: sum(({ rebuilding }) => rebuilding),
  };
}
