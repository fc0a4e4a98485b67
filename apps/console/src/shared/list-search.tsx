'use client';
import { clsx } from 'clsx';
import { useEffect, useRef, useState } from 'react';

/** A pause in typing, after which the list is asked for. */
const TYPING_MS = 250;

export type QuickFilter = { readonly label: string; readonly filter: string };

type Props = {
  label: string;
  placeholder: string;
  quickFilters: readonly QuickFilter[];
  text: string;
  onText: (text: string) => void;
};

/** Search field and the usual filters; `/` puts the cursor into the field. */
export function ListSearch({ label, placeholder, quickFilters, text, onText }: Props) {
  const [typed, setTyped] = useState(text);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    if (typed === text) return;
    const timer = setTimeout(() => onText(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, text, onText]);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener('keydown', focus);
    return () => document.removeEventListener('keydown', focus);
  }, []);
  return (
    <search className="flex flex-wrap items-center gap-2 border-b border-border px-4 py-2">
      <input
        ref={field}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        className="h-8 min-w-0 flex-1 rounded-md border border-border-strong bg-sunken px-2.5 text-sm sm:max-w-72"
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
    </search>
  );
}
