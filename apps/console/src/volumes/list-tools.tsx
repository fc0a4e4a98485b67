'use client';
import { Button } from '@holdfast/ui/button.js';
import { Popover } from '@holdfast/ui/popover.js';
import { Bookmark, Columns3, Rows3, Trash2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { VOLUME_COLUMNS } from './columns';
import {
  COLUMNS,
  type ColumnId,
  DENSITIES,
  type ListState,
  readListState,
  writeListState,
} from './list-state';
import { NOTHING } from './selection';
import type { ChangeState } from './use-list-state';
import { useSavedViews } from './use-saved-views';

type Props = { state: ListState; change: ChangeState };

/** How the list looks: its columns, how dense its rows are, and views that the user has saved in this browser. */
export function ListTools({ state, change }: Props) {
  return (
    <div className="flex flex-wrap items-center gap-1 py-2 max-sm:px-0 sm:px-4 lg:ml-auto lg:pl-0">
      <Views state={state} change={change} />
      <Popover label="Columns" icon={<Columns3 aria-hidden size={15} />}>
        <fieldset className="flex flex-col gap-1">
          <legend className="pb-1 text-xs font-medium text-muted">Columns</legend>
          {COLUMNS.map((id) => (
            <label key={id} className="flex min-h-6 items-center gap-2">
              <input
                type="checkbox"
                checked={state.columns.includes(id)}
                onChange={() => change({ columns: withColumn(state.columns, id) })}
              />
              {VOLUME_COLUMNS[id].header}
            </label>
          ))}
        </fieldset>
      </Popover>
      <Popover label="Density" icon={<Rows3 aria-hidden size={15} />}>
        <fieldset className="flex flex-col gap-1">
          <legend className="pb-1 text-xs font-medium text-muted">Density</legend>
          {DENSITIES.map((density) => (
            <label key={density} className="flex min-h-6 items-center gap-2">
              <input
                type="radio"
                name="density"
                checked={state.density === density}
                onChange={() => change({ density })}
              />
              <span className="first-letter:uppercase">{density}</span>
            </label>
          ))}
        </fieldset>
      </Popover>
    </div>
  );
}

function withColumn(columns: readonly ColumnId[], id: ColumnId): readonly ColumnId[] {
  return COLUMNS.filter((one) => (one === id ? !columns.includes(id) : columns.includes(one)));
}

function Views({ state, change }: Props) {
  const [views, save, remove] = useSavedViews();
  const [name, setName] = useState('');

  function submit(event: FormEvent) {
    event.preventDefault();
    if (name.trim() === '') return;
    // A view shows the present matches; the selection is not a part of it.
    save({ name: name.trim(), query: writeListState({ ...state, selection: NOTHING }) });
    setName('');
  }

  return (
    <Popover label="Views" icon={<Bookmark aria-hidden size={15} />}>
      <p className="pb-1 text-xs font-medium text-muted">Saved in this browser</p>
      {views.length === 0 && <p className="text-xs text-muted">None yet.</p>}
      <ul className="flex flex-col gap-1">
        {views.map((view) => (
          <li key={view.name} className="flex items-center justify-between gap-2">
            <button
              type="button"
              onClick={() => change(readListState(new URLSearchParams(view.query)))}
              className="min-h-6 flex-1 truncate text-left hover:underline"
            >
              {view.name}
            </button>
            <button
              type="button"
              aria-label={`Forget the view ${view.name}`}
              onClick={() => remove(view.name)}
              className="inline-flex size-6 items-center justify-center rounded text-muted hover:bg-hover"
            >
              <Trash2 aria-hidden size={13} />
            </button>
          </li>
        ))}
      </ul>
      <form onSubmit={submit} className="mt-2 flex gap-1 border-t border-border pt-2">
        <input
          aria-label="Name of this view"
          value={name}
          onChange={(event) => setName(event.target.value)}
          placeholder="Name of this view"
          className="h-8 min-w-0 flex-1 rounded-md border border-border-strong bg-surface px-2 text-sm"
        />
        <Button type="submit">Save</Button>
      </form>
    </Popover>
  );
}
