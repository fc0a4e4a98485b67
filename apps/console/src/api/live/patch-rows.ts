/** Rows that have changed, put into the pages of a list that are shown: where they belong by its order, without asking for the list. */

import { VOLUME_FIELDS } from '@holdfast/core/listing/list-fields.js';
import { parseSort } from '@holdfast/core/listing/sort.js';
import type { Volume } from '../types';

export type RowPage = { readonly items: readonly Volume[]; readonly nextCursor: string | null };
export type Changed = {
  /** All rows that were requested. */
  readonly ids: ReadonlySet<string>;
  /** Those that the list's filter lets through, as they are now. */
  readonly rows: readonly Volume[];
};

/** @param sort as the API has it; rows whose place lies behind the pages that are shown are left out */
export function patchPages<Page extends RowPage>(
  pages: readonly Page[],
  { ids, rows }: Changed,
  sort: string,
): Page[] {
  const compare = comparerOf(sort);
  const kept = pages.map((page) => ({ ...page, items: page.items.filter(({ id }) => !ids.has(id)) }));
  for (const row of rows) insert(kept, row, compare);
  return kept;
}

type Mutable = { items: Volume[]; nextCursor: string | null };

function insert(pages: Mutable[], row: Volume, compare: (a: Volume, b: Volume) => number): void {
  for (const [at, page] of pages.entries()) {
    const before = page.items.findIndex((item) => compare(row, item) < 0);
    const isEnd = at === pages.length - 1 && page.nextCursor === null;
    if (before === -1 && !isEnd) continue;
    page.items.splice(before === -1 ? page.items.length : before, 0, row);
    return;
  }
}

function comparerOf(sort: string): (a: Volume, b: Volume) => number {
  const order = parseSort(sort, VOLUME_FIELDS);
  const last = order.at(-1)?.descending === true ? -1 : 1;
  return (a, b) => {
    for (const { field, descending } of order) {
      const found = compareValues(sortValueOf(a, field), sortValueOf(b, field));
      if (found !== 0) return descending ? -found : found;
    }
    return last * compareValues(a.id, b.id);
  };
}

type Value = string | number;

function compareValues(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function sortValueOf(volume: Volume, field: string): Value {
  switch (field) {
    case 'risk':
      return riskOf(volume);
    case 'size':
      return volume.size;
    case 'writtenBytes':
      return volume.writtenBytes;
    case 'numberOfReplicas':
      return volume.numberOfReplicas;
    case 'state':
      return volume.state;
    case 'robustness':
      return volume.robustness;
    case 'createdAt':
      return volume.createdAt;
    default:
      return volume.name;
  }
}

const RISK = { healthy: 0, degraded: 1, unknown: 2, faulted: 3 } satisfies Record<
  Volume['robustness'],
  number
>;

/** As the API counts it. */
function riskOf({ attention, robustness }: Volume): number {
  return attention?.code === 'HolderUnreachable' ? 4 : RISK[robustness];
}
