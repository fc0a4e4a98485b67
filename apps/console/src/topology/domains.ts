/** Failure domains of a cluster as a tree, region over zone over node, and what is lost with each. */
import type { WhatIf } from '../api/client';
import type { StorageNode } from '../api/types';

const DOMAIN_KINDS = ['region', 'zone', 'node', 'disk'] as const;
type DomainKind = (typeof DOMAIN_KINDS)[number];
/** `name` of a zone stands behind its region's, of a disk behind its node's. */
export type Domain = { readonly kind: DomainKind; readonly name: string };

type PlacedNode = Pick<StorageNode, 'name' | 'zone' | 'region'>;
export type ZoneOf<N> = { readonly name: string | null; readonly nodes: readonly N[] };
export type RegionOf<N> = { readonly name: string | null; readonly zones: readonly ZoneOf<N>[] };

/** Regions with their zones with their nodes, each in the order of the names; what has no label comes last. */
export function regionsOf<N extends PlacedNode>(nodes: readonly N[]): RegionOf<N>[] {
  const sorted = [...nodes].sort((a, b) => compare(a.name, b.name));
  return grouped(sorted, ({ region }) => region).map(([name, members]) => ({
    name,
    zones: grouped(members, ({ zone }) => zone).map(([zone, own]) => ({ name: zone, nodes: own })),
  }));
}

function grouped<N>(nodes: readonly N[], keyOf: (node: N) => string | null): [string | null, N[]][] {
  const groups = new Map<string | null, N[]>();
  for (const node of nodes) groups.set(keyOf(node), [...(groups.get(keyOf(node)) ?? []), node]);
  return [...groups].sort(([a], [b]) => (a === null ? 1 : b === null ? -1 : compare(a, b)));
}

function compare(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** A domain as a parameter of the page's address: `zone:zone-a`. */
export function domainText({ kind, name }: Domain): string {
  return `${kind}:${name}`;
}

export function readDomain(text: string | null): Domain | undefined {
  const [kind, ...rest] = (text ?? '').split(':');
  const known = DOMAIN_KINDS.find((one) => one === kind);
  const name = rest.join(':');
  return known === undefined || name === '' ? undefined : { kind: known, name };
}

/** What is asked to be lost. A region is all of its nodes, since what-ifs know zones, nodes and disks. */
export function lossOf({ kind, name }: Domain, nodes: readonly PlacedNode[]): WhatIf['lose'] {
  const nothing = { zones: [], nodes: [], disks: [] };
  switch (kind) {
    case 'region':
      return { ...nothing, nodes: nodes.filter(({ region }) => region === name).map((node) => node.name) };
    case 'zone':
      return { ...nothing, zones: [name] };
    case 'node':
      return { ...nothing, nodes: [name] };
    case 'disk':
      return { ...nothing, disks: [name] };
  }
}

/** The same loss as parameters of the what-if page, where more can be asked. */
export function lossParameters(lose: WhatIf['lose']): string {
  return new URLSearchParams([
    ...lose.zones.map((zone) => ['zone', zone]),
    ...lose.nodes.map((node) => ['node', node]),
    ...lose.disks.map((disk) => ['disk', disk]),
  ]).toString();
}
