'use client';
import { clsx } from 'clsx';
import { type ReactNode, useEffect, useState } from 'react';
import { type Complete, FilterInput } from './filter-input';

/** A pause in typing, after which the list is asked for. */
const TYPING_MS = 250;

export type QuickFilter = { readonly label: string; readonly filter: string };

type Props = {
  label: string;
  placeholder: string;
  quickFilters: readonly QuickFilter[];
  text: string;
  onText: (text: string) => void;
  /** Left out: the field completes nothing. */
  complete?: Complete;
  /** Beside the filters: how the list looks. */
  aside?: ReactNode;
};

/** Search field and the usual filters. */
export function ListSearch({ label, placeholder, quickFilters, text, onText, complete, aside }: Props) {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    if (typed === text) return;
    const timer = setTimeout(() => onText(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, text, onText]);
  return (
    <search className="flex flex-wrap items-center gap-2 border-b border-border px-4 py-2">
      <FilterInput
        label={label}
        placeholder={placeholder}
        value={typed}
        onChange={setTyped}
        complete={complete}
      />
      <fieldset className="flex flex-wrap gap-1">
        <legend className="sr-only">Usual filters</legend>
        {quickFilters.map(({ label: name, filter }) => (
          <button
            key={name}
            type="button"
            aria-pressed={text === filter}
            onClick={() => onText(filter)}
            className={clsx(
              'h-8 rounded-md px-2.5 text-sm',
              text === filter ? 'bg-hover font-medium text-text' : 'text-muted hover:bg-hover',
            )}
          >
            {name}
          </button>
        ))}
      </fieldset>
      {aside}
    </search>
  );
}
