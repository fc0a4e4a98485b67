'use client';
import { Button } from '@holdfast/ui/button.js';
import type { ReactNode } from 'react';
import { Loaded } from './loaded';
import { NoneFound } from './none-found';

type Pages<T> = {
  data: { pages: readonly { items: readonly T[] }[] } | undefined;
  error: unknown;
  dataUpdatedAt: number;
  refetch: () => unknown;
  isPlaceholderData: boolean;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
};

type Props<T> = {
  query: Pages<T>;
  what: string;
  rows: number;
  /** Instead of rows where there are none. */
  empty: ReactNode;
  /** Beside the button for more: how much is shown. */
  note?: (shown: number) => string;
  /** Text of the button for the next page. */
  more?: string;
  children: (items: readonly T[]) => ReactNode;
};

/** A list that comes a page at a time: the pages read so far, and a button for the next one. */
export function Paged<T>({ query, what, rows, empty, note, more = 'Show more', children }: Props<T>) {
  return (
    <Loaded query={query} what={what} rows={rows}>
      {({ pages }) => {
        const items = pages.flatMap((page) => page.items);
        if (items.length === 0)
          return (
            <NoneFound query={query} rows={rows}>
              {empty}
            </NoneFound>
          );
        return (
          <>
            {children(items)}
            <NextPage query={query} note={note?.(items.length)} more={more} />
          </>
        );
      }}
    </Loaded>
  );
}

type NextProps = {
  query: Pick<Pages<unknown>, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;
  note: string | undefined;
  more: string;
};

/** How much of the list is shown, and the button for more; nothing where that is all. */
export function NextPage({ query, note, more }: NextProps) {
  if (!query.hasNextPage) return null;
  return (
    <div className="flex items-center justify-between gap-3 border-t border-border px-4 py-2">
      <p className="text-xs text-muted">{note}</p>
      <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {more}
      </Button>
    </div>
  );
}
