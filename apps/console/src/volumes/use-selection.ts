'use client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useVolumesNamed } from '../api/queries';
import type { Volume } from '../api/types';
import type { BulkItem } from './bulk';
import type { ListState } from './list-state';
import { isSelected, type Selection, writeSelection } from './selection';
import type { ChangeState } from './use-list-state';

/** Maximum volumes of one action: beyond that, a filter must say which are meant. */
const ALL_MAX = 1_000;

/**
 * The selection as it is pressed. The address follows a moment later, and must not replace a newer selection; an address from
 * elsewhere, such as by the browser's back button, does.
 */
export function useSelection(
  { selection: given }: ListState,
  change: ChangeState,
): [Selection, (next: Selection) => void] {
  const [selection, setSelection] = useState(given);
  const told = useRef<string[]>([]);
  const text = textOf(given);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text names the change of the selection
  useEffect(() => {
    const at = told.current.indexOf(text);
    told.current = told.current.slice(at + 1);
    if (at !== -1) return;
    told.current = [];
    setSelection(given);
  }, [text]);
  const select = useCallback(
    (next: Selection) => {
      told.current.push(textOf(next));
      setSelection(next);
      change({ selection: next });
    },
    [change],
  );
  return [selection, select];
}

function textOf(selection: Selection): string {
  const params = new URLSearchParams();
  writeSelection(params, selection);
  return params.toString();
}

type Pages = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };

/**
 * Selected volumes, by name. `missing` is the reason why an action has to wait: not all of them are known yet, or there are too many.
 */
export function useSelectedItems(
  selection: Selection,
  rows: readonly Volume[],
  { hasNextPage, isFetchingNextPage, fetchNextPage }: Pages,
): { items: readonly BulkItem[]; missing: string | undefined } {
  const shown = rows.filter(({ id }) => isSelected(selection, id));
  const loaded = new Set(rows.map(({ id }) => id));
  const beyond = selection.isAll ? [] : [...selection.ids].filter((id) => !loaded.has(id));
  const named = useVolumesNamed(beyond);
  const isPartial = selection.isAll && hasNextPage;
  const isTooMany = rows.length >= ALL_MAX;
  useEffect(() => {
    if (isPartial && !isTooMany && !isFetchingNextPage) void fetchNextPage();
  }, [isPartial, isTooMany, isFetchingNextPage, fetchNextPage]);
  const others = (named.data ?? []).filter(({ id }) => beyond.includes(id));
  return { items: [...shown, ...others], missing: reasonOf(isPartial, isTooMany, named.isLoading) };
}

function reasonOf(isPartial: boolean, isTooMany: boolean, isLoading: boolean): string | undefined {
  if (isPartial && isTooMany)
    return `More than ${ALL_MAX.toLocaleString('en')} match: narrow them with a filter`;
  return isPartial || isLoading ? 'Reading which they are' : undefined;
}
