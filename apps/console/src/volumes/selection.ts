/** Selected volumes of the list. The selection is in the address, so it is bounded: some by their ids, or all matches but some. */

/** As many ids as an address has room for. */
export const SELECTED_MAX = 100;

export type Selection = {
  /** All that match the filter, however many they are and wherever in the list. */
  readonly isAll: boolean;
  /** Those that are selected; where all are, those that are not. */
  readonly ids: ReadonlySet<string>;
};

export const NOTHING: Selection = { isAll: false, ids: new Set() };
export const EVERYTHING: Selection = { isAll: true, ids: new Set() };

const PARAMETER = 'selected';
const EXCEPT = 'but';
const ALL = 'all';
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function isSelected({ isAll, ids }: Selection, id: string): boolean {
  return isAll !== ids.has(id);
}

export function isNothing({ isAll, ids }: Selection): boolean {
  return !isAll && ids.size === 0;
}

/** With the volume, or without it if it was selected. One too many leaves the selection as it was. */
export function toggled(selection: Selection, id: string): Selection {
  const ids = new Set(selection.ids);
  if (!ids.delete(id)) ids.add(id);
  return ids.size > SELECTED_MAX ? selection : { ...selection, ids };
}

/** These, up to the bound. */
export function selectionOf(ids: readonly string[]): Selection {
  return { isAll: false, ids: new Set(ids.slice(0, SELECTED_MAX)) };
}

/** Whatever an address says: what can't be read is as if it were not there. */
export function readSelection(params: URLSearchParams): Selection {
  const text = params.get(PARAMETER) ?? '';
  return text === ALL
    ? { isAll: true, ids: idsIn(params.get(EXCEPT) ?? '') }
    : { isAll: false, ids: idsIn(text) };
}

function idsIn(text: string): ReadonlySet<string> {
  const ids = text.split(',').filter((id) => ID.test(id));
  return new Set(ids.slice(0, SELECTED_MAX));
}

export function writeSelection(params: URLSearchParams, { isAll, ids }: Selection): void {
  if (isAll) params.set(PARAMETER, ALL);
  if (ids.size > 0) params.set(isAll ? EXCEPT : PARAMETER, [...ids].join());
}
