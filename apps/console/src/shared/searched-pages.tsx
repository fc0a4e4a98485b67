'use client';
import { Button } from '@holdfast/ui/button.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type ComponentProps, type ReactNode, Suspense } from 'react';
import { ListSearch, type QuickFilter } from './list-search';
import { Paged } from './paged';
import { useSearchText } from './use-search-text';

type Props<T> = {
  title: string;
  /** The page's own address, in which the filter stands. */
  path: string;
  /** Pages of what the filter lets through. */
  usePages: (filter: string) => ComponentProps<typeof Paged<T>>['query'];
  what: string;
  searchLabel: string;
  placeholder: string;
  quickFilters: readonly QuickFilter[];
  /** Instead of rows where nothing is listed without a filter. */
  none: ReactNode;
  /** Instead of rows where the filter lets nothing through; it is given the way out. */
  noMatch: (showAll: ReactNode) => ReactNode;
  children: (items: readonly T[]) => ReactNode;
};

/** A panel with a list that comes by pages, newest first, and a search over it. */
export function SearchedPages<T>(props: Props<T>) {
  return (
    <Suspense>
      <Searched {...props} />
    </Suspense>
  );
}

function Searched<T>(props: Props<T>) {
  const { title, path, usePages, what, searchLabel, placeholder, quickFilters, none, noMatch } = props;
  const [text, search] = useSearchText(path);
  const pages = usePages(text.trim());
  const empty = text === '' ? none : noMatch(<Button onClick={() => search('')}>Show all</Button>);
  return (
    <Panel title={title} flush>
      <ListSearch
        label={searchLabel}
        placeholder={placeholder}
        quickFilters={quickFilters}
        text={text}
        onText={search}
      />
      <Paged query={pages} what={what} rows={8} empty={empty}>
        {props.children}
      </Paged>
    </Panel>
  );
}
