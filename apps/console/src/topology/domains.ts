/** Failure domains of a cluster as a tree, region over zone over node, and the loss of each. */
import type { WhatIf } from '../api/client';
import type { Zone } from '../api/types';

const DOMAIN_KINDS = ['region', 'zone', 'node', 'disk'] as const;
type DomainKind = (typeof DOMAIN_KINDS)[number];
/** `name` of a zone stands behind its region's, of a disk behind its node's. */
export type Domain = { readonly kind: DomainKind; readonly name: string };

type Labelled = Pick<Zone, 'zone' | 'region'>;
export type RegionOf<Z> = { readonly name: string | null; readonly zones: readonly Z[] };

/** Regions with their zones, each in the order of the names; objects without a label come last. */
export function regionsOf<Z extends Labelled>(zones: readonly Z[]): RegionOf<Z>[] {
  const names = [...new Set(zones.map(({ region }) => region))].sort(compare);
  return names.map((name) => ({
    name,
    zones: zones.filter(({ region }) => region === name).sort((a, b) => compare(a.zone, b.zone)),
  }));
}

function compare(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
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

/**
 * Losses of a what-if. A region is all of its nodes, since what-ifs know zones, nodes and disks.
 *
 * @param namesIn reads the names of a region's nodes
 */
export async function lossOf(
  { kind, name }: Domain,
  namesIn: (region: string) => Promise<readonly string[]>,
): Promise<WhatIf['lose']> {
  const nothing = { zones: [], nodes: [], disks: [] };
  switch (kind) {
    case 'region':
      return { ...nothing, nodes: [...(await namesIn(name))] };
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
