'use client';
import { clsx } from 'clsx';
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';

/** Completion at the cursor that replaces the text from `from` to it. */
export type Complete = (head: string) => { readonly from: number; readonly options: readonly string[] };

type Props = {
  label: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
  /** Left out: nothing is completed. */
  complete?: Complete | undefined;
};

/** The field of a search, which completes filters. Marked, so that a key puts the cursor into it. */
export function FilterInput({ label, placeholder, value: given, onChange, complete }: Props) {
  const [value, setValue] = useOwnText(given, onChange);
  const listId = useId();
  const field = useRef<HTMLInputElement>(null);
  const cursor = useRef<number>(undefined);
  const [head, setHead] = useState<string>();
  const [active, setActive] = useState(0);
  // Nothing is offered before the first letter: it would hide the list.
  const { from, options } = (head === undefined || head === '' ? undefined : complete?.(head)) ?? {
    from: 0,
    options: [],
  };
  const isOpen = options.length > 0;

  function look() {
    const at = field.current?.selectionStart ?? value.length;
    setHead((field.current?.value ?? '').slice(0, at));
    setActive(0);
  }

  function pick(option: string) {
    const text = (head ?? '').slice(0, from) + option;
    const next = text + value.slice((head ?? '').length);
    setValue(next);
    setHead(text);
    setActive(0);
    cursor.current = text.length;
  }

  // In the same step as the text: a frame later the next letter may have been typed, and would be put behind the cursor.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it goes where it belongs once the text has changed
  useLayoutEffect(() => {
    if (cursor.current === undefined) return;
    field.current?.focus();
    field.current?.setSelectionRange(cursor.current, cursor.current);
    cursor.current = undefined;
  }, [value]);

  function onKeyDown(event: KeyboardEvent) {
    const option = options[active];
    if (!isOpen || option === undefined) return;
    if (event.key === 'ArrowDown') setActive((active + 1) % options.length);
    else if (event.key === 'ArrowUp') setActive((active + options.length - 1) % options.length);
    else if (event.key === 'Tab' && !event.shiftKey) pick(option);
    else if (event.key === 'Enter' && active > 0) pick(option);
    else if (event.key === 'Escape') setHead(undefined);
    else return;
    event.preventDefault();
  }

  return (
    <div className="relative min-w-0 flex-1 max-sm:basis-full sm:max-w-96">
      <input
        ref={field}
        data-search
        type="text"
        aria-label={label}
        {...(complete === undefined ? { role: 'searchbox' } : comboboxOf(listId, isOpen, active))}
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        value={value}
        onChange={(event) => {
          setValue(event.target.value);
          look();
        }}
        onFocus={look}
        onBlur={() => setHead(undefined)}
        onKeyDown={onKeyDown}
        className="h-8 w-full rounded-md border border-border-strong bg-sunken px-2.5 text-sm placeholder:text-muted"
      />
      <Options listId={listId} options={options} active={active} onPick={pick} />
    </div>
  );
}

/**
 * The text as it is typed. The published text returns from the address a moment later, and must not replace newer typing; a text from
 * elsewhere, such as a saved view, does.
 */
function useOwnText(given: string, onChange: (text: string) => void): [string, (text: string) => void] {
  const [text, setText] = useState(given);
  const told = useRef<string[]>([]);
  useEffect(() => {
    const at = told.current.indexOf(given);
    told.current = told.current.slice(at + 1);
    if (at !== -1) return;
    told.current = [];
    setText(given);
  }, [given]);
  useEffect(() => {
    if (given === text) told.current = [];
  }, [given, text]);
  const change = (next: string) => {
    told.current.push(next);
    setText(next);
    onChange(next);
  };
  return [text, change];
}

function comboboxOf(listId: string, isOpen: boolean, active: number) {
  return {
    role: 'combobox',
    'aria-expanded': isOpen,
    'aria-controls': listId,
    'aria-autocomplete': 'list',
    'aria-activedescendant': isOpen ? `${listId}-${active}` : undefined,
  } as const;
}

type OptionsProps = {
  listId: string;
  options: readonly string[];
  active: number;
  onPick: (option: string) => void;
};

function Options({ listId, options, active, onPick }: OptionsProps) {
  return (
    <div
      id={listId}
      role="listbox"
      aria-label="Completions"
      hidden={options.length === 0}
      className="absolute top-9 left-0 z-30 max-h-64 w-full overflow-y-auto rounded-md border border-border bg-raised py-1 shadow-xl"
    >
      {options.map((option, at) => (
        <div
          key={option}
          id={`${listId}-${at}`}
          role="option"
          tabIndex={-1}
          aria-selected={at === active}
          onMouseDown={(event) => {
            event.preventDefault();
            onPick(option);
          }}
          className={clsx('min-h-6 px-2.5 py-0.5 font-mono text-xs', at === active && 'bg-hover')}
        >
          {option.trim()}
        </div>
      ))}
    </div>
  );
}
