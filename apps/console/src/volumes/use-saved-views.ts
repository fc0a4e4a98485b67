'use client';
import { useCallback, useEffect, useState } from 'react';

/** A state of the list under a name of the user's. */
export type SavedView = { readonly name: string; readonly query: string };

const KEY = 'holdfast.volume-views';
/** More are a list that needs a search of its own. */
const VIEWS_MAX = 20;

/** Views kept in this browser; a browser that keeps nothing has none. */
export function useSavedViews(): [
  views: readonly SavedView[],
  save: (view: SavedView) => void,
  remove: (name: string) => void,
] {
  const [views, setViews] = useState<readonly SavedView[]>([]);
  useEffect(() => setViews(readViews()), []);
  const keep = useCallback((next: readonly SavedView[]) => {
    setViews(next);
    try {
      window.localStorage.setItem(KEY, JSON.stringify(next));
    } catch {
      // Full or forbidden: they last as long as the page.
    }
  }, []);
  const others = (name: string) => views.filter((view) => view.name !== name);
  return [
    views,
    (view) => keep([...others(view.name), view].slice(-VIEWS_MAX)),
    (name) => keep(others(name)),
  ];
}

function readViews(): SavedView[] {
  try {
    const value: unknown = JSON.parse(window.localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(value) ? value.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('query' in value)) return false;
  return typeof value.name === 'string' && typeof value.query === 'string';
}
