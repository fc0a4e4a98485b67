'use client';
import { clsx } from 'clsx';
import { type ReactNode, useEffect, useRef } from 'react';
import { type Complete, FilterInput } from './filter-input';

/** A pause in typing, after which the list is read. */
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
  const onType = useAfterTyping(text, onText);
  return (
    <search className="flex flex-wrap items-center gap-2 border-b border-border px-4 py-2">
      <FilterInput
        label={label}
        placeholder={placeholder}
        value={text}
        onChange={onType}
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

/**
 * Tells of a text once its user has stopped typing for a moment. A text from elsewhere, such as a usual filter, takes the place of one
 * that waits.
 */
function useAfterTyping(text: string, onText: (text: string) => void): (typed: string) => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const told = useRef(text);
  const latest = useRef(onText);
  latest.current = onText;
  useEffect(() => {
    if (text !== told.current) clearTimeout(timer.current);
    told.current = text;
  }, [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (typed) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      told.current = typed;
      latest.current(typed);
    }, TYPING_MS);
  };
}
