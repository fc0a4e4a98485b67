import type { ReactNode } from 'react';
import type { StorageNode } from '../api/types';

type Props = {
  nodes: readonly StorageNode[];
  renderNode: (node: StorageNode) => ReactNode;
  /** Objects without a zone yet, beside the zones. */
  children?: ReactNode;
};

/** Zones side by side, each with its nodes. */
export function ZoneGrid({ nodes, renderNode, children }: Props) {
  return (
    <div className="grid gap-3 [grid-template-columns:repeat(auto-fit,minmax(12rem,1fr))]">
      {zonesOf(nodes).map(([zone, members]) => (
        <section
          key={zone}
          aria-label={`Zone ${zone}`}
          className="rounded-md border border-border bg-sunken p-2"
        >
          <h3 className="px-1 pb-1.5 text-xs font-medium text-muted">{zone}</h3>
          <div className="flex flex-col gap-2">{members.map(renderNode)}</div>
        </section>
      ))}
      {children}
    </div>
  );
}

export function zonesOf(nodes: readonly StorageNode[]): [string, StorageNode[]][] {
  const zones = new Map<string, StorageNode[]>();
  for (const node of [...nodes].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))) {
    const zone = node.zone ?? 'no zone';
    const members = zones.get(zone);
    if (members === undefined) zones.set(zone, [node]);
    else members.push(node);
  }
  return [...zones].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
}
